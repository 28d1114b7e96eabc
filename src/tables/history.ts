import {
  boolean,
  type Column,
  defineTable,
  integer,
  json,
  REQUIRED,
  type Table,
  text,
  timestamp,
} from "./declare.ts";
import { contentMappedValues } from "./destinations.ts";

/** Form of the history: higher where an older program could misread it. */
export const HISTORY_VERSION = 1;

/** Reasons for the beginning or the end of a version, in the order in which they are listed where several hold. */
export const CAUSES = [
  "first_seen",
  "item_removed",
  "item_returned",
  "item_changed",
  "destination_changed",
  "mapping_changed",
  "definition_changed",
  "reordered",
] as const;
export type Cause = (typeof CAUSES)[number];

/** When a row held, from a run (inclusive) to a run (exclusive), and why it began and ended. */
const INTERVAL: readonly Column[] = [
  text("valid_from_run", "", "Run that first found it so; run_history.run.", REQUIRED),
  timestamp("valid_from", "", "Start of that run, to the second, as its name says it.", REQUIRED),
  text("valid_to_run", "", "First run that no longer found it so; NULL while it holds."),
  timestamp("valid_to", "", "Start of that run; NULL while it holds."),
  json("cause", "", 'Why it began: a list such as ["item_changed", "mapping_changed"].', REQUIRED),
  json("valid_to_cause", "", "Why it ended: a list of the same words; NULL while it holds."),
];

interface HistoryTable extends Pick<Table, "name" | "comment" | "key" | "columns"> {
  readonly interval?: readonly Column[];
}

/** `key`: without the run from which a version holds. */
function historyTable({ key, columns, interval = INTERVAL, ...rest }: HistoryTable): Table {
  return defineTable({
    ...rest,
    stage: "history",
    key: [...key, "valid_from_run"],
    columns: [...columns, ...interval],
  });
}

export const runHistory = defineTable({
  name: "run_history",
  comment: "The runs that the history knows, this one included, also those whose files are gone.",
  stage: "history",
  key: ["run"],
  columns: [
    text("run", "", "Run name: sequence number and start.", REQUIRED),
    integer("sequence", "", "Runs are ordered by this number, never by a clock.", REQUIRED),
    timestamp("started_at", "", "Start, to the second, as the name says it.", REQUIRED),
    timestamp(
      "extracted_at",
      "",
      "When the last of its answers was there, by its machine's clock.",
      REQUIRED,
    ),
    text("pipeline", "", "Pipeline.", REQUIRED),
    text("verdict", "", "`complete` or `unsettled`: an unsettled run ends nothing by absence.", REQUIRED),
    text("previous_run", "", "Run whose history this one carried on; NULL where the history begins."),
    boolean(
      "passthrough",
      "",
      "Whether values of fields without value mappings joined the payloads of the run.",
      REQUIRED,
    ),
    text("package_version", "", "Version of content-warehouse.", REQUIRED),
    integer("history_version", "", "Form of the history that the run wrote.", REQUIRED),
  ],
});

const contentId = text("content_id", "", "Item; it may be gone from content.", REQUIRED);
const destinationId = text("destination_id", "", "Destination.", REQUIRED);
const customFieldId = text("custom_field_id", "", "Custom field.", REQUIRED);

export const contentHistory = historyTable({
  name: "content_history",
  comment: "When each item was there: from the run that first had it to the one that found it removed.",
  key: ["content_id"],
  columns: [contentId],
  interval: [
    ...INTERVAL,
    text("last_seen_run", "", "Last run that had the item; run_history.run.", REQUIRED),
    text(
      "values_digest",
      "",
      "Digest of the item's mapped values in that run, by which the next run sees that nothing changed.",
    ),
  ],
});

/** What a mapped value is, besides where it stands: the columns of the ledger that make a version. */
export const VALUE_COLUMNS: readonly Column[] = contentMappedValues.columns.filter(
  ({ name }) => !["content_id", "destination_id", "custom_field_id", "ordinal"].includes(name),
);

