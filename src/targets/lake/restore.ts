/** The last run of an instance, for a machine with an empty disk. */
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

/**
 * Downloads a run into an empty folder, without its DuckDB file, and checks each file by size and SHA-256. Throws
 * `config.not_found` if it is not the last run, `target.refused` if a file is not as it was delivered.
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

/** The manifest that `restoreRun` would give. Throws what that would throw, as far as names and sizes of the files tell. */
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

/** The last run, if it is this one, with its manifest's bytes and its files. */
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

export type StoredFile = PublishedFile & { readonly key: string };

/** Files of a run's manifest with their keys: in the run's copy, or, by their digests, in the tables. */
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

/** Files that the store does not have with their size. `found`: the size there; undefined: it is not there. */
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
  return files.flatMap((file) => {
    const found = sizes.get(file.key);
    return found === file.bytes ? [] : [{ ...file, found }];
  });
}
