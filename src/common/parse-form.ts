/** Checks options and settings against a zod schema, and words their faults. */
import { z } from "zod";
import { invalidConfig } from "./errors.ts";
import { pluralize } from "./figures.ts";
import { didYouMean, joinWords, quoted } from "./nearest.ts";
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
  const result = schema.safeParse(given, { error: faultMessage });
  if (result.success) return { value: result.data };
  return {
    faults: result.error.issues.map(({ path, message }) => {
      const place = z.core.toDotPath(path);
      return printable(place === "" ? message : `\`${place}\`: ${message}`, 1000);
    }),
  };
}

/** Matches keys that may hold a credential. */
const CREDENTIAL = /token|password|secret|credential|authorization|api_?key/i;

/** Nouns by the names that zod has for types. */
const NOUNS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  function: "a function",
  undefined: "nothing",
  null: "null",
};

/** Says what is wrong, without the words of the validator and without the value; `undefined` leaves it to zod. */
export function faultMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "unrecognized_keys":
      return unknownKeysMessage(issue);
    case "invalid_type":
      return `expected ${nounOf(issue.expected)}, found ${nounOf(z.util.getParsedType(issue.input))}`;
    case "invalid_value":
      return `expected ${joinWords(issue.values.map(String).map(quoted), "or")}`;
    case "invalid_union":
      return Array.isArray(issue.options)
        ? `expected ${joinWords(issue.options.map(String).map(quoted), "or")}`
        : undefined;
    case "too_small":
      return `expected ${issue.inclusive === false ? "more than" : "at least"} ${sizeOf(issue.minimum, issue.origin)}`;
    case "too_big":
      return `expected ${issue.inclusive === false ? "less than" : "at most"} ${sizeOf(issue.maximum, issue.origin)}`;
    default:
      return undefined;
  }
}

function nounOf(type: string): string {
  return NOUNS[type] ?? type;
}

function sizeOf(size: number | bigint, origin: string): string {
  if (origin !== "string" && origin !== "array") return String(size);
  return pluralize(Number(size), origin === "string" ? "character" : "element");
}

/** Message for unknown keys, with the nearest known one. */
function unknownKeysMessage(issue: z.core.$ZodRawIssue<z.core.$ZodIssueUnrecognizedKeys>): string {
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
