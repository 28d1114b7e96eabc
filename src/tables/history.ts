import { type Column, defineTable, optional, required, type Table } from "./declare.ts";
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
  required.text("valid_from_run", "First run in which the row held; run_history.run."),
  required.timestamp("valid_from", "Start of that run, to the second."),
  optional.text("valid_to_run", "First run in which the row no longer held; NULL while it holds."),
  optional.timestamp("valid_to", "Start of that run; NULL while it holds."),
  required.json("cause", 'Why the row began to hold: a list such as ["item_changed", "mapping_changed"].'),
  optional.json(
    "valid_to_cause",
    "Why the row ceased to hold: a list of the same words; NULL while it holds.",
  ),
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
  comment: "Runs that the history covers, this one included, also those whose files were pruned.",
  stage: "history",
  key: ["run"],
  columns: [
    required.text("run", "Name of the run: its number and start."),
    required.integer("sequence", "Number of the run; runs are in this order, whatever a clock says."),
    required.timestamp("started_at", "Start of the run, to the second."),
    required.timestamp("extracted_at", "When the run had read everything, by its machine's clock."),
    required.text("pipeline", "Pipeline that ran."),
    required.text("verdict", "`complete` or `unsettled`; what an unsettled run did not see still holds."),
    optional.text("previous_run", "Run whose history this one continued; NULL where the history begins."),
    required.boolean(
      "passthrough",
      "Whether the run's payloads include values of fields whose type has no value mappings.",
    ),
    required.text("package_version", "Version of content-warehouse that ran."),
    required.integer("history_version", "Format version of the history that the run wrote."),
  ],
});

const contentId = required.text("content_id", "Item; one that was removed is not in content.");
const destinationId = required.text("destination_id", "Destination; destination_history.destination_id.");
const customFieldId = required.text("custom_field_id", "Custom field; custom_field_history.custom_field_id.");

export const contentHistory = historyTable({
  name: "content_history",
  comment: "When each item existed: from the first run that had it to the run that found it removed.",
  key: ["content_id"],
  columns: [contentId],
  interval: [
    ...INTERVAL,
    required.text("last_seen_run", "Last run that had the item; run_history.run."),
    optional.text(
      "values_digest",
      "Digest of the item's mapped values in that run; the next run compares it.",
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
    "Versions of each mapped value of an item for a destination: a row for each result and when it held.",
  key: ["content_id", "destination_id", "custom_field_id", "value_number"],
  columns: [
    contentId,
    destinationId,
    customFieldId,
    required.integer(
      "value_number",
      "Number of the value within the field, from 1; it stays the same through its versions and is reused once the value is removed.",
    ),
    ...VALUE_COLUMNS,
    optional.text(
      "matched_text",
      "Text that the service gave instead of a value ID; NULL where it gave the ID.",
    ),
  ],
});

export const mappedValueOrderHistory = historyTable({
  name: "mapped_value_order_history",
  comment:
    "Versions of the order of an item's values in a field at a destination. A field that never had more than one " +
    "value has no row; its value has ordinal 0.",
  key: ["content_id", "destination_id", "custom_field_id"],
  columns: [
    contentId,
    destinationId,
    customFieldId,
    required.json(
      "value_numbers",
      "List of the value_number at each ordinal, from 0; null where nothing is mapped.",
    ),
  ],
});

export const customFieldHistory = historyTable({
  name: "custom_field_history",
  comment: "Versions of custom field definitions, of what mapped values depend on.",
  key: ["custom_field_id"],
  columns: [
    customFieldId,
    optional.text("name", "Technical name."),
    optional.text("display_label", "Label that editors see."),
    optional.text("field_type", "Type: `text`, `select`, `multiselect`, or another."),
  ],
});

export const selectValueHistory = historyTable({
  name: "select_value_history",
  comment: "Versions of the values that select and multiselect fields offer to editors.",
  key: ["custom_field_id", "value_id"],
  columns: [
    customFieldId,
    required.text("value_id", "ID of the value."),
    required.integer("ordinal", "Position in the field's list of values, from 0."),
    optional.text("display", "Text that editors see."),
    optional.text("value", "Text of the value."),
    optional.boolean("archived", "Whether the value can no longer be chosen."),
  ],
});

export const mappingHistory = historyTable({
  name: "mapping_history",
  comment: "Versions of mappings: the name of a custom field at a destination.",
  key: ["mapping_id"],
  columns: [
    required.text("mapping_id", "Mapping; mapping_history.mapping_id."),
    customFieldId,
    optional.text("destination_id", "Destination; destination_history.destination_id."),
    required.integer(
      "ordinal",
      "Position among the field's mappings, from 0; the first for a destination counts.",
    ),
    optional.text("external_field_name", "Name of the field at the destination."),
  ],
});

export const mappingValueHistory = historyTable({
  name: "mapping_value_history",
  comment: "Versions of mapping entries: the external value for a value of a mapped field.",
  key: ["mapping_value_id"],
  columns: [
    required.text("mapping_value_id", "ID of the mapping entry."),
    required.text("mapping_id", "Mapping; mapping_history.mapping_id."),
    required.integer("ordinal", "Position among the mapping's entries, from 0."),
    optional.text("value_id", "Value that is mapped; select_value_history.value_id."),
    optional.text("external_value", "Value that the destination receives instead."),
  ],
});

export const destinationHistory = historyTable({
  name: "destination_history",
  comment: "Versions of destinations.",
  key: ["destination_id"],
  columns: [
    destinationId,
    optional.text("identification", "Name; NULL where only a mapping names the destination."),
    optional.text("platform", "Platform of the destination."),
    optional.boolean(
      "supports_custom_field_mappings",
      "Whether the destination supports custom field mappings.",
    ),
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
