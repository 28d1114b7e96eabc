/** Tables of the history. */
import { boolean, type Column, defineTable, integer, json, type Table, text, timestamp } from "./declare.ts";
import { contentMappedValues } from "./destinations.ts";

/** Format version of the history. Another one cannot be continued. */
export const HISTORY_VERSION = 3;

/** Causes for the begin or end of a version, in the order in which several are listed. */
export const CAUSES = [
  "first_seen",
  "item_removed",
  "item_returned",
  "item_changed",
  "destination_changed",
  "mapping_changed",
  "collision_began",
  "collision_ended",
  "definition_changed",
  "reordered",
] as const;
export type Cause = (typeof CAUSES)[number];

/** Columns on when a row held, from a run (inclusive) to a run (exclusive), and on the causes. */
const INTERVAL: readonly Column[] = [
  text("valid_from_run", { comment: "First run in which the row held → run_history.run.", required: true }),
  timestamp("valid_from", { comment: "Start of that run, to the second.", required: true }),
  text("valid_to_run", { comment: "First run in which the row no longer held; NULL while it holds." }),
  timestamp("valid_to", { comment: "Start of that run; NULL while it holds." }),
  json("cause", {
    comment: 'Why the row began to hold: a list such as ["item_changed", "mapping_changed"].',
    required: true,
  }),
  json("valid_to_cause", {
    comment: "Why the row ceased to hold: a list of the same words; NULL while it holds.",
  }),
];

/** Adds the interval to the columns, and its first run to the key. */
function historyTable(
  { key, columns, ...rest }: Pick<Table, "name" | "comment" | "key" | "columns">,
  after: readonly Column[] = [],
): Table {
  const all = [...columns, ...INTERVAL, ...after];
  return defineTable({ ...rest, stage: "history", key: [...key, "valid_from_run"], columns: all });
}

export const runHistory = defineTable({
  name: "run_history",
  comment: "Runs that the history covers, this one included, also those whose files were pruned.",
  stage: "history",
  key: ["run"],
  columns: [
    text("run", { comment: "Name of the run: its number and start.", required: true }),
    integer("sequence", {
      comment: "Number of the run; runs are in this order, whatever a clock says.",
      required: true,
    }),
    timestamp("started_at", { comment: "Start of the run, to the second.", required: true }),
    timestamp("extracted_at", {
      comment: "When the run had read everything, by its machine's clock.",
      required: true,
    }),
    text("pipeline", { comment: "Pipeline that ran.", required: true }),
    text("verdict", {
      comment: "`complete`, `unsettled` or `limited`; what an unsettled run did not see still holds.",
      required: true,
    }),
    text("previous_run", { comment: "Run whose history this one continued; NULL where the history begins." }),
    boolean("passthrough", {
      comment: "Whether the run's payloads include values of fields whose type has no value mappings.",
      required: true,
    }),
    integer("lost", {
      comment:
        "Values that this run and the run before have, at destinations that receive values in both, that lost their external value; NULL if nothing could be compared.",
    }),
    integer("gained", { comment: "The same: values that gained an external value." }),
    text("package_version", { comment: "Version of content-warehouse that ran.", required: true }),
    integer("history_version", {
      comment: "Format version of the history that the run wrote.",
      required: true,
    }),
  ],
});

const contentId = text("content_id", {
  comment: "Item; one that was removed is not in content.",
  required: true,
});
const destinationId = text("destination_id", {
  comment: "Destination → destination_history.destination_id.",
  required: true,
});
const customFieldId = text("custom_field_id", {
  comment: "Custom field → custom_field_history.custom_field_id.",
  required: true,
});

const contentHistory = historyTable(
  {
    name: "content_history",
    comment: "When each item existed: from the first run that had it to the run that found it removed.",
    key: ["content_id"],
    columns: [contentId],
  },
  [
    text("last_seen_run", {
      comment: "Last run that had the item → run_history.run. NULL: the newest of run_history.",
    }),
    text("values_digest", {
      comment: "Digest of the item's mapped values in that run; the next run compares it.",
    }),
  ],
);

/** Columns of `content_mapped_values` that are no facts of a value: its key, and facts of its destination. */
const OF_DESTINATION = ["destination_unsupported", "receives"];
const NOT_OF_VALUE = [...contentMappedValues.key, ...OF_DESTINATION];

/** Columns of `content_mapped_values` whose change makes a new version. */
export const VALUE_COLUMNS: readonly Column[] = contentMappedValues.columns.filter(
  ({ name }) => !NOT_OF_VALUE.includes(name),
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
    integer("value_number", {
      comment:
        "Number of the value within the field, from 1; it stays the same through its versions and is reused once the value is removed.",
      required: true,
    }),
    ...VALUE_COLUMNS,
    text("matched_text", {
      comment: "Text that the service gave instead of a value ID; NULL where it gave the ID.",
    }),
  ],
});

