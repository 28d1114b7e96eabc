/** Finds pipelines by name in the package's `pipelines/`, or by the path of a user's module. */

import { existsSync, readdirSync } from "node:fs";
import { extname, isAbsolute, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { invalidConfig, WarehouseError } from "../common/errors.ts";
import { importModule, importProblem } from "../common/import-module.ts";
import { isObject } from "../common/json.ts";
import { printable } from "../common/printable.ts";
import { expandHome } from "../common/user-path.ts";
import type { Pipeline } from "../pipeline.ts";

/** Folder beside `src/`, in the sources and in the built package. */
const DIRECTORY = new URL("../../pipelines/", import.meta.url);
const EXTENSION = extname(import.meta.url);

/** Names of the package's pipelines, sorted. */
function pipelineNames(): string[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(EXTENSION) && !file.endsWith(".d.ts"))
    .map((file) => file.slice(0, -EXTENSION.length))
    .sort();
}

/** URL of a pipeline's module, given by name or by path (with a slash or an extension). Throws `config.unknown_pipeline`. */
export function pipelineUrl(pipeline: string, workingDirectory: string): string {
  if (/[/\\]|\.[cm]?[jt]s$/.test(pipeline)) {
    const named = expandHome(pipeline);
    const path = isAbsolute(named) ? named : resolve(workingDirectory, named);
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
    `There is no pipeline "${printable(pipeline)}"; the pipelines are ${names.join(" and ")}; or give the path of your own module, such as ./my-pipeline.mts.`,
  );
}

/** Name of a pipeline of the package, or URL of a module; `null` for a pipeline that was passed as an object. */
export function pipelineModule(pipeline: string | Pipeline): string | null {
  if (typeof pipeline !== "string" || !pipeline.startsWith("file:")) return null;
  return pipelineNames().find((name) => pipelineUrl(name, "") === pipeline) ?? pipeline;
}

/** Imports a pipeline's module. Throws `config.invalid` if that fails or its default export is not a pipeline. */
export async function loadPipeline(url: string): Promise<Pipeline> {
  const module = await importModule(url).catch((thrown: unknown) => {
    // Errors of `definePipeline` are complete sentences.
    if (thrown instanceof WarehouseError) throw invalidConfig(`${shownUrl(url)}: ${thrown.message}`, thrown);
    throw invalidConfig(`The pipeline ${shownUrl(url)} ${importProblem(thrown)}`, thrown);
  });
  const pipeline = isObject(module) ? module.default : undefined;
  if (isObject(pipeline) && typeof pipeline.name === "string" && isObject(pipeline.rows)) {
    if (Array.isArray(pipeline.tables) && Array.isArray(pipeline.loaders))
      return pipeline as unknown as Pipeline;
  }
  throw invalidConfig(
    `${shownUrl(url)} exports no pipeline: its default export must be what definePipeline(...) returns.`,
  );
}

function shownUrl(url: string): string {
  return printable(url.startsWith("file:") ? fileURLToPath(url) : url, 1000);
}
