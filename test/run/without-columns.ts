import { hash } from "node:crypto";
import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { PARQUET_OPTIONS } from "../../src/storage/parquet-sql.ts";
import { readManifestFile } from "../../src/warehouse/manifest.ts";

/** Takes columns, which an earlier version did not write, away from raw files of a run, and says so in its manifest. */
export async function withoutColumns(
  directory: string,
  which: RegExp,
  columns: readonly string[],
): Promise<void> {
  const { manifest } = await readManifestFile(directory);
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const files = new Map(manifest.files.map((file) => [file.path, file]));
  for (const file of manifest.files.filter(({ path }) => which.test(path))) {
    const path = join(directory, file.path);
    await chmod(dirname(path), 0o700);
    const query = `SELECT * EXCLUDE (${columns.join(", ")}) FROM '${path}'`;
    await connection.run(`COPY (${query}) TO '${path}.new' (${PARQUET_OPTIONS})`);
    await rename(`${path}.new`, path);
    const bytes = await readFile(path);
    files.set(file.path, { ...file, bytes: bytes.length, sha256: hash("sha256", bytes) });
  }
  connection.closeSync();
  instance.closeSync();
  const path = join(directory, "manifest.json");
  await chmod(directory, 0o700);
  await rm(path);
  await writeFile(path, JSON.stringify({ ...manifest, files: [...files.values()] }), { mode: 0o600 });
}
