/** Published runs that the lake keeps whole, for a machine with an empty disk. */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import type { TargetRun } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import { described, sameRun } from "../../warehouse/identity.ts";
import { MANIFEST_FILE, type PublishedFile, readManifest } from "../../warehouse/manifest.ts";
import {
  type Claim,
  claimNumbers,
  claimOf,
  isCopied,
  isPast,
  keyedFiles,
  readClaim,
  runOf,
} from "./claim.ts";
import { LANES, type LakePlace } from "./finish.ts";
import { runFolder } from "./keys.ts";

/** Runs whose files are kept, the newest first. An earlier claim that cannot be read holds up no restore of another run. */
export async function restorableRuns({ store, instance }: LakePlace): Promise<TargetRun[]> {
  const numbers = (await claimNumbers(store, instance)).toReversed();
  const claims = await inParallel(LANES, numbers, (_, number) =>
    readClaim(store, instance, number).catch((thrown: unknown) => {
      if (number === numbers[0] || asWarehouseError(thrown).code !== "target.refused") throw thrown;
      return undefined;
    }),
  );
  return claims.flatMap((each) => (each === undefined || isPast(each) ? [] : [runOf(each)]));
}

/**
 * Copies a run into an empty folder, without its DuckDB file unless its copy has that, and checks each file by size and
 * SHA-256, the manifest by its claim. Throws
 * `config.not_found` where the run is not kept, `target.refused` where a file is not as it was delivered.
 */
export async function restoreRun(
  { store, instance }: LakePlace,
  run: TargetRun,
  directory: string,
): Promise<void> {
  const claim = await claimOf(store, instance, run.sequence);
  if (claim === undefined || isPast(claim) || !sameRun(runOf(claim), run)) {
    throw new WarehouseError(
      "config.not_found",
      `${store.address} does not keep the ${described(run)} of ${instance}; choose one that "content-warehouse restore --list" shows.`,
    );
  }
  await store.download(folderOf(claim) + MANIFEST_FILE, join(directory, MANIFEST_FILE), claim.manifest);
  const { files } = await readManifest(directory);
  await inParallel(LANES, keptFiles(claim, files), async (_, { key, path, bytes, sha256 }) => {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await store.download(key, file, { bytes, sha256 });
  });
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

export function folderOf({ instance, run, manifest }: Claim): string {
  return runFolder(instance, run, manifest.sha256);
}
