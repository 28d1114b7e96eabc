/** What the exit codes mean, and what to do: for the help, and for failures as JSON. */

const ENDED =
  'Run again: the run goes on from what it has read. Where the message says that it is published, "content-warehouse deliver" delivers it.';

/** `done`: published. `retry`: again later, a few times. `stop`: not again; somebody has to look first. */
export const EXIT_CODES: readonly (readonly [
  code: number,
  then: "done" | "retry" | "stop",
  short: string,
  hint: string,
])[] = [
  [0, "done", "ok", "The run is complete and published, or limited where --limit was given."],
  [1, "stop", "internal failure", "Run again with --debug to see where, and report it."],
  [
    2,
    "stop",
    "configuration",
    'Correct the setting or argument that the message names; see "content-warehouse help configuration".',
  ],
  [
    10,
    "done",
    "published but unsettled",
    "The content changed while it was read; run again at a quieter time.",
  ],
  [20, "stop", "credentials", "Check the API token and what it may read."],
  [21, "retry", "service unavailable", "Run again later: the run goes on from what it has read."],
  [22, "stop", "protocol", "Ask the operator of the service what changed."],
  [
    23,
    "stop",
    "schema contract",
    "See what changed at the service; --contract evolve or `aliases` takes in what may change.",
  ],
  [
    24,
    "stop",
    "mass change",
    "Look why there is far less than in the run before; if that is right, run once with --accept-shrink.",
  ],
  [
    25,
    "stop",
    "audit threshold",
    "There are more findings than --fail-on or a test of the pipeline allows; the audit lists them, and the message names the test.",
  ],
  [
    26,
    "retry",
    "delivery",
    'A target or a loader did not take the run; the message says why. "content-warehouse deliver" goes on where it stopped, unless the message says that another delivery took over or that the run was rolled back.',
  ],
  [
    30,
    "retry",
    "disk",
    "Free space, or fix the disk that the message names; a run goes on from what it has read.",
  ],
  [
    31,
    "stop",
    "verification",
    'Do not trust the run that the message names: publish another, or go back with "content-warehouse runs rollback".',
  ],
  [75, "retry", "another run is under way", "Wait until it has ended."],
  [130, "retry", "SIGINT", ENDED],
  [
    137,
    "stop",
    "SIGKILL",
    "Ask for less: the database did not heed an interrupt; or the system killed it, if there is no message.",
  ],
  [143, "retry", "SIGTERM, SIGHUP, SIGQUIT", ENDED],
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
  return `Exit codes: 0 and 10 published a run; anything else published nothing, unless the message says that it did: 26 and signals can end its delivery alone. What a scheduler should do: retry, a few times and later each time; stop, which is no retry: somebody has to look first.\n\n${lines.join("")}`;
}
