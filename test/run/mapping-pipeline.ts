import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import { contentTables, mappedValues } from "../../src/transform/stages.ts";

export const MAPPING_TABLES = [
  "content",
  "content_types",
  "users",
  "custom_fields",
  "custom_field_select_values",
  "content_custom_field_values",
  "custom_field_files",
  "destinations",
  "custom_field_mappings",
  "custom_field_mapping_values",
  "content_current_editors",
] as const;

/** What mapped values are made from, and people. */
export const stages = {
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [
    contentTables({
      only: MAPPING_TABLES,
    }),
    mappedValues(),
  ],
  load: [duckdb(), parquet()],
} as const;

/** What the mapped values are made of, which takes half as long as all tables. */
export default definePipeline({
  ...stages,
  name: "mapping",
  description: "Items with their custom fields and mapped values.",
});
