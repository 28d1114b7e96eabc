/** The kept runs before the one that a report is of: what each came to, and the run before to compare with. */
import { WarehouseError } from "../../common/errors.ts";
import { isPutAside, pastOf, previousOf } from "../../warehouse/identity.ts";
import { parseRunName } from "../../warehouse/layout.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import type { PublishedRun } from "../../warehouse/retention.ts";
import { missingTables, type ReadableRun } from "../open-run.ts";
import { listedRun } from "./runs.ts";

type ComparedRun = Pick<ReadableRun, "run" | "sequence" | "directory" | "manifest">;

export type EarlierRuns = ReturnType<typeof earlierRuns>;

/** Runs that a report lists, its own included. */
const RUNS_SHOWN = 30;

/** `published`: the runs of the warehouse, the newest first. */
export function earlierRuns(
  published: readonly PublishedRun[],
  stated: Pick<Manifest, "sequence" | "verdict" | "previousRun" | "previousSha256">,
) {
  // Of one without a manifest that can be read, nothing is told.
  const runs = published.flatMap((run): ReadableRun[] => {
    const { manifest } = run;
    return manifest instanceof WarehouseError ? [] : [{ ...run, manifest }];
  });
  const before = previousOf(stated, runs);
  const past = pastOf({ ...stated, run: "", manifest: stated }, runs);
  const shown = runs
    .filter((run) => run.sequence < stated.sequence && !isPutAside(run, past))
    // A limited run is on its own.
    .slice(0, stated.verdict === "limited" ? 0 : RUNS_SHOWN - 1);
  const isComparable = before !== undefined && missingTables(before.manifest.rows).length === 0;
  const compared: ComparedRun | undefined = isComparable ? before : undefined;
  return {
    /** Number of the run that this one goes on from; null: this is the first. */
    previous: parseRunName(stated.previousRun ?? "")?.sequence ?? null,
    /** That run; undefined: there is none, it is no longer kept, it cannot be read, or has no mapped values. */
    before: compared,
    /** The newest first. */
    listed: shown.map(({ run, manifest }) => listedRun(manifest, "", run)),
  };
}

/** Which run the figures are compared with, or why with none. */
export function comparison({ previous, before }: EarlierRuns): string {
  if (before !== undefined) return `Compared with run ${before.sequence}.`;
  if (previous === null) return "This is the first run, so there is nothing to compare it with.";
  return `Run ${previous}, the one before, is no longer kept, cannot be read or has no mapped values, so nothing is compared with it.`;
}
