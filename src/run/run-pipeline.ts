/** Running a pipeline from a program of one's own. */
import { resolve } from "node:path";
import type { Contract } from "../audit/checks/contract.ts";
import { asWarehouseError } from "../common/errors.ts";
import { type Log, silentLog } from "../common/log.ts";
import type { OnProgress } from "../common/progress.ts";
import { loadConfig } from "../config/config.ts";
import type { RunSummary } from "../observe/run-summary.ts";
import type { Pipeline } from "../pipeline.ts";
import { pipelineUrl } from "../transform/pipelines.ts";
import { thisMachine } from "./inputs.ts";
import { runExport } from "./run.ts";

export interface RunPipelineOptions {
  /**
   * Name of a pipeline of the package, path or URL of a module of your own, or the pipeline itself: then functions of
   * its tables run on the calling thread, since functions do not cross threads, which takes longer.
   */
  readonly pipeline: string | URL | Pipeline;
  /** The embedded service with the sample content, instead of a service at an address. */
  readonly sample?: boolean;
  /** Address of the service; `CONTENT_API_URL` in `env` otherwise. */
  readonly url?: string;
  /** Configuration file; without it `content-warehouse.config.ts`, or such in `.mts`, `.js`, `.mjs` or `.json`, in `cwd`. */
  readonly config?: string;
  /** Folder of the warehouse; `./warehouse` unless given or configured. */
  readonly warehouse?: string;
  /** `freeze`: nothing that departs from the specification is published; `evolve` unless given or configured. */
  readonly contract?: Contract;
  /** Publishes even where there is far less than in the run before. */
  readonly acceptShrink?: boolean;
  /** Goes on in a warehouse whose service has another address now; the instance's ID must be the same. */
  readonly acceptNewAddress?: boolean;
  /** Publishes even where the pipeline lacks tables of the current run. */
  readonly acceptPipeline?: boolean;
  /** Asks for all single items, also those of which the listing says nothing new. */
  readonly reread?: boolean;
  /** Reads so many items alone, the first that are listed, into a warehouse of limited runs: `./first-look` unless given. */
  readonly limit?: number;
  /** Where `CONTENT_API_URL`, `CONTENT_API_TOKEN` and `CONTENT_WAREHOUSE_HASH_KEY` are read; nowhere unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Relative paths begin here; the working directory unless given. */
  readonly cwd?: string;
  /** Ends the run with nothing published. */
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
