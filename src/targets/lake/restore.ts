/** Published runs that the lake keeps whole, for a machine with an empty disk. */
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WarehouseError } from "../../common/errors.ts";
import type { TargetRun } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import { described, isAmong, sameRun } from "../../warehouse/identity.ts";
import { MANIFEST_FILE, type PublishedFile, parseManifest, readManifest } from "../../warehouse/manifest.ts";
import { changedObject, missingObject } from "../store/checked-copy.ts";
import { bytesOf } from "../store/store.ts";
import { type Claim, isCopied, isPast, keyedFiles, runOf } from "./claim.ts";
import { LANES, type LakePlace } from "./finish.ts";
import { claimOfRun, historyOf, readableClaim } from "./history.ts";
import { renumbered, runFolder } from "./keys.ts";

/** Runs whose files are kept, the newest first. An earlier claim that cannot be read holds up no restore of another run. */
export async function restorableRuns({ store, instance }: LakePlace): Promise<TargetRun[]> {
  const numbers = (await historyOf(store, instance)).numbers.toReversed();
  const claims = await inParallel(LANES, numbers, (_, number) =>
    readableClaim(store, instance, { number, isLast: number === numbers[0] }),
  );
  const runs: TargetRun[] = [];
  // A rollback delivers a run once more.
  for (const each of claims)
    if (each !== undefined && !isPast(each) && !isAmong(runOf(each), runs)) runs.push(runOf(each));
  return runs;
}

/**
 * Copies a run into an empty folder, without its DuckDB file unless its copy has that, and checks each file by size and
 * SHA-256, the manifest by its claim. Throws
 * `config.not_found` where the run is not kept, `target.refused` where a file is not as it was delivered.
 */
export async function restoreRun(place: LakePlace, run: TargetRun, directory: string): Promise<void> {
  const { store } = place;
  const claim = await keptClaim(place, run);
  await store.download(folderOf(claim) + MANIFEST_FILE, join(directory, MANIFEST_FILE), claim.manifest);
  const { files } = await readManifest(directory);
  await inParallel(LANES, keptFiles(claim, files), async (_, { key, path, bytes, sha256 }) => {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await store.download(key, file, { bytes, sha256 });
  });
}

/**
 * The manifest of a run that could be restored now, as far as the sizes of its other files tell. Throws what `restoreRun`
 * throws.
 */
export async function manifestOf(place: LakePlace, run: TargetRun): Promise<Buffer> {
  const { store } = place;
  const claim = await keptClaim(place, run);
  const key = folderOf(claim) + MANIFEST_FILE;
  const bytes = await store.get(key);
  if (bytes === null) throw missingObject(store.address, key);
  if (sha256Of(bytes) !== claim.manifest.sha256) throw changedObject(store.address, key);
  const { files } = parseManifest(bytes, key).manifest;
  await inParallel(LANES, keptFiles(claim, files), async (_, file) => {
    const found = await bytesOf(store, file.key);
    if (found === null) throw missingObject(store.address, file.key);
    if (found !== file.bytes) throw changedObject(store.address, file.key);
  });
  return bytes;
}

function sha256Of(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function keptClaim({ store, instance }: LakePlace, run: TargetRun): Promise<Claim> {
  const claim = await claimOfRun(store, instance, run.sequence, (each) => sameRun(each, run));
  if (claim !== undefined) return claim;
  throw new WarehouseError(
    "config.not_found",
    `${store.address} does not keep the ${described(run)} of ${instance}; choose one that "content-warehouse restore --list" shows.`,
  );
}

/** Files of a manifest that the lake has, with their keys: those of the run's copy, and by their digests those of tables. */
function keptFiles(
  claim: Claim,
  files: readonly PublishedFile[],
): (PublishedFile & { readonly key: string })[] {
  const keys = new Map(keyedFiles(claim.tables).map(({ key, sha256 }) => [sha256, key]));
  return files.flatMap((file) => {
    const isInCopy = isCopied(file.path, claim.claimVersion);
    const key = isInCopy ? folderOf(claim) + file.path : keys.get(file.sha256);
    return key === undefined ? [] : [{ ...file, key }];
  });
}

export function folderOf({ instance, run, sequence, manifest }: Claim): string {
  return runFolder(instance, renumbered(run, sequence), manifest.sha256);
}
