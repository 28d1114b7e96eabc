/** Compares the last run of an instance with what the lake has of it. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { inParallel } from "../../storage/parallel.ts";
import { DATABASE_FILE } from "../../warehouse/layout.ts";
import { readTable } from "./delta/read.ts";
import { filesOf } from "./delta/state.ts";
import { recordsOf } from "./delta/statistics.ts";
import { lookAt } from "./look.ts";
import { LANES, type LakePlace } from "./place.ts";
import { filesWithKeys, type KeyedFile, keptManifest, otherSizes } from "./restore.ts";
import { inScratch } from "./scratch.ts";
import type { LakeRun } from "./snapshots.ts";

/**
 * Compares each file with its size, and each table's newest version with the run's rows. `full`: downloads each file and
 * compares its SHA-256. Gives figures of the run, with its copy, and sentences on what is not as it was delivered. Throws
 * `config.not_found` if the lake has no run of the instance.
 */
export async function verifyLake(place: LakePlace, { full }: { readonly full: boolean }) {
  const { store, instance } = place;
  const { last, isUnfinished } = await lookAt(place, null);
  if (last === null)
    throw new WarehouseError(
      "config.not_found",
      `${store.address} has no run of the instance ${instance}; "content-warehouse lake status" shows what it has.`,
    );
  let files: readonly KeyedFile[] = [];
  const ofManifest = await findings(async () => {
    const { manifest } = await keptManifest(place, last);
    files = filesWithKeys(instance, last, manifest.files);
    const named = new Set(files.map(({ path }) => path));
    const unnamed = manifest.files.filter(({ path }) => path !== DATABASE_FILE && !named.has(path));
    return unnamed.map(({ path }) => `run_snapshots names no file for ${path} of the run.`);
  });
  const ofFiles = full ? await compareDigests(place, files) : await compareSizes(place, last, files);
  // The newest versions are on their way to a later run.
  const rows = isUnfinished ? [] : last.rows;
  const ofTables = await inParallel(LANES, rows, (_, row) =>
    findings(async () => {
      const state = await readTable(store, row.table_name);
      const records = state === null ? [] : filesOf(state, instance).map(({ add }) => recordsOf(add));
      const found = records.reduce<number>((sum, each) => sum + (each ?? 0), 0);
      if (records.includes(null) || found === row.rows) return [];
      return [
        `The newest version of ${row.table_name} has ${found} rows, and the run has ${row.rows}: somebody changed it.`,
      ];
    }),
  );
  return {
    instance,
    run: last.run,
    sequence: last.sequence,
    tables: last.rows.length,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    rows: last.rows.reduce((sum, row) => sum + row.rows, 0),
    findings: [...ofManifest, ...ofFiles, ...ofTables.flat()],
  };
}

async function compareSizes(
  place: LakePlace,
  run: LakeRun,
  files: readonly KeyedFile[],
): Promise<readonly string[]> {
  return (await otherSizes(place, run, files)).map(({ key, bytes, found }) =>
    found === undefined ? `${key} is missing.` : `${key} has ${found} bytes instead of ${bytes}.`,
  );
}

function compareDigests({ store }: LakePlace, files: readonly KeyedFile[]): Promise<readonly string[]> {
  return inScratch(async (_connection, folder) => {
    const found = await inParallel(LANES, files, (_, file) =>
      findings(async () => {
        const copy = join(folder, randomUUID());
        await store.download(file.key, copy, file);
        await rm(copy);
        return [];
      }),
    );
    return found.flat();
  });
}

/** What is wrong with an object is a finding; a store that does not answer is thrown. */
async function findings(work: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await work();
  } catch (thrown) {
    const { code, message } = asWarehouseError(thrown);
    if (code === "target.refused") return [message];
    throw thrown;
  }
}
