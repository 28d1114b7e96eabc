/** The setting `targets`: targets declared in JSON, or made by a module. */
import { z } from "zod";
import { isObject } from "../common/json.ts";
import { unknownKeysMessage } from "../common/parse-form.ts";
import type { Target } from "../pipeline.ts";
import { lake, lakeOptions } from "../targets/lake/lake.ts";
import { postgres, postgresOptions } from "../targets/postgres/postgres.ts";

/** A target in JSON: the options of its factory, and a `type`. */
export const declaredTarget = z.discriminatedUnion("type", [
  lakeOptions.safeExtend({ type: z.literal("lake") }),
  postgresOptions.safeExtend({ type: z.literal("postgres") }),
]);

/** Accepts both kinds and returns a target. */
export const target: z.ZodType<Target, Target | z.input<typeof declaredTarget>> = z
  .any()
  .transform((value, context) => {
    if (isTarget(value)) return value;
    const declared = declaredTarget.safeParse(value, { error: unknownKeysMessage });
    if (declared.success) return createTarget(declared.data);
    for (const issue of declared.error.issues) context.issues.push({ ...issue, input: value });
    return z.NEVER;
  });

function isTarget(value: unknown): value is Target {
  if (!isObject(value)) return false;
  const { name, last, stage } = value;
  return typeof name === "string" && typeof last === "function" && typeof stage === "function";
}

function createTarget(declared: z.output<typeof declaredTarget>): Target {
  if (declared.type === "postgres") {
    const { type: _type, ...options } = declared;
    return postgres(options);
  }
  const { type: _type, ...options } = declared;
  return lake(options);
}
