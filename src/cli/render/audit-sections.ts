import type { Coverage } from "../../audit/questions/coverage.ts";
import type { Section } from "./sections.ts";

const DESTINATION = ["destination"] as const;
const FIELD = ["custom_field", "field"] as const;
const EXTERNAL = ["external_field_name", "external name"] as const;

/** The parts of the answer; the terminal has the columns that a person reads. */
export function coverageSections({ coverage, values, definitions }: Coverage): Section[] {
  return [
    {
      key: "coverage",
      title: "Coverage, in values",
      none: "no mapped field has such a value",
      columns: COVERAGE_COLUMNS,
      shown: [
        DESTINATION,
        FIELD,
        EXTERNAL,
        ["items"],
        ["values"],
        ["mapped"],
        ["unmapped"],
        ["unknown_value", "unknown"],
        ["no_value_mapping", "as is"],
        ["archived"],
        ["ambiguous"],
        ["collision"],
        ["entries_unused", "unused"],
      ],
      rows: coverage,
      keys: 2,
      limit: 100,
    },
    {
      key: "values",
      title:
        definitions === undefined ? "Values" : "Values that are unmapped, unknown, archived or ambiguous",
      none: "none",
      columns: VALUE_COLUMNS,
      shown: [
        DESTINATION,
        FIELD,
        ["value"],
        ["status"],
        ["external_value", "external value"],
        ["archived"],
        ["ambiguous"],
        ["items"],
      ],
      rows: values,
      keys: 3,
    },
    ...(definitions === undefined
      ? []
      : ([
          {
            key: "unused_entries",
            title: "Mapping entries that no item uses",
            none: "none",
            columns: ENTRY_COLUMNS,
            shown: [DESTINATION, FIELD, ["value"], ["external_value", "external value"], ["reason"]],
            rows: definitions.unusedEntries,
            keys: 3,
          },
          {
            key: "unmapped_fields",
            title: "Fields with values that no destination maps",
            none: "none",
            columns: ["custom_field_id", "custom_field", "field_type", "items"],
            shown: [FIELD, ["field_type", "type"], ["items"]],
            rows: definitions.unmappedFields,
          },
          {
            key: "many_to_one",
            title: "Many-to-one values",
            none: "none",
            columns: [
              "destination_id",
              "destination",
              "external_field_name",
              "external_value",
              "internal_values",
              "given_by",
              "uses",
            ],
            shown: [
              DESTINATION,
              EXTERNAL,
              ["external_value", "external value"],
              ["uses"],
              ["given_by", "given by"],
            ],
            rows: definitions.manyToOne,
            keys: 2,
          },
          {
            key: "collisions",
            title: "Name collisions",
            none: "none",
            columns: ["destination_id", "destination", "external_field_name", "custom_fields", "uses"],
            shown: [DESTINATION, EXTERNAL, ["custom_fields", "fields"], ["uses"]],
            rows: definitions.collisions,
            keys: 2,
          },
        ] satisfies Section[])),
  ];
}

const COVERAGE_COLUMNS = [
  "destination_id",
  "destination",
  "custom_field_id",
  "custom_field",
  "field_type",
  "external_field_name",
  "items",
  "items_with_gaps",
  "values",
  "mapped",
  "unmapped",
  "unknown_value",
  "no_value_mapping",
  "archived",
  "ambiguous",
  "matched_by_text",
  "collision",
  "entries",
  "entries_unused",
];

const VALUE_COLUMNS = [
  "destination_id",
  "destination",
  "custom_field_id",
  "custom_field",
  "external_field_name",
  "value_id",
  "value",
  "status",
  "external_value",
  "archived",
  "items",
  "uses",
  "ambiguous",
  "matched_by_text",
  "collision",
];

const ENTRY_COLUMNS = [
  "destination_id",
  "destination",
  "custom_field_id",
  "custom_field",
  "external_field_name",
  "mapping_id",
  "mapping_value_id",
  "value_id",
  "value",
  "external_value",
  "reason",
];
