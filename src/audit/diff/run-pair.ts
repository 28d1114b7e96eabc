/** Finds the two runs to compare, and the run whose history knows both. */
import { invalidConfig, WarehouseError } from "../../common/errors.ts";
import { joinWords, nearestSentence } from "../../common/nearest.ts";
import { isReplaced, previousOf, sameInstance, withAncestors } from "../../warehouse/identity.ts";
import { nameOf, type OutputFolder } from "../../warehouse/layout.ts";
import { listRuns, type PublishedRun, runCalled } from "../../warehouse/retention.ts";
import { findReadableRun, type ReadableRun, type RunSelection } from "../open-run.ts";
import { hasHistory, openRunHistory, type RunHistoryRow } from "../questions/run-history.ts";
import { notFound } from "../scope.ts";

type PairedRun = Pick<RunHistoryRow, "run" | "sequence" | "verdict">;

export type RunPair = ReturnType<typeof orderPair>;

/**
 * Finds two runs by name, number, `current` or `previous`. Throws `config.not_found` for a run that nothing
 * knows or whose files are gone, `config.invalid` if the first run is the later one or a run is limited, and the
 * error of a run that cannot be read.
 */
export async function findRunPair(
  folder: OutputFolder,
  wanted: readonly [before: string, after: string],
  temporaryDirectory: string,
): Promise<RunPair> {
  if (wanted.includes("current") || wanted.includes("previous")) await findReadableRun(folder, "current");
  const runs = await listRuns(folder);
  const current = runs.find((each) => each.current);
  assertHasPast(current);
  const everyone: PairedRun[] = runs.flatMap(({ run, sequence, manifest }) =>
    manifest instanceof WarehouseError ? [] : [{ run, sequence, verdict: manifest.verdict }],
  );
  const kept = new Set(everyone.map(({ run }) => run));
  let previous: string | null | undefined;
  const resolve = (name: string, among: readonly PairedRun[]) => {
    const wanted = name === "previous" ? previous : current && nameOf(current.run);
    if (name === "current" || name === "previous") return among.find(({ run }) => run === wanted);
    const called = runCalled<Pick<PairedRun, "run" | "sequence">>(name, [...among, ...runs])?.run;
    return among.find(({ run }) => run === called);
  };
  let unreadable = current?.manifest instanceof WarehouseError ? current.manifest : undefined;
  const past = withAncestors(current, runs);
  const isAside = wanted.some((name) => runs.some((each) => each.run === name && isReplaced(each, past)));
  // The current run first, then the newest.
  for (const each of runs
    .toSorted((a, b) => Number(b.current) - Number(a.current))
    .filter((each) => !isAside && hasHistory(each))) {
    try {
      const knows = await openRunHistory(folder, each.run, temporaryDirectory);
      if (each.current) previous = knows.find(({ run }) => run === nameOf(each.run))?.previousRun;
      const [before, after] = wanted.map((name) => resolve(name, knows));
      if (before !== undefined && after !== undefined) return orderPair(before, after, each.run);
      everyone.push(...knows);
    } catch (thrown) {
      if (!(thrown instanceof WarehouseError) || thrown.code !== "verify.failed") throw thrown;
      unreadable ??= thrown;
    }
  }
  const find = (name: string): PairedRun => {
    const found = resolve(name, everyone);
    if (found !== undefined) return found;
    throw unreadableRun(name, runs) ?? unreadable ?? unknownRun(name, folder, everyone);
  };
  const [before, after] = [find(wanted[0]), find(wanted[1])];
  for (const { run } of [before, after]) {
    if (kept.has(run)) continue;
    const missing = `No history knows both ${before.run} and ${after.run}, and the files of ${run} are gone, so they cannot be compared.`;
    throw unreadableRun(run, runs) ?? notFound(missing);
  }
  return orderPair(before, after, undefined);
}

/** What an unsettled run means for a comparison; false if no run is unsettled. */
export function unsettledSentence(runs: readonly PairedRun[], meaning: string): string | false {
  const names = runs.filter(({ verdict }) => verdict === "unsettled").map(({ run }) => run);
  const are = names.length === 1 ? `Run ${names[0]} is` : `${joinWords(names, "and")} are`;
  return names.length > 0 && `${are} unsettled: ${meaning}.`;
}

