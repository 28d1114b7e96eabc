/** Asks before something that cannot be undone. */
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { WarehouseError } from "../common/errors.ts";
import { printableText } from "../show/terminal.ts";
import type { CliEnvironment } from "./command.ts";

/** Returns after the answer `y`, `yes` or `word`. Throws `refused` after another answer, or without a terminal. */
export async function confirm(
  { input, out, err }: CliEnvironment,
  question: string,
  { refused, word }: { readonly refused: WarehouseError; readonly word?: string },
): Promise<void> {
  if (input.isTTY !== true || out.isTTY !== true) throw refused;
  err.write(printableText(`${question} [no]: `));
  const lines = createInterface({ input });
  // Input that ends gives no line.
  const [answer = ""] = await Promise.race([once(lines, "line"), once(lines, "close")]);
  lines.close();
  const given = String(answer).trim();
  if (!["y", "yes"].includes(given.toLowerCase()) && (word === undefined || given !== word)) throw refused;
}
