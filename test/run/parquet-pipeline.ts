import { definePipeline } from "../../src/pipeline.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";

/** Few tables, so that a run takes little time. */
export default definePipeline({
  name: "small-parquet",
  description: "Items with their tags.",
  extract: { listings: ["dynamic", "full"] },
  tables: DATA_TABLES.filter(({ name }) => ["content", "content_tags", "content_events"].includes(name)),
  load: ["parquet"],
});
