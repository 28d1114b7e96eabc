import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../../src/extract/stages.ts";
import { duckdb } from "../../src/load/stages.ts";
import { contentTables, history, mappedValues } from "../../src/transform/stages.ts";

/** Every field of every item, into a DuckDB file alone. */
export default definePipeline({
  name: "nightly-duckdb",
  description: "Every field of every item, into a DuckDB file alone.",
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [contentTables(), mappedValues(), history()],
  load: [duckdb()],
});
