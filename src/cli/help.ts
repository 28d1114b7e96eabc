/** What the help of all commands shares: its width, names of commands, and the meaning of exit codes. */
import type { Command } from "commander";

export const HELP_WIDTH = 80;

/** Name of a command with its parents: `content-warehouse runs list`. */
export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
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
  [
    3,
    "stop",
    "nothing to answer",
    "A question is about what is not there, such as an item, a run or a field; see the message.",
  ],
  [10, "done", "published but unsettled", "The content changed meanwhile; run again at a quieter time."],
  [20, "stop", "credentials", "Check the API token and what it may read."],
  [21, "retry", "service unavailable", "Run again later: the run resumes from what it has read."],
  [22, "stop", "protocol", "Ask the operator of the service what changed."],
  [23, "stop", "schema contract", "Find out what changed; --contract evolve or `aliases` may accept it."],
  [24, "stop", "mass change", "Find out why there is far less; if that is right, run with --accept-shrink."],
  [25, "stop", "audit threshold", "There are more findings than --fail-on or a test of the pipeline allows."],
  [26, "retry", "delivery", `The message says why; ${DELIVER}, unless the message says otherwise.`],
  [30, "retry", "disk", "Free space or fix the disk; a run resumes from what it has read."],
  [31, "stop", "verification", 'Do not use that run: run again, or find a whole run with "verify --all".'],
  [75, "retry", "another run is under way", "Wait until it has ended."],
  [130, "retry", "SIGINT", AFTER_SIGNAL],
  [137, "retry", "SIGKILL", "`run`: run again, it resumes. `sql`: select fewer rows."],
  [143, "retry", "SIGTERM, SIGHUP, SIGQUIT", AFTER_SIGNAL],
];
