/** Finds pipelines: by name in the package's `pipelines/`, or by the path of a user's own module. */
import { existsSync, readdirSync } from "node:fs";
import { extname, isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { WarehouseError } from "../errors.ts";
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

/**
 * URL of the module of a pipeline that is named or given by path. A path has a slash or an extension.
 * Errors: `config.unknown_pipeline`.
 */
export function pipelineUrl(pipeline: string, workingDirectory: string): string {
  if (/[/\\]|\.[cm]?[jt]s$/.test(pipeline)) {
    const path = isAbsolute(pipeline) ? pipeline : resolve(workingDirectory, pipeline);
    if (existsSync(path)) return pathToFileURL(path).href;
    throw new WarehouseError("config.unknown_pipeline", `There is no pipeline module at ${path}.`);
  }
  const names = pipelineNames();
  if (names.includes(pipeline)) return new URL(`${pipeline}${EXTENSION}`, DIRECTORY).href;
  throw new WarehouseError(
    "config.unknown_pipeline",
    `There is no pipeline "${pipeline}"; there are ${names.join(", ")}, or give the path of a module of your own, such as ${join(".", "my-pipeline.ts")}.`,
  );
}

/** Imports a pipeline's module. Errors: `config.invalid` where its default export is none. */
export async function loadPipeline(url: string): Promise<Pipeline> {
  const module: unknown = await import(url);
  const pipeline = isRecord(module) ? module.default : undefined;
  if (isPipeline(pipeline)) return pipeline;
  throw new WarehouseError(
    "config.invalid",
    `${url} exports no pipeline: its default export must be what definePipeline(...) returns.`,
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isPipeline(value: unknown): value is Pipeline {
  return (
    isRecord(value) &&
    typeof value.name === "string" &&
    Array.isArray(value.tables) &&
    Array.isArray(value.load) &&
    isRecord(value.own)
  );
}
