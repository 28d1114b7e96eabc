import { definePipeline } from "../src/pipeline.ts";
import { DATA_TABLES } from "../src/tables/all.ts";

/** The full export as Parquet files alone, for engines that read those. */
export default definePipeline({
  name: "parquet",
  description: "The full export as Parquet files alone, for engines that read those.",
  extract: { listings: ["dynamic", "full"] },
  tables: DATA_TABLES,
  load: ["parquet"],
});
