import { definePipeline } from "../src/pipeline.ts";
import { DATA_TABLES } from "../src/tables/all.ts";

/** The full export: every field of every item, into a DuckDB file and Parquet files. */
export default definePipeline({
  name: "nightly",
  description: "The full export: every field of every item, into a DuckDB file and Parquet files.",
  extract: { listings: ["dynamic", "full"] },
  tables: DATA_TABLES,
  load: ["duckdb", "parquet"],
});