export const mappedValueHistory = historyTable({
  name: "mapped_value_history",
  comment:
    "Versions of each mapped value: one per item, destination, field, value and answer of the mapping.",
  key: ["content_id", "destination_id", "custom_field_id", "value_number"],
  columns: [
    contentId,
    destinationId,
    customFieldId,
    integer(
      "value_number",
      "",
      "Number of the value in its field, from 1: the same through its versions; free again once it is gone.",
      REQUIRED,
    ),
    ...VALUE_COLUMNS,
    text("matched_text", "", "Text that the item gave, where the value was matched by text."),
  ],
});

export const mappedValueOrderHistory = historyTable({
  name: "mapped_value_order_history",
  comment:
    "Versions of the order of an item's values of a field at a destination; a field that never had more than one " +
    "value has none: its value stands at ordinal 0.",
  key: ["content_id", "destination_id", "custom_field_id"],
  columns: [
    contentId,
    destinationId,
    customFieldId,
    json(
      "value_numbers",
      "",
      "The value_number at each ordinal, from 0; null where the item's list has nothing that is mapped.",
      REQUIRED,
    ),
  ],
});

export const customFieldHistory = historyTable({
  name: "custom_field_history",
  comment: "Versions of the custom field definitions, as far as mapped values depend on them.",
  key: ["custom_field_id"],
  columns: [
    customFieldId,
    text("name", "", "Name for programs."),
    text("display_label", "", "Label for people."),
    text("field_type", "", "`text`, `select`, `multiselect`, or another."),
  ],
});

export const selectValueHistory = historyTable({
  name: "select_value_history",
  comment: "Versions of the values that select and multiselect fields offer.",
  key: ["custom_field_id", "value_id"],
  columns: [
    customFieldId,
    text("value_id", "", "Value ID.", REQUIRED),
    integer("ordinal", "", "Position in the definition, from 0.", REQUIRED),
    text("display", "", "Text shown to people."),
    text("value", "", "Text of the value."),
    boolean("archived", "", "Whether the value can no longer be chosen."),
  ],
});

export const mappingHistory = historyTable({
  name: "mapping_history",
  comment: "Versions of the mappings: the external field name of a custom field at a destination.",
  key: ["mapping_id"],
  columns: [
    text("mapping_id", "", "Mapping.", REQUIRED),
    customFieldId,
    text("destination_id", "", "Destination."),
    integer("ordinal", "", "Position in the field's mappings, from 0.", REQUIRED),
    text("external_field_name", "", "Name of the field at the destination."),
  ],
});

export const mappingValueHistory = historyTable({
  name: "mapping_value_history",
  comment: "Versions of the entries of the mappings: the external value of an internal value ID.",
  key: ["mapping_value_id"],
  columns: [
    text("mapping_value_id", "", "Entry.", REQUIRED),
    text("mapping_id", "", "Mapping.", REQUIRED),
    integer("ordinal", "", "Position in the mapping's values, from 0.", REQUIRED),
    text("value_id", "", "Internal value ID."),
    text("external_value", "", "External value."),
  ],
});

export const destinationHistory = historyTable({
  name: "destination_history",
  comment: "Versions of the destinations.",
  key: ["destination_id"],
  columns: [
    destinationId,
    text("identification", "", "Name; NULL where only a mapping names the destination."),
    text("platform", "", "Platform."),
    boolean("supports_custom_field_mappings", "", "Whether it supports custom field mappings."),
  ],
});

/** In the order in which they are filled. All of them or none are in a pipeline. */
export const HISTORY_TABLES: readonly Table[] = [
  runHistory,
  destinationHistory,
  customFieldHistory,
  selectValueHistory,
  mappingHistory,
  mappingValueHistory,
  contentHistory,
  mappedValueHistory,
  mappedValueOrderHistory,
];
