/** Finds pipelines: by name in the package's `pipelines/`, or by the path of a user's own module. */

import { existsSync, readdirSync } from "node:fs";
import { extname, isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { WarehouseError } from "../common/errors.ts";
import { importModule, importProblem } from "../common/import-module.ts";
import { isObject } from "../common/json.ts";
import { printable } from "../common/printable.ts";
import type { Pipeline } from "../pipeline.ts";

/** The package's pipelines lie beside `src/`, in the sources and in the built package alike. */
const DIRECTORY = new URL("../../pipelines/", import.meta.url);
const EXTENSION = extname(import.meta.url);

/** Names of the package's pipelines, sorted. */
export function pipelineNames(): string[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(EXTENSION) && !file.endsWith(".d.ts"))
    .map((file) => file.slice(0, -EXTENSION.length))
    .sort();
}

/** URL of the module of a pipeline, given by name or path (slash or extension). Errors: `config.unknown_pipeline`. */
export function pipelineUrl(pipeline: string, workingDirectory: string): string {
  if (/[/\\]|\.[cm]?[jt]s$/.test(pipeline)) {
    const path = isAbsolute(pipeline) ? pipeline : resolve(workingDirectory, pipeline);
    if (existsSync(path)) return pathToFileURL(path).href;
    throw new WarehouseError(
      "config.unknown_pipeline",
      `There is no pipeline module at ${printable(path, 1000)}; the pipelines of the package are ${pipelineNames().join(", ")}.`,
    );
  }
  const names = pipelineNames();
  if (names.includes(pipeline)) return new URL(`${pipeline}${EXTENSION}`, DIRECTORY).href;
  throw new WarehouseError(
    "config.unknown_pipeline",
    `There is no pipeline "${printable(pipeline)}"; there are ${names.join(", ")}, or give the path of a module of your own, such as ./my-pipeline.mts.`,
  );
}

/** The name of a pipeline of the package, or the URL of a file; null of a pipeline that has neither. */
export function pipelineModule(pipeline: string | Pipeline): string | null {
  if (typeof pipeline !== "string" || !pipeline.startsWith("file:")) return null;
  return pipelineNames().find((name) => pipelineUrl(name, "") === pipeline) ?? pipeline;
}

/** Imports a pipeline's module. Errors: `config.invalid` where it cannot be imported or its default export is none. */
export async function loadPipeline(url: string): Promise<Pipeline> {
  const module = await importModule(url).catch((thrown: unknown) => {
    // What is wrong with its composition is said whole.
    if (thrown instanceof WarehouseError) throw invalid(`${shownUrl(url)}: ${thrown.message}`, thrown);
    throw invalid(`The pipeline ${shownUrl(url)} ${importProblem(thrown)}`, thrown);
  });
  const pipeline = isObject(module) ? module.default : undefined;
  if (isPipeline(pipeline)) return pipeline;
  throw invalid(
    `${shownUrl(url)} exports no pipeline: its default export must be what definePipeline(...) returns.`,
  );
}

function shownUrl(url: string): string {
  return printable(url.startsWith("file:") ? fileURLToPath(url) : url, 1000);
}

function invalid(sentence: string, cause?: unknown): WarehouseError {
  return new WarehouseError("config.invalid", sentence, { cause });
}

function isPipeline(value: unknown): value is Pipeline {
  return (
    isObject(value) &&
    typeof value.name === "string" &&
    Array.isArray(value.tables) &&
    Array.isArray(value.loaders) &&
    isObject(value.rows)
  );
}
