import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../../src/extract/stages.ts";
import { parquet } from "../../src/load/stages.ts";
import { contentTables } from "../../src/transform/stages.ts";

/** Few tables, so that a run takes little time. */
export default definePipeline({
  name: "erased-parquet",
  description: "Items with their people, as parquet alone.",
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [contentTables({ only: ["content", "users", "content_current_editors"] })],
  load: [parquet()],
});
