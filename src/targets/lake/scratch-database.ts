/** A temporary DuckDB database for small work on files of a lake. */
import { rm } from "node:fs/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { makeTemporaryFolder } from "../../common/temporary-folder.ts";
import { openForScanning } from "../../storage/duckdb.ts";

/** Runs `use` with a database and a folder that it may read and write, and removes both. `reading`: further readable folders. */
export async function withScratchDatabase<Result>(
  use: (connection: DuckDBConnection, folder: string) => Promise<Result>,
  { memoryLimitMb = 128, reading = [] }: { memoryLimitMb?: number; reading?: readonly string[] } = {},
): Promise<Result> {
  const folder = await makeTemporaryFolder("lake");
  try {
    const folders = { temporaryDirectory: folder, allowedDirectories: [folder, ...reading] };
    await using database = await openForScanning({ ...folders, memoryLimitMb, threads: 1 });
    return await use(database.connection, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
