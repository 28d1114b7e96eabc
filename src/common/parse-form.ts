/** Options and settings that people write, checked by a schema: zod says what is wrong with them. */
import { z } from "zod";
import { WarehouseError } from "./errors.ts";
import { didYouMean } from "./nearest.ts";
import { printable } from "./printable.ts";

/** Options of a factory, as a module in plain JavaScript may give them. Throws `config.invalid` with the factory's name. */
export function parseOptions<Output>(factory: string, schema: z.ZodType<Output>, given: unknown): Output {
  const result = parseForm(schema, given);
  if ("value" in result) return result.value;
  throw optionsError(factory, result.faults);
}

export function optionsError(factory: string, faults: readonly string[]): WarehouseError {
  return new WarehouseError("config.invalid", `${printable(factory)}: ${faults.join("; ")}.`);
}

/** A value in its form, or a phrase for each fault. None shows a value, which may be a secret. */
export function parseForm<Output>(
  schema: z.ZodType<Output>,
  given: unknown,
): { readonly value: Output } | { readonly faults: readonly string[] } {
  const result = schema.safeParse(given, { error: unknownKeysMessage });
  if (result.success) return { value: result.data };
  return {
    faults: result.error.issues.map(({ path, message }) => {
      const place = z.core.toDotPath(path);
      return printable(place === "" ? message : `\`${place}\`: ${message}`, 1000);
    }),
  };
}

/** A key that is called as a credential is may hold one. */
const CREDENTIAL = /token|password|secret|credential|authorization|api_?key/i;

/** Names the nearest key beside one that is unknown; of all else zod's own words do. */
export function unknownKeysMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  const { inst } = issue;
  const known = inst instanceof z.ZodObject ? Object.keys(inst.shape).filter((key) => key !== "$schema") : [];
  const named = issue.keys.map((key) => `"${printable(key)}"${didYouMean(key, known)}`).join(", ");
  const wayOut = issue.keys.some((key) => CREDENTIAL.test(key))
    ? "; credentials come from the environment, or from files of their own"
    : "";
  return `Unrecognized ${issue.keys.length === 1 ? "key" : "keys"}: ${named}${wayOut}`;
}

/** Name of a target or of an instance, which is also part of paths in a lake. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const nameOption = z
  .string()
  .regex(NAME, "expected a name of lower-case letters, digits and hyphens, 63 at most");
