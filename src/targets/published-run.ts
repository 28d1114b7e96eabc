/** Reads published runs for targets. Neither the pipeline nor the service is needed. */
import { join } from "node:path";
import { WarehouseError } from "../common/errors.ts";
import { openLoaderTable } from "../load/loader-tables.ts";
import type { DeliveredRun, LoadTable } from "../pipeline.ts";
import { declarationsIn } from "../storage/parquet-sql.ts";
import { ancestorsOf, type RunAncestry, type RunKey } from "../warehouse/identity.ts";
import type { OutputFolder } from "../warehouse/layout.ts";
import { MANIFEST_FILE, type Manifest, readManifestFile } from "../warehouse/manifest.ts";
import {
  openTables,
  type PublishedFiles,
  parquetFilesOf,
  tablesSourceOf,
} from "../warehouse/published-tables.ts";
import { listRuns, type PublishedRun, prunedRuns } from "../warehouse/retention.ts";
import { digestFile } from "../warehouse/verify.ts";

/** The run that readers of a warehouse folder see. */
export interface CurrentRun extends PublishedRun, RunAncestry {
  readonly sha256: string | undefined;
  /** All runs of the folder. */
  readonly kept: readonly PublishedRun[];
}

/** `undefined` if nothing is published in the folder, or there is no folder. */
export async function readCurrentRun(folder: OutputFolder): Promise<CurrentRun | undefined> {
  const { runs, pruned } = await readFolderRuns(folder);
  const found = runs.find(({ current }) => current);
  return found && { ...found, ...ancestryOf(found, runs, pruned), kept: runs };
}

/** `pruned`: runs that were rolled back, and removed since. */
function ancestryOf(
  run: PublishedRun,
  runs: readonly PublishedRun[],
  pruned: readonly RunKey[],
): RunAncestry {
  const known = [...runs, ...pruned];
  return { run: run.run, sequence: run.sequence, sha256: run.sha256, past: ancestorsOf(run.manifest), known };
}

/** All runs of a folder, and the rolled-back ones that were pruned. */
export async function readFolderRuns(
  folder: OutputFolder,
): Promise<{ readonly runs: readonly PublishedRun[]; readonly pruned: readonly RunKey[] }> {
  return { runs: await listRuns(folder), pruned: await prunedRuns(folder) };
}

/**
 * A published run for a target. `runs`, `pruned`: those of its folder. `temporaryDirectory`: for spilled blocks; it must
 * exist until the delivery has ended. Throws `config.invalid` if the run is limited, or has no Parquet files with column
 * descriptions, and `verify.failed` if its manifest cannot be read.
 */
export async function readDeliveredRun(
  run: PublishedRun,
  options: Pick<DeliveredRun, "signal" | "onProgress"> & {
    readonly runs: readonly PublishedRun[];
    readonly pruned?: readonly RunKey[];
    readonly temporaryDirectory: string;
    readonly isRollback?: boolean;
  },
): Promise<DeliveredRun> {
  const { directory, manifest } = run;
  if (manifest instanceof WarehouseError) throw manifest;
  if (!manifest.loaders.includes("parquet"))
    throw undeliverable(
      `The run ${manifest.run} has no Parquet files, which targets are made from; add parquet() to the loaders of the pipeline ${manifest.asked.pipeline.name} and run it again.`,
    );
  const { verdict } = manifest;
  if (verdict === "limited")
    throw undeliverable(
      `The run ${manifest.run} is limited to its first items, and such a run is never delivered; deliver one of another warehouse.`,
    );
  const { sha256 } = await readManifestFile(directory);
  const { past, known } = ancestryOf(run, options.runs, options.pruned ?? []);
  return {
    run: manifest.run,
    sequence: manifest.sequence,
    pipeline: manifest.asked.pipeline.name,
    verdict,
    instance: manifest.instance,
    directory,
    files: manifest.files,
    manifest: { path: MANIFEST_FILE, ...(await digestFile(join(directory, MANIFEST_FILE))) },
    sha256,
    past: [...past],
    known: known.map((each) => ({ run: each.run, sequence: each.sequence, sha256: each.sha256 })),
    isRollback: options.isRollback ?? false,
    tables: await readRunTables({ directory, manifest }, options.temporaryDirectory),
    signal: options.signal,
    onProgress: options.onProgress,
  };
}

/** Tables of a run, as their Parquet files describe them. Throws `config.invalid` if they do not. */
export async function readRunTables(
  published: PublishedFiles & { readonly manifest: Manifest },
  temporaryDirectory: string,
): Promise<readonly LoadTable[]> {
  const { manifest } = published;
  const tables = Object.entries(manifest.rows).map(([name, rows]) => {
    return { name, rows, files: parquetFilesOf(published, name) };
  });
  const limits = { temporaryDirectory, memoryLimitMb: 64, threads: 1 };
  await using database = await openTables(tablesSourceOf(published), limits);
  const declared = await declarationsIn(
    database.connection,
    tables.flatMap(({ files }) => files.slice(0, 1)),
  );
  return tables.map(({ name, rows, files }) => {
    const table = declared.get(files[0] ?? "");
    if (table === undefined)
      throw undeliverable(
        `The Parquet files of ${name} in the run ${manifest.run} lack column descriptions; run again, then deliver the new run.`,
      );
    return openLoaderTable({ table, rows, files, temporaryDirectory });
  });
}

function undeliverable(sentence: string): WarehouseError {
  return new WarehouseError("config.invalid", sentence);
}
