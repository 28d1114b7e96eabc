/** Whether somebody wants what cannot be undone. */
import type { WarehouseError } from "../common/errors.ts";
import type { CliEnvironment } from "./command.ts";
import { Prompt } from "./init/prompt.ts";

/** `y` and `yes` agree, and `word` does. Throws `refused` where nobody agrees, or where nobody is at a terminal. */
export async function confirm(
  { input, out, err }: CliEnvironment,
  question: string,
  { refused, word }: { readonly refused: WarehouseError; readonly word?: string },
): Promise<void> {
  if (input.isTTY !== true || out.isTTY !== true) throw refused;
  using prompt = new Prompt(input, err);
  const answer = await prompt.ask(question, "no", (text) => text.toLowerCase());
  if (!["y", "yes", word].includes(answer)) throw refused;
}
