import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { openForScanning } from "../../storage/duckdb.ts";

export interface ScratchOptions {
  readonly memoryLimitMb?: number;
  /** Folders that may be read besides its own. */
  readonly reading?: readonly string[];
}

/** Works with a database and in a folder that it may read and write; both are gone afterwards. */
export async function inScratch<Result>(
  use: (connection: DuckDBConnection, folder: string) => Promise<Result>,
  { memoryLimitMb = 128, reading = [] }: ScratchOptions = {},
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "content-warehouse-lake-"));
  try {
    const allowedDirectories = [folder, ...reading];
    const limits = { memoryLimitMb, threads: 1 };
    await using database = await openForScanning({
      temporaryDirectory: folder,
      allowedDirectories,
      ...limits,
    });
    return await use(database.connection, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
