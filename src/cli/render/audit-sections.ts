import { sentOrNot } from "../../audit/mapping/mapped-value.ts";
import type { Coverage } from "../../audit/questions/coverage.ts";
import type { Section } from "./sections.ts";

const FIELD_AT = "destination_id destination custom_field_id custom_field";

/** The parts of the answer; the terminal has the columns that a person reads. */
export function coverageSections(coverage: Coverage): Section[] {
  return sectionsOf(coverage).map((section) => ({
    ...section,
    all: `--section ${section.key.replaceAll("_", "-")} --format csv`,
  }));
}

function sectionsOf({ coverage, values, definitions, passthrough }: Coverage): Section[] {
  const ofValues: Section[] = [
    {
      key: "coverage",
      title: "Coverage, in values",
      none: "no mapped field has such a value",
      columns:
        `${FIELD_AT} field_type external_field_name items items_with_gaps values mapped unmapped unknown_value ` +
        "no_value_mapping archived ambiguous matched_by_text collision entries entries_unused",
      shown:
        "destination custom_field external_field_name items values mapped unmapped unknown_value " +
        "no_value_mapping archived ambiguous collision entries_unused",
      headings: { no_value_mapping: sentOrNot(passthrough) },
      rows: coverage,
      optional: "collision ambiguous archived entries_unused external_field_name items no_value_mapping",
      limit: 100,
    },
    {
      key: "values",
      title:
        definitions === undefined ? "Values" : "Values that are unmapped, unknown, archived or ambiguous",
      columns:
        `${FIELD_AT} external_field_name value_id value status external_value archived items uses ` +
        "ambiguous matched_by_text collision",
      shown: "destination custom_field value status external_value archived ambiguous items",
      rows: values,
      optional: "ambiguous archived external_value",
    },
  ];
  if (definitions === undefined) return ofValues;
  return [
    ...ofValues,
    {
      key: "unused_entries",
      title: "Mapping entries that no item uses",
      columns: `${FIELD_AT} external_field_name mapping_id mapping_value_id value_id value external_value reason`,
      shown: "destination custom_field value external_value reason",
      rows: definitions.unusedEntries,
      optional: "external_value",
    },
    {
      key: "unmapped_fields",
      title: "Fields with values that no destination maps",
      columns: "custom_field_id custom_field field_type items",
      shown: "custom_field field_type items",
      rows: definitions.unmappedFields,
      optional: "field_type",
    },
    {
      key: "many_to_one",
      title: "Many-to-one values",
      columns: "destination_id destination external_field_name external_value internal_values given_by uses",
      shown: "destination external_field_name external_value uses given_by",
      rows: definitions.manyToOne,
      optional: "uses",
    },
    {
      key: "collisions",
      title: "Name collisions",
      columns: "destination_id destination external_field_name custom_fields uses",
      shown: "destination external_field_name custom_fields uses",
      rows: definitions.collisions,
      optional: "uses",
    },
  ];
}
