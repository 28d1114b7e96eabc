import { rename } from "node:fs/promises";
import { join } from "node:path";
import { WarehouseError } from "../common/errors.ts";
import { sealTree, sync, syncTree } from "../common/tree.ts";
import { DATABASE_FILE, type OutputFolder, type StagingFolder } from "./layout.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { pointCurrentAt } from "./run-folders.ts";
import { examine } from "./verify.ts";
import { fileFindings } from "./verify-run.ts";

/**
 * Publishes a copy of a run that was published elsewhere, as it was there, with the steps of `publishRun`. Throws
 * `verify.failed` where it is not what its manifest says, or another run; then nothing is changed that a reader can see.
 */
export async function publishCopy(folder: OutputFolder, staging: StagingFolder): Promise<Manifest> {
  const manifest = await readManifest(staging.result);
  const { files, unread, findings } = await examine({
    result: staging.result,
    database: manifest.loaders.includes("duckdb") ? join(staging.result, DATABASE_FILE) : undefined,
    temporaryDirectory: staging.temporary,
    stated: manifest,
  });
  const [first] = [
    ...(manifest.run === staging.run ? [] : [`its manifest is that of the run ${manifest.run}`]),
    ...unread.map(({ finding }) => finding),
    ...fileFindings(files, manifest.files, unread),
    ...findings,
  ];
  if (first !== undefined) throw damaged(staging.run, first);
  await syncTree(staging.result);
  const published = join(folder.runs, staging.run);
  await rename(staging.result, published);
  await sync(folder.runs);
  await sealTree(published);
  await pointCurrentAt(folder, staging.run);
  return manifest;
}

function damaged(run: string, finding: string): WarehouseError {
  return new WarehouseError(
    "verify.failed",
    `The copy of the run ${run} is not as it was published: ${finding}; nothing was restored: restore another run.`,
  );
}
