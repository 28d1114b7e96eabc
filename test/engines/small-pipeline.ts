import { definePipeline } from "../../src/define-pipeline.ts";
import { listing } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import { contentTables } from "../../src/transform/stages.ts";

/** Few tables, so that a run takes little time. */
export default definePipeline({
  name: "small",
  extract: [listing("dynamic")],
  transform: [contentTables({ only: ["content", "content_tags"] })],
  load: [duckdb(), parquet()],
});
