/** The kept runs before the one that a report is of: figures of each, and the run before to compare with. */
import { join } from "node:path";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { type OutputFolder, parseRunName, type RunIdentity, runsIn } from "../../warehouse/layout.ts";
import { type Manifest, readManifest } from "../../warehouse/manifest.ts";
import { missingTables, type ReadableRun } from "../open-run.ts";

/** What a run came to, by its manifest. */
export type RunFigures = ReturnType<typeof figuresOf>;

type ComparedRun = Pick<ReadableRun, "run" | "sequence" | "directory" | "manifest">;

export type EarlierRuns = Awaited<ReturnType<typeof earlierRuns>>;

/** Runs that the chart goes back, the one of the report included. */
const RUNS_SHOWN = 30;

export async function earlierRuns(
  folder: OutputFolder,
  { sequence, previousRun }: Pick<Manifest, "sequence" | "previousRun">,
) {
  const earlier = (await runsIn(folder)).filter((run) => run.sequence < sequence);
  const shown = await manifestsOf(folder, earlier.slice(0, RUNS_SHOWN - 1));
  const previous = previousRun === null ? undefined : parseRunName(previousRun);
  const found = previous && (await previousOf(folder, previous, shown));
  return {
    /** Number of the run that was current when this one began; null: this is the first. */
    previous: previous?.sequence ?? null,
    /** That run; undefined: there is none, it is no longer kept, it cannot be read, or has no mapped values. */
    before: found !== undefined && missingTables(found.manifest.rows).length === 0 ? found : undefined,
    /** The oldest first. */
    figures: shown.toReversed().map(({ manifest }) => figuresOf(manifest)),
  };
}

/** The run of that name, or the one that an erase put in its place. */
async function previousOf(
  folder: OutputFolder,
  previous: RunIdentity,
  shown: readonly ComparedRun[],
): Promise<ComparedRun | undefined> {
  const [named] = await manifestsOf(folder, [previous]);
  return named ?? shown.find(({ manifest }) => manifest.supersedes === previous.run);
}

/** Of the runs whose manifests are there and whole. */
async function manifestsOf(folder: OutputFolder, runs: readonly RunIdentity[]): Promise<ComparedRun[]> {
  const found: ComparedRun[] = [];
  for (const { run, sequence } of runs) {
    const directory = join(folder.runs, run);
    const manifest = await readManifest(directory).catch(asWarehouseError);
    if (!(manifest instanceof WarehouseError)) found.push({ run, sequence, directory, manifest });
  }
  return found;
}

function figuresOf({ run, sequence, startedAt, verdict, items, rows, mappedValues }: Manifest) {
  return {
    run,
    sequence,
    startedAt: new Date(startedAt),
    verdict,
    loaded: items?.loaded ?? rows.content ?? 0,
    /** Null: an earlier version did not say. */
    rejected: items?.rejected ?? null,
    /** Values without an external value; null: the run has no mapped values, or an earlier version did not say. */
    unmapped: mappedValues?.unmapped ?? null,
  };
}
