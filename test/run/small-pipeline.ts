import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import { contentTables } from "../../src/transform/stages.ts";

export const small = {
  name: "small",
  description: "Items with their tags.",
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [contentTables({ only: ["content", "content_tags", "content_events"] })],
  load: [duckdb(), parquet()],
} as const;

/** Few tables, so that a run takes little time. */
export default definePipeline(small);