const mappedValueOrderHistory = historyTable({
  name: "mapped_value_order_history",
  comment:
    "Versions of the order of an item's values in a field at a destination. A field that never had more than one " +
    "value has no row; its value has ordinal 0.",
  key: ["content_id", "destination_id", "custom_field_id"],
  columns: [
    contentId,
    destinationId,
    customFieldId,
    json("value_numbers", {
      comment: "List of the value_number at each ordinal, from 0; null where nothing is mapped.",
      required: true,
    }),
  ],
});

const customFieldHistory = historyTable({
  name: "custom_field_history",
  comment: "Versions of custom field definitions, of what mapped values depend on.",
  key: ["custom_field_id"],
  columns: [
    customFieldId,
    text("name", { comment: "Technical name." }),
    text("display_label", { comment: "Label that editors see." }),
    text("field_type", { comment: "Type: `text`, `select`, `multiselect`, or another." }),
  ],
});

const selectValueHistory = historyTable({
  name: "select_value_history",
  comment: "Versions of the values that select and multiselect fields offer to editors.",
  key: ["custom_field_id", "value_id"],
  columns: [
    customFieldId,
    text("value_id", { comment: "ID of the value.", required: true }),
    integer("ordinal", { comment: "Position in the field's list of values, from 0.", required: true }),
    text("display", { comment: "Text that editors see." }),
    text("value", { comment: "Text of the value." }),
    boolean("archived", { comment: "Whether the value can no longer be chosen." }),
  ],
});

const mappingHistory = historyTable({
  name: "mapping_history",
  comment: "Versions of mappings: the name of a custom field at a destination.",
  key: ["mapping_id"],
  columns: [
    text("mapping_id", { comment: "Mapping → mapping_history.mapping_id.", required: true }),
    customFieldId,
    text("destination_id", { comment: "Destination → destination_history.destination_id." }),
    integer("ordinal", {
      comment: "Position among the field's mappings, from 0; the first for a destination counts.",
      required: true,
    }),
    text("external_field_name", { comment: "Name of the field at the destination." }),
  ],
});

const mappingValueHistory = historyTable({
  name: "mapping_value_history",
  comment: "Versions of mapping entries: the external value for a value of a mapped field.",
  key: ["mapping_value_id"],
  columns: [
    text("mapping_value_id", { comment: "ID of the mapping entry.", required: true }),
    text("mapping_id", { comment: "Mapping → mapping_history.mapping_id.", required: true }),
    integer("ordinal", { comment: "Position among the mapping's entries, from 0.", required: true }),
    text("value_id", { comment: "Value that is mapped → select_value_history.value_id." }),
    text("external_value", { comment: "Value that the destination receives instead." }),
  ],
});

const destinationHistory = historyTable({
  name: "destination_history",
  comment: "Versions of destinations.",
  key: ["destination_id"],
  columns: [
    destinationId,
    text("identification", { comment: "Name; NULL where only a mapping names the destination." }),
    text("platform", { comment: "Platform of the destination." }),
    boolean("supports_custom_field_mappings", {
      comment: "Whether the destination supports custom field mappings.",
    }),
    boolean("receives", {
      comment: "Whether the destination receives mapped values, by the service and by `ignoreDestinations`.",
      required: true,
    }),
  ],
});

/** In the order in which they are filled. A pipeline has all of them or none. */
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

interface DefinitionHistory {
  readonly history: Table;
  /** Table whose versions it holds. */
  readonly of: string;
  /** Family of definitions, whose changes have the same cause, such as `destination_changed`. */
  readonly family: "destination" | "mapping" | "definition";
  /** SQL condition under which an unsettled run knows that a definition is removed. */
  readonly lookedUp: string;
}

const LOOKED_UP = "(SELECT custom_field_id FROM custom_fields WHERE from_lookup)";
const OF_FIELD = `before.definition.custom_field_id IN ${LOOKED_UP}`;
const OF_MAPPING =
  "before.definition.mapping_id IN " +
  `(SELECT mapping_id FROM previous_mapping_history WHERE custom_field_id IN ${LOOKED_UP})`;

export const DEFINITION_HISTORIES: readonly DefinitionHistory[] = [
  { history: destinationHistory, of: "destinations", family: "destination", lookedUp: "false" },
  { history: customFieldHistory, of: "custom_fields", family: "definition", lookedUp: "false" },
  { history: selectValueHistory, of: "custom_field_select_values", family: "definition", lookedUp: OF_FIELD },
  { history: mappingHistory, of: "custom_field_mappings", family: "mapping", lookedUp: OF_FIELD },
  {
    history: mappingValueHistory,
    of: "custom_field_mapping_values",
    family: "mapping",
    lookedUp: OF_MAPPING,
  },
];

/** Columns of the definition itself, without the interval. */
export function definitionColumns({ columns }: Table): string[] {
  const names = columns.map(({ name }) => name);
  return names.slice(0, names.indexOf("valid_from_run"));
}

/** Key columns of the definition, which stay the same through its versions. */
export function definitionKey({ key }: Table): string[] {
  return key.filter((name) => name !== "valid_from_run");
}
