/** Settings for whoever observes a run. They decide nothing about its data. */
import { resolve } from "node:path";
import { z } from "zod";
import type { OnFinish } from "./outcome.ts";

/** No `z.custom`: that has no JSON Schema, and the settings have one. */
export const onFinish: z.ZodType<OnFinish, OnFinish> = z
  .any()
  .refine((value) => typeof value === "function", "expected a function, which a JSON file cannot have");

/** Stands for the name of the instance in `metricsFile`, for a configuration that several instances share. */
const INSTANCE = "{instance}";

export interface ObserveSettings {
  readonly onFinish: OnFinish | null;
  /** Absolute path. */
  readonly metricsFile: string | null;
}

interface Given {
  readonly onFinish: OnFinish | undefined;
  readonly metricsFile: string | undefined;
  /** Takes the place of `{instance}`. */
  readonly instance: string | undefined;
  /** Folder of the configuration; paths are relative to it. */
  readonly folder: string;
}

/** What is wrong if `metricsFile` needs the name of the instance, and none is set. */
export function metricsFileFaults(metricsFile: string | undefined, instance: string | undefined): string[] {
  if (metricsFile?.includes(INSTANCE) !== true || instance !== undefined) return [];
  return [`\`metricsFile\`: set CONTENT_WAREHOUSE_INSTANCE, the name that \`${INSTANCE}\` stands for`];
}

/** Of settings without problems. */
export function observeSettings({ onFinish, metricsFile, instance = "", folder }: Given): ObserveSettings {
  return {
    onFinish: onFinish ?? null,
    metricsFile:
      metricsFile === undefined ? null : resolve(folder, metricsFile.replaceAll(INSTANCE, instance)),
  };
}
