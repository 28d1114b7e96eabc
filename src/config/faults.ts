/** What is wrong with a configuration: where (file, variable or option, and setting), what was expected, what was found. */
import { WarehouseError } from "../common/errors.ts";

export function invalid(sentence: string, cause?: unknown): WarehouseError {
  return new WarehouseError("config.invalid", sentence, { cause });
}

/** One sentence where one thing is wrong, else a line for each. */
export function allInvalid(sentences: readonly string[]): WarehouseError {
  const [first = "", second] = sentences;
  if (second === undefined) return invalid(first);
  const lines = sentences.map((sentence) => `\n  ${sentence}`);
  return invalid(`The configuration has ${sentences.length} faults:${lines.join("")}`);
}

export function missing(sentence: string): WarehouseError {
  return new WarehouseError("config.missing_service", sentence);
}
