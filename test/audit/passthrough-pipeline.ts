import { definePipeline } from "../../src/pipeline.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";

/** Values of fields without value mappings are sent as they are. */
export default definePipeline({
  name: "as-is",
  description: "The full export, with values of fields without value mappings in the payloads.",
  extract: { listings: ["dynamic", "full"] },
  tables: DATA_TABLES,
  load: ["duckdb"],
  passthrough: true,
});
