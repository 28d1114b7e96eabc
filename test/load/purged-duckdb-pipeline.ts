import { definePipeline } from "../../src/pipeline.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";

/** Users, and where they stand. */
export default definePipeline({
  name: "purged-duckdb",
  description: "Items with their people, as duckdb alone.",
  extract: { listings: ["dynamic", "full"] },
  tables: DATA_TABLES.filter(({ name }) => ["content", "users", "content_current_editors"].includes(name)),
  load: ["duckdb"],
});
