/** Finds the two runs to compare, and the run whose history knows both. */
import { invalidConfig, noAnswer, WarehouseError } from "../../common/errors.ts";
import { joinWords, nearestSentence } from "../../common/nearest.ts";
import type { Verdict } from "../../common/verdict.ts";
import { isReplaced, previousOf, sameInstance, withAncestors } from "../../warehouse/identity.ts";
import { nameOf, type OutputFolder } from "../../warehouse/layout.ts";
import { listRuns, runCalled } from "../../warehouse/retention.ts";
import { findReadableRun, openRun, type ReadableRun, type RunSelection } from "../open-run.ts";
import { isHistoryIn, readRunHistory } from "../questions/run-history.ts";

interface PairedRun {
  readonly run: string;
  readonly sequence: number;
  readonly verdict: Verdict;
}
type Wanted = readonly [before: string, after: string];

export interface RunPair {
  readonly before: PairedRun;
  readonly after: PairedRun;
}

export interface PairSelection extends RunSelection {
  readonly pair: RunPair;
}

/**
 * Finds two runs by name, number, `current` or `previous`, and a run whose history knows both. Throws
 * `answer.nothing` if there is none, `config.invalid` if the first run is the later one or the current run is
 * limited, and the error of a run that cannot be read.
 */
export async function selectValueRuns(
  folder: OutputFolder,
  wanted: Wanted,
  temporaryDirectory: string,
): Promise<PairSelection> {
  if (wanted.includes("current") || wanted.includes("previous"))
    assertHasPast(await findReadableRun(folder, "current"));
  const runs = await listRuns(folder);
  const current = runs.find((each) => each.current);
  const past = withAncestors(current);
  const isAside = wanted.some((name) => runs.some((each) => each.run === name && isReplaced(each, past)));
  const everyone: PairedRun[] = runs.flatMap(({ run, sequence, manifest }) =>
    manifest instanceof WarehouseError ? [] : [{ run, sequence, verdict: manifest.verdict }],
  );
  let previous: string | null | undefined;
  const resolve = (name: string, among: readonly PairedRun[]) => {
    const named = name === "previous" ? previous : name === "current" ? current && nameOf(current.run) : name;
    return runCalled<PairedRun>(named ?? "", among);
  };
  let unreadable: WarehouseError | undefined;
  // The current run first, then the newest.
  for (const each of runs.toSorted((a, b) => Number(b.current) - Number(a.current))) {
    if (isAside || each.manifest instanceof WarehouseError || !isHistoryIn(each.manifest)) continue;
    try {
      await using opened = await openRun({ folder, wanted: each.run, temporaryDirectory });
      const known = await readRunHistory(opened.connection);
      if (each.current) previous = known.find(({ run }) => run === nameOf(each.run))?.previousRun;
      const [before, after] = wanted.map((name) => resolve(name, known));
      if (before !== undefined && after !== undefined)
        return { pair: orderPair(before, after), wanted: each.run };
      everyone.push(...known);
    } catch (thrown) {
      if (!(thrown instanceof WarehouseError) || thrown.code !== "verify.failed") throw thrown;
      unreadable ??= thrown;
    }
  }
  const find = (name: string): PairedRun => {
    const manifest = runCalled(name, runs)?.manifest;
    if (manifest instanceof WarehouseError) throw manifest;
    const found = resolve(name, everyone);
    if (found !== undefined) return found;
    if (name === "previous") throw unreadable ?? noEarlierRun(folder, runs.length);
    const names = ["current", "previous", ...everyone.flatMap((each) => [each.run, String(each.sequence)])];
    const near = nearestSentence(name, names, "The table run_history lists all known runs.");
    throw unreadable ?? noAnswer(`There is no run "${name}" in ${folder.root} or its history.${near}`);
  };
  const { before, after } = orderPair(find(wanted[0]), find(wanted[1]));
  throw noAnswer(
    `No history knows both ${before.run} and ${after.run}; "diff ${before.sequence} ${after.sequence} --content --table content_mapped_values" compares their mapped values row by row, if both are kept.`,
  );
}

/** What an unsettled run means for a comparison; false if no run is unsettled. */
export function unsettledSentence(runs: readonly PairedRun[], meaning: string): string | false {
  const names = runs.filter(({ verdict }) => verdict === "unsettled").map(({ run }) => run);
  const are = names.length === 1 ? `Run ${names[0]} is` : `${joinWords(names, "and")} are`;
  return names.length > 0 && `${are} unsettled: ${meaning}.`;
}

/** Throws `config.invalid` for a limited run. */
function assertHasPast({ run, manifest }: ReadableRun): void {
  if (manifest.verdict !== "limited") return;
  throw invalidConfig(
    `The run ${run} is limited to its first items and has no history, so there is nothing to compare it with; name the warehouse of full runs with --warehouse.`,
  );
}

function noEarlierRun({ root }: OutputFolder, runs: number): WarehouseError {
  return noAnswer(
    runs === 1
      ? `A comparison needs two runs, and ${root} has only one; "content-warehouse run nightly" makes another.`
      : `The current run of ${root} is the first of its history, or has none, so there is no earlier run; name two runs from "content-warehouse runs list".`,
  );
}

function orderPair(before: PairedRun, after: PairedRun): RunPair {
  const named = ({ run, sequence, verdict }: PairedRun): PairedRun => ({ run, sequence, verdict });
  if (before.sequence <= after.sequence) return { before: named(before), after: named(after) };
  throw invalidConfig(
    `Run ${before.run} is later than ${after.run}; causes go forward in time, so name the earlier one first: ${after.sequence}, then ${before.sequence}.`,
  );
}

/**
 * Finds two kept runs of one instance by name, number, `current` or `previous`. Throws `answer.nothing` for a
 * run that does not exist or is not kept, `config.invalid` if the first is the later one or the instances
 * differ.
 */
export async function selectContentRuns(folder: OutputFolder, wanted: Wanted): Promise<PairSelection> {
  const [before, after] = [await findKeptRun(folder, wanted[0]), await findKeptRun(folder, wanted[1])];
  assertHasPast(after);
  const of = ({ run, sequence, manifest: { verdict } }: ReadableRun) => ({ run, sequence, verdict });
  const pair = orderPair(of(before), of(after));
  if (!sameInstance(before.manifest.instance, after.manifest.instance)) {
    const named = ({ run, manifest: { instance } }: ReadableRun) =>
      `${run} of ${instance.id ?? instance.origin}`;
    throw invalidConfig(
      `The runs are from two instances, ${named(before)} and ${named(after)}; compare runs of one instance.`,
    );
  }
  return { pair, wanted: after.run, beside: before.run, anyPipeline: true, limits: CONTENT_LIMITS };
}

/** The texts of a range, of both runs, need memory besides the buffers; a second thread would double that. */
const CONTENT_LIMITS = { memoryLimitMb: 128, threads: 1 };

async function findKeptRun(folder: OutputFolder, wanted: string): Promise<ReadableRun> {
  if (wanted !== "previous") return findReadableRun(folder, wanted);
  const { manifest } = await findReadableRun(folder, "current");
  const runs = await listRuns(folder);
  const previous = previousOf(manifest, runs)?.run ?? manifest.previousRun;
  if (previous === null) throw noEarlierRun(folder, runs.length);
  return findReadableRun(folder, previous);
}
