import { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";
import { decodeBytes, type Encoded, parseJson } from "./decode.ts";

/** Bodies of failures are small; what is longer explains nothing. */
const MAX_BYTES = 256 * 1024;

/** The forms in which services explain themselves: `{"error": "..."}` and the members of a problem document. */
const explanation = z.looseObject({
  error: z.union([z.string(), z.looseObject({ message: z.string() })]).optional(),
  message: z.string().optional(),
  title: z.string().optional(),
  detail: z.string().optional(),
});

/**
 * The service's own words on a failure as one short clean line, or `""`: a page for people, a body that was cut or one
 * that cannot be read explains nothing, and the status decides without it.
 */
export function explanationOf(answer: Encoded): string {
  const text = readable(() => decodeBytes(answer, MAX_BYTES).toString());
  if (text === undefined) return "";
  const parsed = explanation.safeParse(readable(() => parseJson(text)));
  if (parsed.success) return printable(wordsOf(parsed.data));
  return /^text\/plain\b/i.test(answer.contentType ?? "") ? printable(text) : "";
}

function wordsOf({ error, message, title, detail }: z.infer<typeof explanation>): string {
  if (error !== undefined) return typeof error === "string" ? error : error.message;
  if (message !== undefined) return message;
  return [title, detail].filter((words) => words !== undefined).join(": ");
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof WarehouseError) return undefined;
    throw error;
  }
}
