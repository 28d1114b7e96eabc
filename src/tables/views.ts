/**
 * Declares the views of a warehouse. Columns of tables keep their declaration. Columns for the custom fields and external
 * fields of a run are added when the run is built.
 */
import { content } from "./content.ts";
import { customFieldSelectValues, customFields } from "./custom-fields.ts";
import { bigint, type Column, defineTable, integer, type Table, text } from "./declare.ts";
import { contentMappedValues, destinations } from "./destinations.ts";
import { mappedValueHistory, VALUE_COLUMNS } from "./history.ts";

const view = (declaration: Omit<Table, "stage" | "rows">): Table =>
  defineTable({ ...declaration, stage: "view" });

/** A column of a table, perhaps with another name or comment. */
function shown(table: Table, name: string, as: Partial<Pick<Column, "name" | "comment">> = {}): Column {
  const column = table.columns.find((each) => each.name === name);
  if (column === undefined) throw new TypeError(`${table.name} has no column ${name}`);
  return { ...column, ...as };
}

export const contentWide = view({
  name: "content_wide",
  comment:
    "content with one column per custom field, by its name: a DOUBLE, DATE or BOOLEAN if the field is of such a type, " +
    "a list of texts for a multiselect, else a text. A value that does not read as the type is NULL here and text in " +
    "content_custom_field_values. A select field gives the value of the select value, a file field the file ID, with " +
    "columns for the file's name and URL. The setting `extraColumns` adds a column `extra_<name>` for a field that the " +
    "specification does not know.",
  key: content.key,
  references: content.references,
  columns: content.columns,
});

const destinationName = shown(destinations, "identification", {
  name: "destination",
  comment: "Name of the destination; its ID where only a mapping names it.",
});

export const contentMappedWide = view({
  name: "content_mapped_wide",
  comment:
    "content_external_payloads with one list column per external field name; where an item has no payload for a " +
    "destination, there is no row.",
  key: ["content_id", "destination_id"],
  references: contentMappedValues.references.filter(({ table }) => table !== "custom_fields"),
  columns: [
    shown(contentMappedValues, "content_id"),
    shown(contentMappedValues, "destination_id"),
    destinationName,
    shown(destinations, "receives"),
  ],
});

export const mappingCoverageView = view({
  name: "mapping_coverage",
  comment:
    "Per destination, mapped custom field and value: its status, and how many items use it; 0 where a value is " +
    "offered or mapped and not used. A field without value mappings has one row, and no value in it.",
  key: [],
  references: contentMappedValues.references.filter(({ table }) => table !== "content"),
  columns: [
    shown(contentMappedValues, "destination_id"),
    destinationName,
    shown(destinations, "receives"),
    shown(contentMappedValues, "custom_field_id"),
    shown(customFields, "name", { name: "custom_field", comment: "Technical name of the custom field." }),
    shown(contentMappedValues, "external_field_name"),
    shown(customFieldSelectValues, "value_id", {
      comment: "Value that is offered, mapped or used → custom_field_select_values.value_id.",
    }),
    shown(contentMappedValues, "value", {
      comment: "Text of the value; NULL for a field whose type has no value mappings.",
    }),
    shown(contentMappedValues, "status"),
    shown(contentMappedValues, "external_value"),
    shown(contentMappedValues, "value_archived"),
    bigint("items", { comment: "Number of items that use the value.", required: true }),
    bigint("uses", { comment: "Number of uses: an item can give a value several times.", required: true }),
  ],
});

const held = (name: string) => shown(mappedValueHistory, name);

const mappedValueIntervals = view({
  name: "mapped_value_intervals",
  comment:
    "content_mapped_values of all runs of the history, each row with the runs in which it held; to be filtered by " +
    "valid_from_sequence (inclusive) and valid_to_sequence (exclusive, NULL while it holds). A value that neither moved " +
    "nor changed has one row, unless its destination began or ceased to receive values. copy counts the places of a " +
    "value that stands at several; each has its own cause.",
  key: ["content_id", "destination_id", "custom_field_id", "ordinal", "valid_from_sequence"],
  references: [],
  columns: [
    held("content_id"),
    held("destination_id"),
    held("custom_field_id"),
    shown(contentMappedValues, "ordinal"),
    ...VALUE_COLUMNS,
    shown(contentMappedValues, "destination_unsupported"),
    shown(contentMappedValues, "receives"),
    held("value_number"),
    integer("copy", { comment: "Which of the equal values of the field it is, from 1.", required: true }),
    held("valid_from_run"),
    held("valid_from"),
    integer("valid_from_sequence", { comment: "Number of that run; inclusive.", required: true }),
    held("valid_to_run"),
    held("valid_to"),
    integer("valid_to_sequence", { comment: "Number of that run; exclusive, NULL while it holds." }),
    text("version_from_run", {
      comment: "First run in which the value held, wherever it stood.",
      required: true,
    }),
    shown(mappedValueHistory, "cause", {
      comment:
        "Why the row began to hold: the causes of the value's version if that began, `reordered` if the value only moved, `destination_changed` if its destination began or ceased to receive values.",
    }),
    text("version_to_run", {
      comment: "First run in which the value no longer held, wherever it stood; NULL while it holds.",
    }),
    shown(mappedValueHistory, "valid_to_cause", {
      comment: "Why the row ceased to hold: a list of the same words; NULL while it holds.",
    }),
  ],
});

const sinceOf = (flag: string) =>
  text(`${flag}_since_run`, {
    comment: `First run in which ${flag} was true and has been since; NULL if it is false.`,
  });

const mappedValueSince = view({
  name: "mapped_value_since",
  comment:
    "Each mapped value that holds now: since when its status, external field name and external value are what they are, why, and since when its flags are set.",
  key: ["content_id", "destination_id", "custom_field_id", "value_number"],
  references: [],
  columns: [
    held("content_id"),
    held("destination_id"),
    held("custom_field_id"),
    held("value_number"),
    held("external_field_name"),
    held("value_id"),
    held("value"),
    held("matched_by_text"),
    text("since_run", {
      comment: "Run in which status, external_field_name or external_value became what it is.",
      required: true,
    }),
    shown(mappedValueHistory, "cause", { comment: "Why, as in mapped_value_history." }),
    ...["value_archived", "ambiguous", "collision"].map(sinceOf),
  ],
});

const runCollisions = view({
  name: "run_collisions",
  comment:
    "Custom fields that are sent under one external field name at a destination, in each run of the history: each pair from both sides. Of `collision_began` and `collision_ended`, the other field is in only one of the two runs.",
  key: ["run", "destination_id", "external_field_name", "custom_field_id", "other_custom_field_id"],
  references: [],
  columns: [
    text("run", { comment: "Run → run_history.run.", required: true }),
    held("destination_id"),
    text("external_field_name", { comment: "Name of both fields at the destination.", required: true }),
    held("custom_field_id"),
    text("other_custom_field_id", {
      comment: "The other custom field → custom_field_history.custom_field_id.",
      required: true,
    }),
  ],
});

/** Views over the history, in the order in which they are created. */
export const HISTORY_VIEWS: readonly Table[] = [mappedValueIntervals, mappedValueSince, runCollisions];

/** Macros over the history; `load/sql/views` has their text. */
export const MACRO_NAMES: readonly string[] = [
  "mapped_values_as_of",
  "payloads_as_of",
  "payload_as_of",
  "mapped_value_changes",
];

export const VIEWS: readonly Table[] = [
  contentWide,
  contentMappedWide,
  mappingCoverageView,
  ...HISTORY_VIEWS,
];
