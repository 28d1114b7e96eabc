/** What the exit codes mean, and what to do: for the help, and for failures as JSON. */
import { afterExit } from "../fleet/outcome.ts";

export interface ExitCode {
  readonly code: number;
  /** In a few words. */
  readonly short: string;
  readonly hint: string;
}

const ENDED =
  'Run again: the run goes on from what it has read. Where the message says that it is published, "content-warehouse deliver" delivers it.';

const TABLE: readonly ExitCode[] = [
  { code: 0, short: "ok", hint: "The run is complete and published." },
  {
    code: 1,
    short: "internal failure",
    hint: "Run again with --debug to see where, and report it.",
  },
  {
    code: 2,
    short: "configuration",
    hint: 'Correct the setting or argument that the message names; see "content-warehouse help configuration".',
  },
  {
    code: 10,
    short: "published but unsettled",
    hint: "The content changed while it was read; run again at a quieter time.",
  },
  { code: 20, short: "credentials", hint: "Check the API token and what it may read." },
  { code: 21, short: "service unavailable", hint: "Run again later: the run goes on from what it has read." },
  { code: 22, short: "protocol", hint: "Ask the operator of the service what changed." },
  {
    code: 23,
    short: "schema contract",
    hint: "See what changed at the service; --contract evolve or `aliases` takes in what may change.",
  },
  {
    code: 24,
    short: "mass change",
    hint: "Look why there is far less than in the run before; if that is right, run once with --accept-shrink.",
  },
  {
    code: 25,
    short: "audit threshold",
    hint: "There are more findings than --fail-on allows; the audit lists them.",
  },
  {
    code: 26,
    short: "delivery",
    hint: 'A target or a loader did not take the run; the message says why. "content-warehouse deliver" repeats a delivery.',
  },
  { code: 30, short: "disk", hint: "Free space, or fix the disk or folder that the message names." },
  {
    code: 31,
    short: "verification",
    hint: 'Do not trust the run that the message names: publish another, or go back with "content-warehouse runs rollback".',
  },
  { code: 75, short: "another run is under way", hint: "Wait until it has ended." },
  { code: 130, short: "SIGINT", hint: ENDED },
  { code: 143, short: "SIGTERM", hint: ENDED },
];

export function exitCodesTable(): readonly ExitCode[] {
  return TABLE;
}

export function hintFor(exitCode: number): string | null {
  return TABLE.find(({ code }) => code === exitCode)?.hint ?? null;
}

/** One line for the help of the program. */
export function exitCodesLine(): string {
  return TABLE.map(({ code, short }) => `${code} ${short}`).join(", ");
}

export function exitCodesText(): string {
  const lines = TABLE.map(
    ({ code, short, hint }) =>
      `  ${String(code).padStart(3)}  ${afterExit(code).padEnd(5)}  ${short}: ${hint}\n`,
  );
  return `Exit codes: 0 and 10 published a run; anything else published nothing, unless the
message says that it did: 26 and signals can end its delivery alone. What a
scheduler should do: retry, a few times and later each time; stop, which is no
retry: somebody has to look first.\n\n${lines.join("")}`;
}
