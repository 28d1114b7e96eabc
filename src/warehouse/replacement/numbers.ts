/**
 * New names for runs that are replaced: the order of the runs is that of their numbers, so each gets a number above all
 * others, and keeps the instant of its old name. Runs that histories name and whose files are gone get one too, or they
 * would come before those that they came after.
 */
import { all } from "../../storage/duckdb.ts";
import { type RunKey, runNamed, withPast } from "../identity.ts";
import { nameOf, nextRun, type OutputFolder, parseRunName, type RunIdentity, runName } from "../layout.ts";
import type { Manifest } from "../manifest.ts";
import { fromTable, openTables, type PublishedFiles, sourceOf } from "../published-tables.ts";
import type { PublishedRun } from "../retention.ts";

/** A run that can be read. */
export type Replaceable = PublishedRun & { readonly manifest: Manifest };

/** Names of runs, also of those that are gone, by their old ones. */
export type NewNames = ReadonlyMap<string, string>;

export interface Numbered {
  readonly from: Replaceable;
  readonly to: string;
  /** Of the runs that its history names, and its own. */
  readonly renamed: NewNames;
}

const RUN_HISTORY = "run_history";

const hasHistory = ({ manifest }: PublishedFiles): boolean => Object.hasOwn(manifest.rows, RUN_HISTORY);

/** The runs that a run goes on from by its history, in no order, and the run before it. */
async function namedBy(from: Replaceable, temporaryDirectory: string): Promise<RunIdentity[]> {
  // A run without a history names the run before it all the same.
  const before = parseRunName(nameOf(from.manifest.previousRun ?? ""));
  const named = before === undefined ? [] : [before];
  if (!hasHistory(from)) return named;
  const source = sourceOf(from);
  const limits = { temporaryDirectory, memoryLimitMb: 224, threads: 2 };
  await using database = await openTables(source, limits);
  const runs = fromTable(source, RUN_HISTORY);
  const rows = await all(
    database.connection,
    `SELECT run FROM ${runs} UNION SELECT previous_run FROM ${runs} WHERE previous_run IS NOT NULL`,
  );
  return [...named, ...rows.flatMap(({ run }) => parseRunName(String(run)) ?? [])];
}

/** A run, and all that go on from it, the oldest first. `runs`: all of the folder, the oldest first. */
export async function withDescendants(
  run: Replaceable,
  runs: readonly Replaceable[],
  temporaryDirectory: string,
): Promise<Replaceable[]> {
  const found = [run];
  for (const each of runs.slice(runs.indexOf(run) + 1)) {
    const past = withPast(each, runs);
    const named = await namedBy(each, temporaryDirectory);
    if (named.some((other) => runNamed(other.run, found, past) !== undefined)) found.push(each);
  }
  return found;
}

/** `replaced`: all that name one of these are among them; like `runs`, which are all of the folder, the oldest first. */
export async function numberAnew(
  folder: OutputFolder,
  { replaced, runs }: { readonly replaced: readonly Replaceable[]; readonly runs: readonly Replaceable[] },
  temporaryDirectory: string,
): Promise<Numbered[]> {
  const first = replaced[0]?.sequence ?? 0;
  const gone = new Map<string, RunIdentity>();
  const meant = new Map<Replaceable, readonly (readonly [name: string, run: RunIdentity])[]>();
  for (const from of replaced) {
    const past = withPast(from, runs);
    const named = await namedBy(from, temporaryDirectory);
    const known = named.flatMap((each): [string, RunIdentity][] => {
      const run = runNamed(each.run, replaced, past) ?? goneRun(each, { gone, runs, past });
      return run === undefined ? [] : [[each.run, run]];
    });
    meant.set(from, known);
  }
  const numbered = [...replaced, ...gone.values()]
    .filter(({ sequence }) => sequence >= first)
    .toSorted((a, b) => a.sequence - b.sequence);
  const free = parseRunName(await nextRun(folder, new Date(0)))?.sequence ?? 1;
  const next = Math.max(free, (numbered.at(-1)?.sequence ?? 0) + 1);
  const names = new Map(numbered.map((run, index) => [run, runName(next + index, run.startedAt)]));
  return replaced.map((from) => {
    const to = names.get(from) ?? "";
    const renamed = [...(meant.get(from) ?? [])].flatMap(([name, run]) => {
      const now = names.get(run);
      return now === undefined ? [] : [[name, now] as const];
    });
    return { from, to, renamed: new Map([...renamed, [nameOf(from.run), to]]) };
  });
}

interface Known {
  /** By name: one run for each of those whose files are gone. */
  readonly gone: Map<string, RunIdentity>;
  readonly runs: readonly Replaceable[];
  readonly past: readonly RunKey[];
}

/** Undefined: it is kept, and not replaced. */
function goneRun(named: RunIdentity, { gone, runs, past }: Known): RunIdentity | undefined {
  if (runNamed(named.run, runs, past) !== undefined) return undefined;
  const found = gone.get(named.run) ?? named;
  gone.set(named.run, found);
  return found;
}
