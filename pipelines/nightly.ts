import { definePipeline } from "../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../src/extract/stages.ts";
import { duckdb, parquet } from "../src/load/stages.ts";
import { contentTables, history, mappedValues } from "../src/transform/stages.ts";

export default definePipeline({
  name: "nightly",
  description: "The full export: every field of every item, into a DuckDB file and Parquet files.",
  extract: [
    destinations(),
    customFields(),
    listing("dynamic"),
    singleItems({ of: "events" }),
    listing("full"),
  ],
  transform: [contentTables(), mappedValues(), history()],
  load: [duckdb(), parquet()],
});
