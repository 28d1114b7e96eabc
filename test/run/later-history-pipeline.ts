import { definePipeline } from "../../src/define-pipeline.ts";
import { history } from "../../src/transform/stages.ts";
import { stages } from "./mapping-pipeline.ts";

/** The pipeline mapping, with a history that was thought of later. */
export default definePipeline({
  ...stages,
  name: "later-history",
  description: "Mapped values with their history.",
  transform: [...stages.transform, history()],
});
