import { definePipeline } from "../../src/define-pipeline.ts";
import { listing, singleItems } from "../../src/extract/stages.ts";
import { duckdb } from "../../src/load/stages.ts";
import { contentTables } from "../../src/transform/stages.ts";

export default definePipeline({
  name: "content",
  description: "Items alone.",
  extract: [listing("dynamic"), singleItems()],
  transform: [contentTables({ only: ["content"] })],
  load: [duckdb()],
});
