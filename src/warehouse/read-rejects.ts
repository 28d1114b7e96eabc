/** The rejects of a published run. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { all, openForReading, openForScanning, type Row } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { DATABASE_FILE } from "./layout.ts";

const ORDER = "ORDER BY reject";

/** Rows of `run_rejects`, from the database of the run or, where there is none, from its Parquet files. */
export async function readRejects(directory: string, temporaryDirectory: string): Promise<Row[]> {
  const limits = { temporaryDirectory, memoryLimitMb: 256, threads: 1 };
  const file = join(directory, DATABASE_FILE);
  if (existsSync(file)) {
    await using database = await openForReading({ file, allowedDirectories: [], ...limits });
    return await all(database.connection, `FROM run_rejects ${ORDER}`);
  }
  await using database = await openForScanning({ allowedDirectories: [directory], ...limits });
  const folder = join(directory, "parquet", "run_rejects");
  const files = (await readdir(folder)).toSorted().map((name) => join(folder, name));
  return await all(database.connection, `FROM ${readParquet(files)} ${ORDER}`);
}
