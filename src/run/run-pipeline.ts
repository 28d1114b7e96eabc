/** Runs a pipeline from a program. */
import { resolve } from "node:path";
import { asWarehouseError } from "../common/errors.ts";
import { type Log, silentLog } from "../common/log.ts";
import type { OnProgress } from "../common/progress.ts";
import { type ConfigFlags, loadConfig } from "../config/config.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import type { Pipeline } from "../pipeline.ts";
import { pipelineUrl } from "../transform/pipelines.ts";
import { thisMachine } from "./inputs.ts";
import { runExport } from "./run.ts";

/** Flags as those of the command `run`, and what a program passes besides. */
export interface RunPipelineOptions extends Omit<ConfigFlags, "tokenFile" | "destinations"> {
  /**
   * Name of a pipeline of the package, path or URL of a module, or the pipeline itself. Functions do not cross
   * threads, so the functions of a pipeline value run on the calling thread, which is slower.
   */
  readonly pipeline: string | URL | Pipeline;
  /** Variables in place of those of the process, as `docs/configuration.md` lists them. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Folder that relative paths begin at. Default: the working directory. */
  readonly cwd?: string;
  /** Ends the run; nothing is published. */
  readonly signal?: AbortSignal;
  readonly onProgress?: OnProgress;
  readonly log?: Log;
}

/**
 * Runs a pipeline and publishes its result, as `content-warehouse run` does.
 *
 *     const summary = await runPipeline({ pipeline: "nightly", sample: true, env: process.env, cwd: process.cwd() });
 *     if (summary.verdict === "unsettled") console.warn(summary.reasons);
 *
 * Throws a `WarehouseError`; then nothing was published, unless its code is `load.failed` and it says so. Where `signal`
 * ended the run before, the code is `run.interrupted`, or what is thrown is the signal's reason, if that is a `WarehouseError`.
 */
export async function runPipeline(options: RunPipelineOptions): Promise<RunSummary> {
  const { pipeline, env = {}, signal = new AbortController().signal, onProgress, log, ...rest } = options;
  const { cwd: folder = ".", ...flags } = rest;
  const cwd = resolve(folder);
  try {
    const { summary, failure } = await runExport({
      config: await loadConfig({ cwd, env, flags, sampleBy: "`sample: true`" }),
      pipeline: sourceOf(pipeline, cwd),
      log: log ?? silentLog,
      signal,
      onProgress: onProgress ?? (() => {}),
      ...thisMachine(),
    });
    if (failure !== null) throw failure;
    return summary;
  } catch (thrown) {
    throw asWarehouseError(thrown);
  }
}

function sourceOf(pipeline: RunPipelineOptions["pipeline"], cwd: string): string | Pipeline {
  if (pipeline instanceof URL) return pipeline.href;
  return typeof pipeline === "string" ? pipelineUrl(pipeline, cwd) : pipeline;
}
