/** The two runs that are compared, and what tells of both: a history that knows them, else their own ledgers. */
import { WarehouseError } from "../../common/errors.ts";
import { suggestion } from "../../common/nearest.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import { findRun, isCalled, listRuns, type PublishedRun } from "../../warehouse/retention.ts";
import { hasHistory, type KnownRun, readRunHistory } from "./run-history.ts";

/** A run that a history or the warehouse knows. */
type ComparedRun = Pick<KnownRun, "run" | "sequence" | "verdict">;

export interface RunPair {
  readonly before: ComparedRun;
  readonly after: ComparedRun;
  /** The run whose history knows both; undefined: none does, and both are there themselves. */
  readonly basis: string | undefined;
}

type Histories = readonly { readonly run: string; readonly knows: readonly KnownRun[] }[];

/**
 * Finds two runs by name, number, `current`, or `previous`, the one whose history the current run carried on. Throws
 * `config.not_found` for one that nothing knows, or that only its name is left of, `config.invalid` where the first
 * is the later one, and what is wrong with a run that is there and cannot be read.
 */
export async function findPair(
  folder: OutputFolder,
  wanted: readonly [before: string, after: string],
  temporaryDirectory: string,
): Promise<RunPair> {
  if (wanted.includes("current") || wanted.includes("previous")) {
    const { manifest } = await findRun(folder, "current");
    if (manifest instanceof WarehouseError) throw manifest;
  }
  const runs = await listRuns(folder);
  const kept = runs.flatMap(({ run, sequence, manifest }) =>
    manifest instanceof WarehouseError ? [] : [{ run, sequence, verdict: manifest.verdict }],
  );
  const histories: Histories[number][] = [];
  let unreadable: WarehouseError | undefined;
  // The one that readers see, then the newest first.
  for (const each of runs.toSorted((a, b) => Number(b.current) - Number(a.current))) {
    if (each.current && each.manifest instanceof WarehouseError) unreadable = each.manifest;
    if (!hasHistory(each)) continue;
    try {
      const knows = await readRunHistory(folder, each.run, temporaryDirectory);
      histories.push({ run: each.run, knows });
      const [a, b] = wanted.map((name) => resolve(name, runs, histories, knows));
      if (a !== undefined && b !== undefined) return ordered({ before: a, after: b, basis: each.run });
    } catch (thrown) {
      if (!(thrown instanceof WarehouseError) || thrown.code !== "verify.failed") throw thrown;
      unreadable ??= thrown;
    }
  }
  const everyone = [...kept, ...histories.flatMap(({ knows }) => knows)];
  const [before, after] = wanted.map((name) => {
    const found = resolve(name, runs, histories, everyone);
    if (found === undefined)
      throw unreadableRun(name, runs) ?? unreadable ?? unknownRun(name, folder, everyone);
    return found;
  });
  if (before === undefined || after === undefined) throw new TypeError("two runs are compared");
  for (const { run } of [before, after]) {
    if (kept.some((each) => each.run === run)) continue;
    const why = unreadableRun(run, runs);
    if (why !== undefined) throw why;
    throw new WarehouseError(
      "config.not_found",
      `No history knows both ${before.run} and ${after.run}, and the files of ${run} are gone, so that the two cannot be compared.`,
    );
  }
  return ordered({ before, after, basis: undefined });
}

/** Why a run of this name or number cannot be read; undefined: it can, or it is not there. */
function unreadableRun(wanted: string, runs: readonly PublishedRun[]): WarehouseError | undefined {
  const found = runs.find((each) => isCalled(wanted, each));
  return found?.manifest instanceof WarehouseError ? found.manifest : undefined;
}

function resolve(
  wanted: string,
  runs: readonly PublishedRun[],
  histories: Histories,
  among: readonly ComparedRun[],
): ComparedRun | undefined {
  const current = runs.find((each) => each.current)?.run;
  if (wanted === "current") return among.find(({ run }) => run === current);
  if (wanted === "previous") {
    const own = histories.find(({ run }) => run === current)?.knows.find(({ run }) => run === current);
    return own === undefined ? undefined : among.find(({ run }) => run === own.previousRun);
  }
  return among.find((each) => isCalled(wanted, each));
}

function unknownRun(wanted: string, { root }: OutputFolder, known: readonly ComparedRun[]): WarehouseError {
  if (wanted === "previous") {
    if (new Set(known.map(({ run }) => run)).size === 1) {
      return new WarehouseError(
        "config.not_found",
        `There is one run alone in ${root}, and nothing to compare it with yet: run again.`,
      );
    }
    return new WarehouseError(
      "config.not_found",
      `The current run of ${root} carried on the history of none, so that there is no previous run; name two runs.`,
    );
  }
  const names = ["current", "previous", ...known.flatMap(({ run, sequence }) => [run, String(sequence)])];
  const newest = known[0] === undefined ? "Nothing was published yet." : `The newest is ${known[0].run}.`;
  return new WarehouseError(
    "config.not_found",
    `Neither ${root} nor its history knows a run "${wanted}".${suggestion(wanted, names, newest)} The table run_history lists those that are known.`,
  );
}

function ordered(pair: RunPair): RunPair {
  const { before, after } = pair;
  if (before.sequence <= after.sequence) {
    return { before: named(before), after: named(after), basis: pair.basis };
  }
  throw new WarehouseError(
    "config.invalid",
    `Run ${before.run} is later than ${after.run}; causes go forward in time, so name the earlier one first: diff ${after.sequence} ${before.sequence}.`,
  );
}

function named({ run, sequence, verdict }: ComparedRun): ComparedRun {
  return { run, sequence, verdict };
}
