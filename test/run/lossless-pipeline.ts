import { lostValues } from "../../src/audit/stages.ts";
import { definePipeline } from "../../src/define-pipeline.ts";
import { duckdb } from "../../src/load/stages.ts";
import { history } from "../../src/transform/stages.ts";
import { stages } from "./mapping-pipeline.ts";

/** The pipeline history, which publishes nothing if a value lost its external value. */
export default definePipeline({
  ...stages,
  name: "lossless",
  transform: [...stages.transform, history()],
  load: [duckdb()],
  audit: [lostValues({ severity: "error" })],
});
