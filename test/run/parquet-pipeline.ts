import { definePipeline } from "../../src/define-pipeline.ts";
import { parquet } from "../../src/load/stages.ts";
import { small } from "./small-pipeline.ts";

export default definePipeline({ ...small, name: "small-parquet", load: [parquet()] });
