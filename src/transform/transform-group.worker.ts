/** Worker thread that transforms groups. */
import { workerData } from "node:worker_threads";
import { collectGarbage } from "../common/free-memory.ts";
import { answerTasks } from "../common/threads/threads.ts";
import { loadPipeline } from "./pipelines.ts";
import { GroupTransformer, type TransformOutput } from "./transform-group.ts";
import type { TransformSetup, TransformTask } from "./transform-items.ts";

const { tables, pipelineUrl, ...options }: TransformSetup = workerData;
const pipeline = pipelineUrl === undefined ? { tables, rows: {} } : await loadPipeline(pipelineUrl);
const transformer = new GroupTransformer(pipeline, options);

/** Frees memory now: V8 keeps the memory of an ended thread for 8 seconds, in which the load begins. */
function last(): TransformOutput {
  const flushed = transformer.flush();
  collectGarbage();
  return flushed;
}

answerTasks<TransformTask>((task) => (task.kind === "group" ? transformer.group(task) : last()));
