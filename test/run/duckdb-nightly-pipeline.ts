import { definePipeline } from "../../src/pipeline.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";

/** All tables, as duckdb alone. */
export default definePipeline({
  name: "nightly-duckdb",
  description: "Every field of every item, into a DuckDB file alone.",
  extract: { listings: ["dynamic", "full"] },
  tables: DATA_TABLES,
  load: ["duckdb"],
});
