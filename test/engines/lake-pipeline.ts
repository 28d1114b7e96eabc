import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import { contentTables, history, mappedValues } from "../../src/transform/stages.ts";
import { oddValues } from "./odd-values.ts";

/** All tables, and odd values. */
export default definePipeline({
  name: "odd",
  extract: [
    destinations(),
    customFields(),
    listing("dynamic"),
    singleItems({ of: "events" }),
    listing("full"),
  ],
  transform: [contentTables(), mappedValues(), history(), oddValues],
  load: [duckdb(), parquet()],
});
