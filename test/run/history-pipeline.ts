import { definePipeline } from "../../src/define-pipeline.ts";
import { duckdb } from "../../src/load/stages.ts";
import { history } from "../../src/transform/stages.ts";
import { stages } from "./mapping-pipeline.ts";

/** The pipeline mapping, with the history; `?duckdb`: into a DuckDB file alone. */
export default definePipeline({
  ...stages,
  name: "history",
  description: "Items with their people, mapped values and history.",
  transform: [...stages.transform, history()],
  load: import.meta.url.endsWith("?duckdb") ? [duckdb()] : stages.load,
});
