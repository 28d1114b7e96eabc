/** The last run of an instance, for a machine with an empty disk. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WarehouseError } from "../../common/errors.ts";
import type { TargetRun } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import { described, sameRun } from "../../warehouse/identity.ts";
import { MANIFEST_FILE, type PublishedFile, parseManifest } from "../../warehouse/manifest.ts";
import { missingObject } from "../store/checked-copy.ts";
import { copyFolder, isCopied } from "./keys.ts";
import { lookAt } from "./look.ts";
import { LANES, type LakePlace } from "./place.ts";
import { filesOfRun, type LakeRun } from "./snapshots.ts";

/**
 * Downloads a run into an empty folder, without its DuckDB file, and checks each file by size and SHA-256. Throws
 * `config.not_found` if it is not the last run, `target.refused` if a file is not as it was delivered.
 */
export async function restoreRun(place: LakePlace, run: TargetRun, directory: string): Promise<void> {
  const { store, instance } = place;
  const last = await lastRunIs(place, run);
  const bytes = await manifestOf(place, run);
  await writeFile(join(directory, MANIFEST_FILE), bytes);
  const { manifest } = parseManifest(bytes, `${store.address}: ${MANIFEST_FILE}`);
  await inParallel(LANES, filesWithKeys(instance, last, manifest.files), async (_, file) => {
    const path = join(directory, file.path);
    await mkdir(dirname(path), { recursive: true });
    await store.download(file.key, path, file);
  });
}

/** The manifest of the last run. Throws as `restoreRun`. */
export async function manifestOf(place: LakePlace, run: TargetRun): Promise<Buffer> {
  const { store, instance } = place;
  const key = copyFolder(instance, (await lastRunIs(place, run)).delivery) + MANIFEST_FILE;
  const bytes = await store.get(key);
  if (bytes === null) throw missingObject(store.address, key);
  return bytes;
}

async function lastRunIs(place: LakePlace, run: TargetRun): Promise<LakeRun> {
  const { last } = await lookAt(place, null);
  if (last !== null && sameRun(last, run)) return last;
  throw new WarehouseError(
    "config.not_found",
    `${place.store.address} keeps only the last run of ${place.instance}, which is not the ${described(run)}.`,
  );
}

/** Files of a run's manifest with their keys: in the run's copy, or, by their digests, in the tables. */
export function filesWithKeys(
  instance: string,
  run: LakeRun,
  files: readonly PublishedFile[],
): readonly (PublishedFile & { readonly key: string })[] {
  const keys = new Map(filesOfRun(run).map(({ key, sha256 }) => [sha256, key]));
  const folder = copyFolder(instance, run.delivery);
  return files.flatMap((file) => {
    const key = isCopied(file.path) ? folder + file.path : keys.get(file.sha256);
    return key === undefined ? [] : [{ ...file, key }];
  });
}
