/** Help on screens of 80 columns, messages about wrong arguments, and the meaning of exit codes. */
import type { Command, CommanderError } from "commander";
import { invalidConfig, type WarehouseError } from "../common/errors.ts";
import { printable } from "../common/printable.ts";
import { paragraph } from "../show/terminal.ts";

export const HELP_WIDTH = 80;

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

const DELIVER = '"content-warehouse deliver" continues';
const AFTER_SIGNAL = `Run again: the run resumes. If it is published, ${DELIVER}.`;

/**
 * `then` says what a scheduler should do. `done`: nothing, a run is published. `retry`: try again later, a few times.
 * `stop`: do not try again before somebody has looked.
 */
export const EXIT_CODES: readonly (readonly [
  code: number,
  then: "done" | "retry" | "stop",
  short: string,
  hint: string,
])[] = [
  [0, "done", "ok", "The run is complete and published, or limited if --limit was given."],
  [1, "stop", "internal failure", "Run again with --debug to see where it failed, and report it."],
  [2, "stop", "configuration", 'Correct what the message names; see "content-warehouse help configuration".'],
  [10, "done", "published but unsettled", "The content changed meanwhile; run again at a quieter time."],
  [20, "stop", "credentials", "Check the API token and what it may read."],
  [21, "retry", "service unavailable", "Run again later: the run resumes from what it has read."],
  [22, "stop", "protocol", "Ask the operator of the service what changed."],
  [23, "stop", "schema contract", "Find out what changed; --contract evolve or `aliases` may accept it."],
  [24, "stop", "mass change", "Find out why there is far less; if that is right, run with --accept-shrink."],
  [25, "stop", "audit threshold", "There are more findings than --fail-on or a test of the pipeline allows."],
  [26, "retry", "delivery", `The message says why; ${DELIVER}, unless the message says otherwise.`],
  [30, "retry", "disk", "Free space or fix the disk; a run resumes from what it has read."],
  [31, "stop", "verification", 'Do not use that run: publish another, or go back with "runs rollback".'],
  [75, "retry", "another run is under way", "Wait until it has ended."],
  [130, "retry", "SIGINT", AFTER_SIGNAL],
  [137, "stop", "SIGKILL", "Select fewer rows. Without a message, the system killed the process."],
  [143, "retry", "SIGTERM, SIGHUP, SIGQUIT", AFTER_SIGNAL],
];

export function hintFor(exitCode: number): string | null {
  const [, , , hint = null] = EXIT_CODES.find(([code]) => code === exitCode) ?? [];
  return hint;
}

export function exitCodesLine(): string {
  return EXIT_CODES.map(([code, , short]) => `${code} ${short}`).join(", ");
}

export function exitCodesText(): string {
  const lines = EXIT_CODES.map(
    ([code, then, short, hint]) => `  ${String(code).padStart(3)}  ${then.padEnd(5)}  ${short}: ${hint}\n`,
  );
  return `Exit codes: 0 and 10 mean that a run was published. With any other code nothing was published, unless the message says so: code 26 and signals may concern only the delivery. The second column says what a scheduler should do: "retry" a few times, each time later; "stop" until somebody has looked.\n\n${lines.join("")}`;
}
