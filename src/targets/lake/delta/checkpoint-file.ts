/** Reads and writes the Parquet files of checkpoints, which have a row for each action, with a temporary DuckDB database. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { inTemporaryFolder } from "../../../common/temporary-folder.ts";
import { openForScanning } from "../../../storage/database.ts";
import { all, execute } from "../../../storage/duckdb.ts";
import { readParquet } from "../../../storage/parquet-sql.ts";
import { quoteLiteral } from "../../../storage/sql-text.ts";
import { commitText, type DeltaAction, parseAction } from "./state.ts";

/** The actions of a checkpoint, whose parts have these bytes. Throws if they are no checkpoint. */
export async function parseCheckpoint(parts: readonly Buffer[]): Promise<DeltaAction[]> {
  return withScratchDatabase(async (connection, folder) => {
    const files = parts.map((_, part) => join(folder, `${part}.parquet`));
    for (const [part, file] of files.entries()) await writeFile(file, parts[part] ?? "");
    // Other columns repeat these values for each column of the table.
    const known = "COLUMNS('^(txn|add|remove|metaData|protocol)$')";
    const union = `SELECT ${known} FROM ${readParquet(files)}`;
    const rows = await all(connection, `SELECT to_json(action)::VARCHAR AS line FROM (${union}) AS action`);
    return rows.map(({ line }) => parseAction(String(line)));
  });
}

const TEXTS = "MAP(VARCHAR, VARCHAR)";
/** Columns of a checkpoint, with all fields of reader version 1 and writer version 2. */
const COLUMNS: Readonly<Record<string, string>> = {
  protocol:
    "STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER, readerFeatures VARCHAR[], writerFeatures VARCHAR[])",
  metaData: `STRUCT(id VARCHAR, name VARCHAR, description VARCHAR, format STRUCT(provider VARCHAR, "options" ${TEXTS}), schemaString VARCHAR, partitionColumns VARCHAR[], configuration ${TEXTS}, createdTime BIGINT)`,
  txn: "STRUCT(appId VARCHAR, version BIGINT, lastUpdated BIGINT)",
  add: `STRUCT(path VARCHAR, partitionValues ${TEXTS}, size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, stats VARCHAR, tags ${TEXTS})`,
  remove: `STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN, extendedFileMetadata BOOLEAN, partitionValues ${TEXTS}, size BIGINT)`,
};

/** The bytes of a checkpoint with these actions. */
export async function checkpointBytes(actions: readonly object[]): Promise<Buffer> {
  return withScratchDatabase(async (connection, folder) => {
    const [lines, file] = [join(folder, "actions.json"), join(folder, "checkpoint.parquet")];
    await writeFile(lines, commitText(actions));
    const columns = Object.entries(COLUMNS).map(([name, type]) => `${name}: ${quoteLiteral(type)}`);
    const rows = `read_json(${quoteLiteral(lines)}, format = 'newline_delimited', columns = {${columns.join(", ")}})`;
    await execute(
      connection,
      `COPY (FROM ${rows}) TO ${quoteLiteral(file)} (FORMAT parquet, COMPRESSION snappy)`,
    );
    return readFile(file);
  });
}

/** Runs `use` with a database and a folder that it may read and write, and removes both. */
async function withScratchDatabase<Result>(
  use: (connection: DuckDBConnection, folder: string) => Promise<Result>,
): Promise<Result> {
  return await inTemporaryFolder("lake", async (folder) => {
    const folders = { temporaryDirectory: folder, allowedDirectories: [folder] };
    await using database = await openForScanning({ ...folders, memoryLimitMb: 512, threads: 1 });
    return await use(database.connection, folder);
  });
}
