import type { z } from "zod";
import { printable } from "../../common/printable.ts";

/** The first thing that does not fit a schema, with its place and without data: ` at pagination.next: expected ...`. */
export function firstProblem(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return "";
  const place = issue.path.length === 0 ? "" : ` at ${printable(issue.path.join("."))}`;
  return `${place}: ${issue.message}`;
}
