import { DuckDBInstance } from "@duckdb/node-api";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";

/** Sums of the hashes of all rows of the tables, in no order; without the time of the answers. */
export async function digestOf(database: string, tables: readonly string[]): Promise<string> {
  const instance = await DuckDBInstance.create(database, { access_mode: "READ_ONLY" });
  const connection = await instance.connect();
  const sums: string[] = [];
  for (const table of tables) {
    const row = `columns(* EXCLUDE (observed_at))`;
    const timed = await connection.runAndReadAll(
      "SELECT count(*) FROM duckdb_columns() WHERE table_name = $1 AND column_name = 'observed_at'",
      [table],
    );
    const columns = timed.value(0, 0) === 0n ? "columns(*)" : row;
    const read = await connection.runAndReadAll(
      `SELECT sum(hash(one)::HUGEINT)::VARCHAR FROM (SELECT ${columns} FROM ${quoteIdentifier(table)}) AS one`,
    );
    sums.push(`${table}=${String(read.value(0, 0))}`);
  }
  connection.closeSync();
  instance.closeSync();
  return sums.join(" ");
}
