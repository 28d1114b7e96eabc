/** Compares what the lake has of the last run of an instance with the run's manifest. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { mapLimited } from "../../storage/parallel.ts";
import { DATABASE_FILE } from "../../warehouse/layout.ts";
import { recordsOf } from "./delta/actions.ts";
import { readTable } from "./delta/read.ts";
import { activeFiles } from "./delta/state.ts";
import { readInstance } from "./instance.ts";
import { findSizeDifferences, readStoredManifest, type StoredFile, storedFiles } from "./restore.ts";
import { withScratchDatabase } from "./scratch-database.ts";
import type { LakeSession } from "./session.ts";
import type { LakeRun, SnapshotRow } from "./snapshots.ts";

/**
 * Compares the size of each file, and the rows of each table's newest version. `full`: downloads each file and compares its
 * SHA-256. Gives figures of the run, and a sentence for each difference. Throws `config.not_found` if the lake has no run
 * of the instance.
 */
export async function verifyLake(session: LakeSession, { full }: { readonly full: boolean }) {
  const { store, instance } = session;
  const { last, isUnfinished } = await readInstance(session, null);
  if (last === null)
    throw new WarehouseError(
      "config.not_found",
      `${store.address} has no run of the instance ${instance}; "content-warehouse lake status" lists what it has.`,
    );
  let files: readonly StoredFile[] = [];
  const ofManifest = await collectFindings(async () => {
    const { manifest } = await readStoredManifest(session, last);
    files = storedFiles(instance, last, manifest.files);
    const known = new Set(files.map(({ path }) => path));
    const unknown = manifest.files.filter(({ path }) => path !== DATABASE_FILE && !known.has(path));
    return unknown.map(({ path }) => `run_snapshots names no file for ${path} of the run.`);
  });
  const ofFiles = full ? await compareDigests(session, files) : await compareSizes(session, last, files);
  // During a delivery the newest versions may already be those of a later run.
  const rows = isUnfinished ? [] : last.rows;
  const ofTables = await mapLimited(rows, (row) => collectFindings(() => compareRows(session, row)));
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
  session: LakeSession,
  run: LakeRun,
  files: readonly StoredFile[],
): Promise<readonly string[]> {
  return (await findSizeDifferences(session, run, files)).map(({ key, bytes, found }) =>
    found === undefined ? `${key} is missing.` : `${key} has ${found} bytes instead of ${bytes}.`,
  );
}

function compareDigests({ store }: LakeSession, files: readonly StoredFile[]): Promise<readonly string[]> {
  return withScratchDatabase(async (_connection, folder) => {
    const found = await mapLimited(files, (file) =>
      collectFindings(async () => {
        const copy = join(folder, randomUUID());
        await store.download(file.key, copy, file);
        await rm(copy);
        return [];
      }),
    );
    return found.flat();
  });
}

async function compareRows({ store, instance }: LakeSession, row: SnapshotRow): Promise<readonly string[]> {
  const state = await readTable(store, row.table_name);
  const records = state === null ? [] : activeFiles(state, instance).map(({ add }) => recordsOf(add));
  const found = records.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  if (records.includes(null) || found === row.rows) return [];
  return [
    `The newest version of ${row.table_name} has ${found} rows, and the run has ${row.rows}: somebody changed the table.`,
  ];
}

/** A damaged or missing object is a finding; a store that does not answer is thrown. */
async function collectFindings(work: () => Promise<readonly string[]>): Promise<readonly string[]> {
  try {
    return await work();
  } catch (thrown) {
    const { code, message } = asWarehouseError(thrown);
    if (code === "target.refused") return [message];
    throw thrown;
  }
}
