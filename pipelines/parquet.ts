import { definePipeline } from "../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../src/extract/stages.ts";
import { parquet } from "../src/load/stages.ts";
import { contentTables, history, mappedValues } from "../src/transform/stages.ts";

export default definePipeline({
  name: "parquet",
  description: "The full export as Parquet files alone, for engines that read those.",
  extract: [
    destinations(),
    customFields(),
    listing("dynamic"),
    singleItems({ of: "events" }),
    listing("full"),
  ],
  transform: [contentTables(), mappedValues(), history()],
  load: [parquet()],
});
