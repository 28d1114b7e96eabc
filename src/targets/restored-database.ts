/** The DuckDB file of a run that a target keeps without it. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { WarehouseError } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import { makeDatabaseAgain } from "../load/database-again.ts";
import { differingTables } from "../warehouse/differing-tables.ts";
import { DATABASE_FILE, type StagingFolder } from "../warehouse/layout.ts";
import { MANIFEST_FILE, type Manifest, readManifestFile, writeManifest } from "../warehouse/manifest.ts";
import { sourceOf } from "../warehouse/published-tables.ts";
import { digestOf } from "../warehouse/verify.ts";
import { tablesOf } from "./published-run.ts";

/**
 * Makes the DuckDB file of a run that was copied without it, from its Parquet files: those are held against the manifest
 * by their digests, and the rows of the new file against theirs, table by table. The manifest says so afterwards. Throws
 * `verify.failed` where a table differs.
 */
export async function restoreDatabase(staging: StagingFolder, signal: AbortSignal): Promise<void> {
  const { result: directory, database: file, temporary: temporaryDirectory } = staging;
  const { manifest, sha256 } = await readManifestFile(directory);
  if (!manifest.loaders.includes("duckdb") || existsSync(file)) return;
  const tables = await tablesOf({ directory, manifest }, temporaryDirectory);
  await makeDatabaseAgain({ file, staging: staging.root, temporaryDirectory, tables, signal });
  signal.throwIfAborted();
  const names = tables.map(({ table }) => table.name);
  const [first] = await differingTables({
    published: { tables: names, source: sourceOf({ directory, manifest }) },
    rebuilt: { tables: names, source: { directory, database: file, filesOf: () => [] } },
    declared: tables.map(({ table }) => table),
    temporaryDirectory,
  });
  if (first !== undefined) throw differs(manifest, first.table);
  const content = await digestOf(file);
  await rm(join(directory, MANIFEST_FILE));
  await writeManifest(
    directory,
    { ...manifest, restored: { sha256, version: VERSION } },
    manifest.files.map((each) => (each.path === DATABASE_FILE ? { ...each, ...content } : each)),
  );
}

function differs({ run }: Manifest, table: string): WarehouseError {
  return new WarehouseError(
    "verify.failed",
    `The DuckDB file of the run ${run} was made again, and its table ${table} has other rows than its Parquet files; nothing was restored: restore another run.`,
  );
}
