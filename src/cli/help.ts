/** Help that fits a screen of 80 columns. */
import type { Help, Option } from "commander";
import { joinWords } from "../common/nearest.ts";
import { paragraph } from "../show/terminal.ts";

export const HELP_WIDTH = 80;

/** Of each command: what an option may be, and is without it, in few words. */
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

/** Spaces, and what stands before a gap of two spaces, as the terms of a list do. */
const TERM = /^( *(?:\S+(?: \S+)* {2,})?)(.*)$/;

/** Breaks lines of a list that are too wide, under their terms. */
export function wrapHelp(text: string): string {
  const lines = text.split("\n").map((line) => {
    const [, term = "", rest = line] = TERM.exec(line) ?? [];
    return line.length > HELP_WIDTH ? paragraph(term, rest, HELP_WIDTH).trimEnd() : line;
  });
  return lines.join("\n");
}
