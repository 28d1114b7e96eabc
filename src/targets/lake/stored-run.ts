/** Reads the last run of an instance back from a lake, and compares what the lake has of it with its manifest. */
import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { inTemporaryFolder } from "../../common/temporary-folder.ts";
import type { TargetRun } from "../../pipeline.ts";
import { mapLimited } from "../../storage/parallel.ts";
import { runText, sameRun } from "../../warehouse/identity.ts";
import { DATABASE_FILE } from "../../warehouse/layout.ts";
import { MANIFEST_FILE, type Manifest, type PublishedFile, parseManifest } from "../../warehouse/manifest.ts";
import { changedObject, missingObject } from "../store/store.ts";
import { readTable } from "./delta/log.ts";
import { activeFiles, recordsOf } from "./delta/state.ts";
import { type LakeSession, readInstance } from "./instance.ts";
import { copyFolder, dataFolder, isCopied } from "./keys.ts";
import { filesOfRun, type LakeRun, type SnapshotRow } from "./snapshots.ts";

/** A file of a run with its key in the store. */
type StoredFile = PublishedFile & { readonly key: string };

/**
 * Downloads a run into an empty folder, without its DuckDB file, and checks the size and SHA-256 of each file. Throws
 * `config.not_found` if it is not the instance's last run, and `target.refused` if a file differs from what was delivered.
 */
export async function downloadRun(session: LakeSession, run: TargetRun, directory: string): Promise<void> {
  const { bytes, files } = await readStoredRun(session, run);
  await writeFile(join(directory, MANIFEST_FILE), bytes);
  await mapLimited(files, async (file) => {
    const path = join(directory, file.path);
    await mkdir(dirname(path), { recursive: true });
    await session.store.download(file.key, path, file);
  });
}

/** The manifest of a run that `downloadRun` would download; throws as that does, but checks no other file. */
export async function readRestorableManifest(session: LakeSession, run: TargetRun): Promise<Buffer> {
  return (await readStoredRun(session, run)).bytes;
}

/** The manifest in the run's copy. Throws `target.refused` if it is not the one that was delivered. */
async function readStoredManifest(
  { store, instance }: LakeSession,
  run: LakeRun,
): Promise<{ readonly bytes: Buffer; readonly manifest: Manifest }> {
  const key = copyFolder(instance, run.delivery) + MANIFEST_FILE;
  const bytes = await store.get(key);
  if (bytes === null) throw missingObject(store.address, key);
  const { manifest, sha256 } = parseManifest(bytes, key, (reason) =>
    changedObject(store.address, key, `cannot be read (${reason})`),
  );
  if (sha256 !== run.sha256) throw changedObject(store.address, key);
  return { bytes, manifest };
}

async function readStoredRun(session: LakeSession, run: TargetRun) {
  const { last } = await readInstance(session, null);
  if (last === null || !sameRun(last, run))
    throw new WarehouseError(
      "config.not_found",
      `${session.store.address} keeps only the last run of ${session.instance}, which is not the ${runText(run)}.`,
    );
  const { bytes, manifest } = await readStoredManifest(session, last);
  return { bytes, files: storedFiles(session.instance, last, manifest.files) };
}

/** Finds the key of each file: in the run's copy, or by its digest in the tables. Leaves out files without a key. */
function storedFiles(instance: string, run: LakeRun, files: readonly PublishedFile[]): readonly StoredFile[] {
  const keys = new Map(filesOfRun(run).map(({ key, sha256 }) => [sha256, key]));
  const folder = copyFolder(instance, run.delivery);
  return files.flatMap((file) => {
    const key = isCopied(file.path) ? folder + file.path : keys.get(file.sha256);
    return key === undefined ? [] : [{ ...file, key }];
  });
}

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
  { store, instance }: LakeSession,
  { rows, delivery }: LakeRun,
  files: readonly StoredFile[],
): Promise<readonly string[]> {
  const sizes = new Map<string, number>();
  const folders = rows.map(({ table_name }) => dataFolder(table_name, instance));
  await mapLimited([...folders, copyFolder(instance, delivery)], async (folder) => {
    for await (const { key, bytes } of store.list(folder)) sizes.set(key, bytes);
  });
  return files.flatMap(({ key, bytes }) => {
    const found = sizes.get(key);
    if (found === undefined) return [`${key} is missing.`];
    return found === bytes ? [] : [`${key} has ${found} bytes instead of ${bytes}.`];
  });
}

async function compareDigests(
  { store }: LakeSession,
  files: readonly StoredFile[],
): Promise<readonly string[]> {
  const found = await inTemporaryFolder("lake", (folder) =>
    mapLimited(files, (file) =>
      collectFindings(async () => {
        const copy = join(folder, randomUUID());
        await store.download(file.key, copy, file);
        await rm(copy);
        return [];
      }),
    ),
  );
  return found.flat();
}

async function compareRows({ store, instance }: LakeSession, row: SnapshotRow): Promise<readonly string[]> {
  const state = await readTable(store, row.table_name);
  const records = activeFiles(state, instance).map(({ add }) => recordsOf(add));
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
