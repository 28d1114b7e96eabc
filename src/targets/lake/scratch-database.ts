import { rm } from "node:fs/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { makeTemporaryFolder } from "../../common/temporary-folder.ts";
import { openForScanning } from "../../storage/duckdb.ts";

/** Works with a database and in a folder that it may read and write; both are gone afterwards. `reading`: what else it may read. */
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
