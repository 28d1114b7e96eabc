/** The tables of a run as a delivery needs them: each file with its digest, its rows and its statistics. */
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { DeliveredRun } from "../../pipeline.ts";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Table } from "../../tables/declare.ts";
import type { FileContent } from "../store/store.ts";
import type { DeltaTable } from "./delta/schema.ts";
import type { FileStatistics } from "./delta/statistics.ts";
import { withScratchDatabase } from "./scratch-database.ts";

export interface DeliveryFile extends FileContent, FileStatistics {
  /** Absolute path on this machine. */
  readonly file: string;
}

export interface DeliveryTable extends DeltaTable {
  readonly files: readonly DeliveryFile[];
}

export async function describeTables(
  run: Pick<DeliveredRun, "directory" | "files" | "tables" | "signal">,
): Promise<readonly DeliveryTable[]> {
  const contents = new Map(run.files.map((file) => [join(run.directory, file.path), file]));
  const describe = async (connection: DuckDBConnection) => {
    const tables: DeliveryTable[] = [];
    for (const { table, files: paths } of run.tables) {
      run.signal.throwIfAborted();
      const { name, comment, columns } = table;
      const files = (await statisticsOf(connection, paths, table)).map((found) => {
        const content = contents.get(found.file);
        if (content === undefined) throw new TypeError(`${found.file} is not in the manifest of its run`);
        const { bytes, sha256 } = content;
        return { ...found, bytes, sha256 };
      });
      tables.push({ name, comment, columns, files });
    }
    return tables;
  };
  return withScratchDatabase(describe, { reading: [run.directory] });
}

/** Longest bound of a text, in characters: the log has the bounds of every file. */
const MAX_BOUND_LENGTH = 100;

/** Rows of each file, and bounds of the first key column if it is a text or a whole number. */
async function statisticsOf(
  connection: DuckDBConnection,
  files: readonly string[],
  { columns, key }: Table,
): Promise<readonly (FileStatistics & { readonly file: string })[]> {
  const column = columns.find(({ name, type }) => name === key[0] && (type === "text" || type === "integer"));
  const name = column && quoteIdentifier(column.name);
  const bounds = name === undefined ? "" : `, min(${name}) AS min, max(${name}) AS max`;
  const asked = files.map(
    (file, at) => `SELECT ${at} AS place, count(*) AS rows${bounds} FROM ${readParquet([file])}`,
  );
  const found = await all(connection, `${asked.join(" UNION ALL ")} ORDER BY place`);
  return found.map(({ rows, min, max }, at) => ({
    file: files[at] ?? "",
    rows: toSafeInteger(rows ?? null),
    bounds: column !== undefined && isBound(min) && isBound(max) ? { column: column.name, min, max } : null,
  }));
}

function isBound(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && value.length <= MAX_BOUND_LENGTH);
}
