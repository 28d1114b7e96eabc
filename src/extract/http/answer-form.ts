/** Answers of the service whose form must be the specification's. */
import type { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";

/** The first thing that does not fit a schema, with its place and without data: ` at pagination.next: expected ...`. */
export function firstProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return "";
  const place = issue.path.length === 0 ? "" : ` at ${printable(issue.path.join("."))}`;
  return `${place}: ${issue.message}`;
}

/** The value as its schema has it. Throws `contract.drift` with `sentence` where it does not fit. */
export function fitting<T>(schema: z.ZodType<T>, value: unknown, sentence: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new WarehouseError(
    "contract.drift",
    `${sentence}${firstProblem(result.error)}; a newer version of content-warehouse may know it.`,
  );
}
