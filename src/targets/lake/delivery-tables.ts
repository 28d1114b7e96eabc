/** The tables of a run for a delivery: each file with its digest, its rows and bounds of its key. */
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { DeliveredRun } from "../../pipeline.ts";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Table } from "../../tables/declare.ts";
import type { FileContent } from "../store/store.ts";
import type { FileStatistics } from "./delta/actions.ts";
import type { DeltaTable } from "./delta/schema.ts";
import { withScratchDatabase } from "./scratch-database.ts";

export interface DeliveryFile extends FileContent, FileStatistics {
  /** Absolute path on this machine. */
  readonly file: string;
}

export interface DeliveryTable extends DeltaTable {
  readonly files: readonly DeliveryFile[];
}

export function describeTables(
  run: Pick<DeliveredRun, "directory" | "files" | "tables" | "signal">,
): Promise<readonly DeliveryTable[]> {
  const contents = new Map(run.files.map((file) => [join(run.directory, file.path), file]));
  const describe = async (connection: DuckDBConnection) => {
    const tables: DeliveryTable[] = [];
    for (const { table, files: paths } of run.tables) {
      run.signal.throwIfAborted();
      const { name, comment, columns } = table;
      const files = (await readStatistics(connection, paths, table)).map((found) => {
        const content = contents.get(found.file);
        if (content === undefined) throw new TypeError(`${found.file} is not in the manifest of its run`);
        return { ...found, bytes: content.bytes, sha256: content.sha256 };
      });
      tables.push({ name, comment, columns, files });
    }
    return tables;
  };
  return withScratchDatabase(describe, { reading: [run.directory] });
}

/** Longest text that is stated as a bound, in characters. The log repeats the bounds of every file. */
const MAX_BOUND_LENGTH = 100;

/** Rows of each file, and bounds of the first key column if that is a text or a whole number. */
async function readStatistics(
  connection: DuckDBConnection,
  files: readonly string[],
  { columns, key }: Table,
): Promise<readonly (FileStatistics & { readonly file: string })[]> {
  const column = columns.find(({ name, type }) => name === key[0] && (type === "text" || type === "integer"));
  const name = column && quoteIdentifier(column.name);
  const bounds = name === undefined ? "" : `, min(${name}) AS min, max(${name}) AS max`;
  const queries = files.map(
    (file, index) => `SELECT ${index} AS index, count(*) AS rows${bounds} FROM ${readParquet([file])}`,
  );
  const found = await all(connection, `${queries.join(" UNION ALL ")} ORDER BY index`);
  return found.map(({ rows, min, max }, index) => ({
    file: files[index] ?? "",
    rows: toSafeInteger(rows ?? null),
    bounds: column !== undefined && isBound(min) && isBound(max) ? { column: column.name, min, max } : null,
  }));
}

function isBound(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && value.length <= MAX_BOUND_LENGTH);
}
