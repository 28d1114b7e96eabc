/** Help and messages about wrong arguments, for screens of 80 columns. */
import type { Command, CommanderError, Help, Option } from "commander";
import { invalidConfig, type WarehouseError } from "../common/errors.ts";
import { joinWords } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";
import { paragraph } from "../show/terminal.ts";

export const HELP_WIDTH = 80;

/** Describes choices and defaults in fewer words than commander. */
export const HELP: Partial<Help> = {
  subcommandTerm: (command) => command.name(),
  argumentDescription: ({ description, defaultValue }) =>
    `${description}${defaultValue === undefined ? "" : ` (default: ${defaultValue})`}`,
  optionDescription({
    description,
    argChoices,
    defaultValue,
    defaultValueDescription = defaultValue,
  }: Option) {
    const choices = argChoices === undefined ? "" : `: ${joinWords(argChoices, "or")}`;
    const unless = defaultValueDescription === undefined ? "" : ` (default: ${defaultValueDescription})`;
    return `${description}${choices}${unless}`;
  },
};

/** The term of a list: spaces, then text up to a gap of two spaces. */
const TERM = /^( *(?:\S+(?: \S+)* {2,})?)(.*)$/;

/** Breaks lines that are too wide; a list continues below its description. */
export function wrapHelp(text: string): string {
  const lines = text.split("\n").map((line) => {
    const [, term = "", rest = line] = TERM.exec(line) ?? [];
    return line.length > HELP_WIDTH ? paragraph(term, rest, HELP_WIDTH).trimEnd() : line;
  });
  return lines.join("\n");
}

/** Name of a command with its parents: `content-warehouse runs list`. */
export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

/** A `config.invalid` of commander's message; `undefined` if commander only printed help or the version. */
export function usageError({ message }: CommanderError, command: Command): WarehouseError | undefined {
  if (!message.startsWith("error: ")) return undefined;
  const path = commandPath(command);
  const fault = printable(message.slice("error: ".length).replaceAll("\n", " "), 1000).replace(/\.?$/, ".");
  const help = fault.includes("(Did you mean ") ? "" : ` See "${path} --help".`;
  return invalidConfig(`"${path}": ${fault}${help}`);
}
