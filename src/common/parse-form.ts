/** Checks options and settings against a zod schema, and words their faults. */
import { z } from "zod";
import { invalidConfig } from "./errors.ts";
import { didYouMean } from "./nearest.ts";
import { printable } from "./printable.ts";

/** Checks the options of a factory, which may come from plain JavaScript. Throws `config.invalid` with its name. */
export function parseOptions<Output>(factory: string, schema: z.ZodType<Output>, given: unknown): Output {
  const result = parseForm(schema, given);
  if ("value" in result) return result.value;
  throw invalidConfig(`${printable(factory)}: ${result.faults.join("; ")}.`);
}

/** Returns the parsed value, or a phrase for each fault. No phrase shows a value, which may be a secret. */
export function parseForm<Output>(
  schema: z.ZodType<Output>,
  given: unknown,
): { readonly value: Output } | { readonly faults: readonly string[] } {
  const result = schema.safeParse(given, { error: unknownKeysMessage });
  if (result.success) return { value: result.data };
  return {
    faults: result.error.issues.map((issue) => {
      const place = z.core.toDotPath(issue.path);
      return printable(place === "" ? faultOf(issue) : `\`${place}\`: ${faultOf(issue)}`, 1000);
    }),
  };
}

/** The first fault of a file or a response, with its path and without data: ` at pagination.next: expected ...`. */
export function firstFault({ issues: [issue] }: z.ZodError): string {
  if (issue === undefined) return "";
  const path = issue.path.length === 0 ? "" : ` at ${printable(issue.path.join("."))}`;
  return `${path}: ${faultOf(issue)}`;
}

/** The message of a fault without the words of the validator. */
function faultOf({ message }: z.core.$ZodIssue): string {
  return message
    .replace(/^(?:Invalid [a-z ]+|Too \w+)[.:] expected/i, "expected")
    .replace(/received (undefined)?/, (_, missing) => (missing ? "found nothing" : "found "));
}

/** Matches keys that may hold a credential. */
const CREDENTIAL = /token|password|secret|credential|authorization|api_?key/i;

/** Message for unknown keys, with the nearest known one; `undefined` leaves other faults to zod's messages. */
export function unknownKeysMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  const { inst } = issue;
  const known = inst instanceof z.ZodObject ? Object.keys(inst.shape).filter((key) => key !== "$schema") : [];
  const named = issue.keys.map((key) => `"${printable(key)}"${didYouMean(key, known)}`).join(", ");
  const wayOut = issue.keys.some((key) => CREDENTIAL.test(key))
    ? "; credentials come from the environment or from separate files"
    : "";
  return `Unrecognized ${issue.keys.length === 1 ? "key" : "keys"}: ${named}${wayOut}`;
}

/** Name of a target or an instance, which is also part of paths in a lake. */
export const nameOption = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "expected a name of lower-case letters, digits and hyphens, 63 at most",
  );
