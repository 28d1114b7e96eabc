/** What the tools of the MCP server have to answer with: the program's own commands. */
import { WarehouseError } from "../common/errors.ts";

/** What a command may take before it is ended. */
export interface AnswerLimits {
  readonly maxRows: number;
  /** Of the answer's text. */
  readonly maxBytes: number;
  readonly maxSeconds: number;
}

export interface CommandAnswer {
  readonly text: string;
  /** False: the command was ended because its answer grew too long; `text` is its beginning. */
  readonly isWhole: boolean;
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

/** An answer that is of use only in full. Throws `config.invalid` where it is too long. */
export async function wholeAnswer(commands: Commands, args: readonly string[]): Promise<string> {
  const { text, isWhole } = await commands.answer(args);
  if (isWhole) return text;
  throw new WarehouseError(
    "config.invalid",
    `The answer is longer than ${commands.limits.maxBytes} bytes; narrow the question, or start "content-warehouse mcp" with --max-bytes.`,
  );
}

/** `--name=value`: a value that begins with a hyphen is no option. Nothing where it is not given. */
export function option(name: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}
