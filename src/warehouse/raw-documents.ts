/** Finds the raw documents of a published run, and checks them. */
import { WarehouseError } from "../common/errors.ts";
import type { Manifest, PublishedFile } from "./manifest.ts";
import { fileDamage } from "./verify.ts";

interface Kept {
  readonly run: string;
  readonly manifest: Pick<Manifest, "files">;
}

/** Throws `config.not_found` if the run kept none. */
export function rawDocumentsOf({ run, manifest }: Kept): PublishedFile[] {
  const files = manifest.files.filter(({ path }) => path.startsWith("raw/"));
  if (files.length > 0) return files;
  throw new WarehouseError(
    "config.not_found",
    `Run ${run} has no raw documents; name a run that was made without "raw": false.`,
  );
}

/** Compares the raw files in `directory` with the manifest. Throws `verify.failed`. */
export async function assertRawWhole(kept: Kept, directory: string): Promise<void> {
  const finding = await firstDamage(directory, rawDocumentsOf(kept));
  if (finding === undefined) return;
  throw new WarehouseError(
    "verify.failed",
    `The raw documents of run ${kept.run} are damaged: ${finding}; name another run, or restore this one.`,
  );
}

/** Damage of the first file that is not as published, as a clause. */
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
