/** A table of the database, filled from its final Parquet files: when a run is built, and when its database is made again. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { createTable, duckdbColumns } from "../storage/ddl.ts";
import { all, execute, LONG_TEXT_BYTES } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "../storage/sql-text.ts";
import type { Table } from "../tables/declare.ts";

/** Creates a table and fills it. `files`: absolute paths, in the order of the key. */
export async function createFilledTable(
  connection: DuckDBConnection,
  table: Table,
  files: readonly string[],
): Promise<void> {
  await createTable(connection, table, await longTexts(connection, files));
  // All at once: whole row groups are compressed and written as they come, lesser ones wait for the checkpoint.
  await execute(
    connection,
    `INSERT INTO ${quoteIdentifier(table.name)} SELECT ${duckdbColumns(table)} FROM ${readParquet(files)}`,
  );
}

/** Columns whose texts are long on average, in some file: old items may have had no bodies. */
async function longTexts(
  connection: DuckDBConnection,
  files: readonly string[],
): Promise<ReadonlySet<string>> {
  const list = files.map((file) => quoteLiteral(exactPattern(file))).join(", ");
  const rows = await all(
    connection,
    `SELECT path_in_schema AS name FROM parquet_metadata([${list}]) WHERE type = 'BYTE_ARRAY'
     GROUP BY name, file_name HAVING sum(total_uncompressed_size) > ${LONG_TEXT_BYTES} * sum(num_values)`,
  );
  return new Set(rows.map(({ name }) => String(name)));
}