/** Throws `config.invalid` for a limited run. */
function assertHasPast(current: PublishedRun | undefined): void {
  if (current === undefined || current.manifest instanceof WarehouseError) return;
  if (current.manifest.verdict !== "limited") return;
  throw invalidConfig(
    `The run ${current.run} is limited to its first items and has no history, so there is nothing to compare it with; name the warehouse of full runs with --warehouse.`,
  );
}

/** Error of a run that exists and cannot be read. */
function unreadableRun(wanted: string, runs: readonly PublishedRun[]): WarehouseError | undefined {
  const found = runCalled(wanted, runs);
  return found?.manifest instanceof WarehouseError ? found.manifest : undefined;
}

function unknownRun(wanted: string, { root }: OutputFolder, known: readonly PairedRun[]): WarehouseError {
  if (wanted === "previous") {
    return notFound(
      new Set(known.map(({ run }) => run)).size === 1
        ? `A comparison needs two runs, and ${root} has only one; "content-warehouse run nightly" makes another.`
        : `The current run of ${root} is the first of its history, or has none, so there is no earlier run; name two runs from "content-warehouse runs list".`,
    );
  }
  const names = ["current", "previous", ...known.flatMap(({ run, sequence }) => [run, String(sequence)])];
  const newest = known[0] === undefined ? "Nothing was published yet." : `The newest is ${known[0].run}.`;
  return notFound(
    `There is no run "${wanted}" in ${root} or its history.${nearestSentence(wanted, names, newest)} The table run_history lists all known runs.`,
  );
}

/** `basis`: the run whose history knows both; undefined if no history does and both runs are kept. */
function orderPair(before: PairedRun, after: PairedRun, basis: string | undefined) {
  const named = ({ run, sequence, verdict }: PairedRun): PairedRun => ({ run, sequence, verdict });
  if (before.sequence <= after.sequence) return { before: named(before), after: named(after), basis };
  throw invalidConfig(
    `Run ${before.run} is later than ${after.run}; causes go forward in time, so name the earlier one first: ${after.sequence}, then ${before.sequence}.`,
  );
}

export interface ContentSelection extends RunSelection {
  readonly pair: RunPair;
  readonly before: ReadableRun;
}

/**
 * Finds two kept runs of one instance by name, number, `current` or `previous`. Throws `config.not_found` for a
 * run that does not exist or is not kept, `config.invalid` if the first is the later one or the instances
 * differ.
 */
export async function selectContentRuns(
  folder: OutputFolder,
  wanted: readonly [before: string, after: string],
  temporaryDirectory: string,
): Promise<ContentSelection> {
  const names = [await namedRun(folder, wanted[0]), await namedRun(folder, wanted[1])] as const;
  const pair = await findRunPair(folder, names, temporaryDirectory);
  const [before, after] = [
    await findReadableRun(folder, pair.before.run),
    await findReadableRun(folder, pair.after.run),
  ];
  assertOneInstance(before, after);
  return { pair, before, wanted: after.run, beside: before.run, anyPipeline: true, limits: CONTENT_LIMITS };
}

/** The texts of a range, of both runs, need memory besides the buffers; a second thread would double that. */
const CONTENT_LIMITS = { memoryLimitMb: 128, threads: 1 };

/** Resolves `previous` also if no history names it. */
async function namedRun(folder: OutputFolder, wanted: string): Promise<string> {
  if (wanted !== "previous") return wanted;
  const { manifest } = await findReadableRun(folder, "current");
  return previousOf(manifest, await listRuns(folder))?.run ?? manifest.previousRun ?? wanted;
}

function assertOneInstance(before: ReadableRun, after: ReadableRun): void {
  const [one, other] = [before.manifest.instance, after.manifest.instance];
  if (sameInstance(one, other)) return;
  const named = (run: ReadableRun) =>
    `${run.run} of ${run.manifest.instance.id ?? run.manifest.instance.origin}`;
  throw invalidConfig(
    `The runs are from two instances, ${named(before)} and ${named(after)}; compare runs of one instance.`,
  );
}
