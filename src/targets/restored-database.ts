/** The DuckDB file of a run that a target keeps without it. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { VERSION } from "../common/version.ts";
import { rebuildDatabase } from "../load/rebuild-database.ts";
import { DATABASE_FILE, type StagingFolder } from "../warehouse/layout.ts";
import { MANIFEST_FILE, readManifestFile, writeManifest } from "../warehouse/manifest.ts";
import { digestFile } from "../warehouse/verify.ts";
import { readRunTables } from "./published-run.ts";

/**
 * Makes the DuckDB file of a run that was copied without it, from its Parquet files, whose digests were verified. The
 * manifest says so afterwards: the file has other bytes than the one that was published.
 */
export async function restoreDatabase(staging: StagingFolder, signal: AbortSignal): Promise<void> {
  const { result: directory, database: file, temporary: temporaryDirectory } = staging;
  const { manifest, sha256 } = await readManifestFile(directory);
  if (!manifest.loaders.includes("duckdb") || existsSync(file)) return;
  const tables = await readRunTables({ directory, manifest }, temporaryDirectory);
  await rebuildDatabase({ file, staging: staging.root, temporaryDirectory, tables, signal });
  signal.throwIfAborted();
  const content = await digestFile(file);
  await rm(join(directory, MANIFEST_FILE));
  await writeManifest(
    directory,
    { ...manifest, restored: { sha256, version: VERSION } },
    manifest.files.map((each) => (each.path === DATABASE_FILE ? { ...each, ...content } : each)),
  );
}
