import { DuckDBInstance } from "@duckdb/node-api";
import { quoteIdentifier } from "../../src/storage/sql-text.ts";

/** Sums of the hashes of all rows of the tables, in no order. */
export async function digestOf(database: string, tables: readonly string[]): Promise<string> {
  const instance = await DuckDBInstance.create(database, { access_mode: "READ_ONLY" });
  const connection = await instance.connect();
  const sums: string[] = [];
  for (const table of tables) {
    const read = await connection.runAndReadAll(
      `SELECT sum(hash(one)::HUGEINT)::VARCHAR FROM (FROM ${quoteIdentifier(table)}) AS one`,
    );
    sums.push(`${table}=${String(read.value(0, 0))}`);
  }
  connection.closeSync();
  instance.closeSync();
  return sums.join(" ");
}
