import { definePipeline } from "../../src/pipeline.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";

/** Users, and where they stand. */
export default definePipeline({
  name: "purged-parquet",
  description: "Items with their people, as parquet alone.",
  extract: { listings: ["dynamic", "full"] },
  tables: DATA_TABLES.filter(({ name }) => ["content", "users", "content_current_editors"].includes(name)),
  load: ["parquet"],
});
