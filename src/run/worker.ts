/** The thread around a {@link Staging}: takes tasks, answers each by its number. */
import { parentPort, workerData } from "node:worker_threads";
import { asWarehouseError, type ErrorCode } from "../common/errors.ts";
import { SourceError } from "../extract/http/source-error.ts";
import { letGo, letGoOfYoung } from "../common/gc.ts";
import { loadPipeline } from "../transform/pipelines.ts";
import { Staging, type StagingOptions } from "./staging.ts";
import type { FlushResult, StagingTask } from "./tasks.ts";

export interface WorkerSetup {
  /** Module whose default export is the pipeline. */
  readonly pipelineUrl: string;
  readonly staging: StagingOptions;
}

export interface TaskMessage {
  readonly number: number;
  readonly task: StagingTask;
}

export type ReplyMessage =
  | { readonly number: number; readonly result: unknown }
  | { readonly number: number; readonly failure: TaskFailure };

/** An error on its way to the main thread; classes do not cross threads. */
export interface TaskFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly stack: string | undefined;
  /** Attempts that such a failure of the service is worth; undefined: it is none of the service. */
  readonly attemptsAtMost: number | undefined;
}

function perform(staging: Staging, task: StagingTask): unknown {
  switch (task.kind) {
    case "page":
      return staging.page(task);
    case "item":
      return staging.item(task);
    case "close":
      return staging.close(task);
    case "save":
      return staging.save(task);
    case "restore":
      return staging.restore(task);
    case "drop":
      return staging.drop(task);
    case "pair":
      return staging.pair(task);
    case "transform":
      return staging.transform(task);
    case "flush":
      return letGoAfter(staging.flush());
  }
}

/** V8 keeps what a thread has when it ends for 8 more seconds: into these falls the load. */
function letGoAfter(last: FlushResult): FlushResult {
  letGo();
  return last;
}

function failureOf(thrown: unknown): TaskFailure {
  const error = asWarehouseError(thrown);
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  const attemptsAtMost = thrown instanceof SourceError ? thrown.attemptsAtMost : undefined;
  return { code: error.code, message: error.message, stack, attemptsAtMost };
}

/** Pages of so many bytes, as they came, leave half of a young generation behind. */
const BYTES_OF_GARBAGE = 1024 * 1024;
let bytesRead = 0;

/** After the answer, so that nobody waits for it. */
function letGoOfPages(bytes: number): void {
  bytesRead += bytes;
  if (bytesRead < BYTES_OF_GARBAGE) return;
  bytesRead = 0;
  letGoOfYoung();
}

const port = parentPort;
if (port === null) throw new TypeError("this module is the entry of a worker thread");
const setup: WorkerSetup = workerData;
const staging = new Staging(await loadPipeline(setup.pipelineUrl), setup.staging);
port.on("message", ({ number, task }: TaskMessage) => {
  const pageBytes = task.kind === "page" ? task.body.bytes.byteLength : 0;
  let reply: ReplyMessage;
  try {
    reply = { number, result: perform(staging, task) };
  } catch (thrown) {
    reply = { number, failure: failureOf(thrown) };
  }
  port.postMessage(reply);
  letGoOfPages(pageBytes);
});
