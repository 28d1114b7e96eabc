/** The raw documents of a published run, as its manifest has them. */
import { WarehouseError } from "../common/errors.ts";
import type { Manifest, PublishedFile } from "./manifest.ts";
import { fileDamage } from "./verify.ts";

interface Kept {
  readonly run: string;
  readonly manifest: Pick<Manifest, "files">;
}

/** Throws `config.not_found` where the run kept none. */
export function rawDocumentsOf({ run, manifest }: Kept): PublishedFile[] {
  const files = manifest.files.filter(({ path }) => path.startsWith("raw/"));
  if (files.length > 0) return files;
  throw new WarehouseError(
    "config.not_found",
    `Run ${run} has no raw documents; name a run that was made without "raw": false.`,
  );
}

/** Holds each against the manifest, in the run's folder or in a copy of it. Throws `verify.failed`, with the file. */
export async function assertRawWhole(kept: Kept, directory: string): Promise<void> {
  const finding = await firstDamage(directory, rawDocumentsOf(kept));
  if (finding === undefined) return;
  throw new WarehouseError(
    "verify.failed",
    `The raw documents of run ${kept.run} are damaged: ${finding}; name another run, or restore this one.`,
  );
}

/** What is wrong with the first that is not as it was published, in a clause; undefined: nothing. */
export async function firstDamage(
  directory: string,
  files: readonly PublishedFile[],
): Promise<string | undefined> {
  for (const file of files) {
    const finding = await fileDamage(directory, file);
    if (finding !== undefined) return finding;
  }
  return undefined;
}
