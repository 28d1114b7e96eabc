/** Reads the last run of an instance back from a lake. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import type { TargetRun } from "../../pipeline.ts";
import { mapLimited } from "../../storage/parallel.ts";
import { runText, sameRun } from "../../warehouse/identity.ts";
import { MANIFEST_FILE, type Manifest, type PublishedFile, parseManifest } from "../../warehouse/manifest.ts";
import { changedObject, missingObject } from "../store/checked-copy.ts";
import { readInstance } from "./instance.ts";
import { copyFolder, dataFolder, isCopied } from "./keys.ts";
import type { LakeSession } from "./session.ts";
import { filesOfRun, type LakeRun } from "./snapshots.ts";

/** A file of a run with its key in the store. */
export type StoredFile = PublishedFile & { readonly key: string };

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

/** The manifest that `downloadRun` would write. Throws what that would throw, but checks only sizes of files. */
export async function readRestorableManifest(session: LakeSession, run: TargetRun): Promise<Buffer> {
  const { last, bytes, files } = await readStoredRun(session, run);
  const [other] = await findSizeDifferences(session, last, files);
  if (other === undefined) return bytes;
  throw (other.found === undefined ? missingObject : changedObject)(session.store.address, other.key);
}

/** The manifest in the run's copy. Throws `target.refused` if it is not the one that was delivered. */
export async function readStoredManifest(
  { store, instance }: LakeSession,
  run: LakeRun,
): Promise<{ readonly bytes: Buffer; readonly manifest: Manifest }> {
  const key = copyFolder(instance, run.delivery) + MANIFEST_FILE;
  const bytes = await store.get(key);
  if (bytes === null) throw missingObject(store.address, key);
  try {
    const { manifest, sha256 } = parseManifest(bytes, key);
    if (sha256 === run.sha256) return { bytes, manifest };
  } catch (thrown) {
    if (asWarehouseError(thrown).code !== "verify.failed") throw thrown;
  }
  throw changedObject(store.address, key);
}

async function readStoredRun(session: LakeSession, run: TargetRun) {
  const { last } = await readInstance(session, null);
  if (last === null || !sameRun(last, run))
    throw new WarehouseError(
      "config.not_found",
      `${session.store.address} keeps only the last run of ${session.instance}, which is not the ${runText(run)}.`,
    );
  const { bytes, manifest } = await readStoredManifest(session, last);
  return { last, bytes, files: storedFiles(session.instance, last, manifest.files) };
}

/** Finds the key of each file: in the run's copy, or by its digest in the tables. Leaves out files without a key. */
export function storedFiles(
  instance: string,
  run: LakeRun,
  files: readonly PublishedFile[],
): readonly StoredFile[] {
  const keys = new Map(filesOfRun(run).map(({ key, sha256 }) => [sha256, key]));
  const folder = copyFolder(instance, run.delivery);
  return files.flatMap((file) => {
    const key = isCopied(file.path) ? folder + file.path : keys.get(file.sha256);
    return key === undefined ? [] : [{ ...file, key }];
  });
}

/** Files whose object has another size. `found`: size of the object in bytes; `undefined` if it is missing. */
export async function findSizeDifferences(
  { store, instance }: LakeSession,
  { rows, delivery }: LakeRun,
  files: readonly StoredFile[],
): Promise<readonly (StoredFile & { readonly found: number | undefined })[]> {
  const sizes = new Map<string, number>();
  const folders = rows.map(({ table_name }) => dataFolder(table_name, instance));
  await mapLimited([...folders, copyFolder(instance, delivery)], async (folder) => {
    for await (const { key, bytes } of store.list(folder)) sizes.set(key, bytes);
  });
  return files
    .map((file) => ({ ...file, found: sizes.get(file.key) }))
    .filter(({ found, bytes }) => found !== bytes);
}
