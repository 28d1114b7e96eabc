/** Help that fits a screen of 80 columns, whoever wrote its lines. */
import { paragraph } from "../show/terminal.ts";

export const HELP_WIDTH = 80;

const FITS = new RegExp(`^.{0,${HELP_WIDTH}}$`);
/** `  $ content-warehouse ...` */
const COMMAND = /^( *\$ )(.*)$/;
/** Spaces, and what stands before a gap of two spaces, as the terms of a list do. */
const TERM = /^( *(?:\S+(?: \S+)* {2,})?)(.*)$/;

/** Breaks lines that are too wide: sentences with all their paragraph, commands with a backslash. */
export function wrapHelp(text: string): string {
  const wrapped: string[] = [];
  let sentences: string[] = [];
  const endParagraph = () => {
    if (sentences.length > 0) wrapped.push(...paragraphLines(sentences));
    sentences = [];
  };
  for (const line of text.split("\n")) {
    if (/^\S/.test(line)) {
      sentences.push(line);
      continue;
    }
    endParagraph();
    wrapped.push(...(FITS.test(line) ? [line] : wideLines(line)));
  }
  endParagraph();
  return wrapped.join("\n");
}

/** A paragraph that fits stays as it was broken. */
function paragraphLines(lines: readonly string[]): readonly string[] {
  return lines.every((line) => FITS.test(line)) ? lines : linesOf("", lines.join(" "), HELP_WIDTH);
}

function wideLines(line: string): string[] {
  const [, prompt, command] = COMMAND.exec(line) ?? [];
  if (prompt === undefined || command === undefined) {
    const [, lead = "", rest = line] = TERM.exec(line) ?? [];
    return linesOf(lead, rest, HELP_WIDTH);
  }
  const lines = linesOf(`${prompt}`, command, HELP_WIDTH - CONTINUED.length);
  return lines.map((each, index) => (index < lines.length - 1 ? each + CONTINUED : each));
}

const CONTINUED = " \\";

function linesOf(lead: string, text: string, width: number): string[] {
  return paragraph(lead, text, width).trimEnd().split("\n");
}
