/** How tools answer: with what the program's own commands print. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";

/** What a command may take before it is ended. */
export interface AnswerLimits {
  readonly maxRows: number;
  /** Of the answer's text. */
  readonly maxBytes: number;
  readonly maxSeconds: number;
}

/** The program's commands, one at a time. */
export interface Commands {
  readonly limits: AnswerLimits;
  /**
   * What a command prints into a pipe; `maxLines`: it is ended after so many. Throws a WarehouseError for whatever the
   * command ends with, and where it takes too long.
   */
  answer(args: readonly string[], maxLines?: number): Promise<CommandAnswer>;
}

export interface CommandAnswer {
  readonly text: string;
  /** False: the command was ended because its answer grew too long; `text` is its beginning. */
  readonly isWhole: boolean;
}

/** An answer that is of use only in full. Throws `config.invalid` where it is too long. */
export async function wholeAnswer({ answer, limits }: Commands, args: readonly string[]): Promise<string> {
  const { text, isWhole } = await answer(args);
  if (isWhole) return text;
  throw new WarehouseError(
    "config.invalid",
    `The answer is longer than ${limits.maxBytes} bytes; narrow the question, or start "content-warehouse mcp" with --max-bytes.`,
  );
}

/** What the command line calls otherwise than the tools do. */
const NAMES: readonly (readonly [atCommandLine: RegExp, here: string])[] = [
  [/ with "sql"/g, " with `query`"],
  [/"--as-of (\d+)"/g, "`as_of` $1"],
  [/, with --as-of\b/g, ", with `as_of`"],
  [/; "runs list" shows them| "runs list" shows those that exist\./g, ""],
];

/** The answer as text; a failure is an error of the tool, with the command line's sentence in the words of the tools. */
export async function textResult(answer: Promise<string>): Promise<CallToolResult> {
  try {
    return { content: [{ type: "text", text: await answer }] };
  } catch (thrown) {
    const { message } = asWarehouseError(thrown);
    const text = NAMES.reduce(
      (sentence, [atCommandLine, here]) => sentence.replace(atCommandLine, here),
      message,
    );
    return { content: [{ type: "text", text }], isError: true };
  }
}
