/** Settings of the observers of a run; they do not change its data. */
import { resolve } from "node:path";
import { z } from "zod";
import type { OnFinish } from "./outcome.ts";

/** Not `z.custom`, which has no JSON Schema. */
export const onFinish: z.ZodType<OnFinish, OnFinish> = z
  .any()
  .refine((value) => typeof value === "function", "expected a function, which a JSON file cannot have");

/** Placeholder in `metricsFile` for the name of the instance, if several instances share a configuration. */
const INSTANCE = "{instance}";

export interface ObserveSettings {
  readonly onFinish: OnFinish | null;
  /** Absolute path. */
  readonly metricsFile: string | null;
}

/** A problem if `metricsFile` has the placeholder and the instance has no name. */
export function metricsFileFaults(metricsFile: string | undefined, instance: string | undefined): string[] {
  if (metricsFile?.includes(INSTANCE) !== true || instance !== undefined) return [];
  return [`\`metricsFile\`: set CONTENT_WAREHOUSE_INSTANCE, the name that \`${INSTANCE}\` stands for`];
}

/** `instance` replaces the placeholder; `folder` is that of the configuration, to which paths are relative. */
export function observeSettings({
  onFinish = null,
  metricsFile,
  instance = "",
  folder,
}: {
  readonly onFinish: OnFinish | undefined | null;
  readonly metricsFile: string | undefined;
  readonly instance: string | undefined;
  readonly folder: string;
}): ObserveSettings {
  const path = metricsFile?.replaceAll(INSTANCE, instance);
  return { onFinish, metricsFile: path === undefined ? null : resolve(folder, path) };
}
