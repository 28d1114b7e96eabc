/** Gives loaders the tables of a run, read from their Parquet files. */
import { dirname } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { isOfTheDisk, WarehouseError } from "../common/errors.ts";
import type { LoadTable } from "../pipeline.ts";
import { openForScanning } from "../storage/database.ts";
import { duckdbError } from "../storage/duckdb-error.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Column, Table } from "../tables/declare.ts";

type LoaderFiles = Pick<LoadTable, "table" | "rows" | "files"> & { readonly temporaryDirectory: string };

/** Disk failure while a loader reads a table: not an error of the loader. */
export class TableReadError extends WarehouseError {
  constructor({ code, message }: WarehouseError, cause: unknown) {
    super(code, message, { cause });
  }
}

const MEMORY_MB = 256;
const ROWS_PER_BATCH = 4096;

/** A table for loaders. Nothing is read before a loader asks for cells or batches. */
export function openLoaderTable(from: LoaderFiles): LoadTable {
  const { table, rows, files } = from;
  const cells = () => cellsOf(from);
  return { table, rows, files, cells, batches: () => batchesOf(table, cells()) };
}

async function* cellsOf({ table, files, temporaryDirectory }: LoaderFiles) {
  try {
    await using database = await openForScanning({
      memoryLimitMb: MEMORY_MB,
      threads: 1,
      temporaryDirectory,
      allowedDirectories: [...new Set(files.map((file) => dirname(file)))],
    });
    const columns = table.columns.map(expression).join(", ");
    yield* rowsOf(database.connection, table.columns, `SELECT ${columns} FROM ${readParquet(files)}`);
  } catch (thrown) {
    const failure = duckdbError(thrown);
    throw isOfTheDisk(failure) ? new TableReadError(failure, thrown) : thrown;
  }
}

/** SQL of a cell: instants in microseconds, dates in days since 1970. */
function expression({ name, type }: Column): string {
  const column = quoteIdentifier(name);
  if (type === "date") return `(${column} - DATE '1970-01-01')::INTEGER`;
  if (type !== "timestamp") return type === "json" ? `${column}::VARCHAR` : column;
  // Of an infinite instant `epoch_us` gives NULL; it becomes the number that Parquet files have.
  const infinite = `if(${column} > TIMESTAMPTZ 'epoch', 1, -1) * 9223372036854775807`;
  return `CASE WHEN isinf(${column}) THEN ${infinite} ELSE epoch_us(${column}) END`;
}

async function* rowsOf(
  connection: DuckDBConnection,
  columns: readonly Column[],
  sql: string,
): AsyncGenerator<readonly Cell[]> {
  const result = await connection.stream(sql);
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    const values = columns.map((_, at) => chunk.getColumnValues(at));
    for (let row = 0; row < chunk.rowCount; row++)
      yield columns.map(({ type }, at) => cellOf(type, values[at]?.[row]));
  }
}

function cellOf(type: Column["type"], value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (type === "integer" || type === "date" || type === "double") return Number(value);
  // Beyond the safe integers, microseconds stay a bigint.
  if (type === "timestamp" && Number.isSafeInteger(Number(value))) return Number(value);
  return value as Cell;
}

/** Arrow is imported when a loader asks for batches. */
async function* batchesOf({ columns }: Table, cells: AsyncIterable<readonly Cell[]>) {
  const { recordBatch } = await import("../storage/arrow.ts");
  let rows: (readonly Cell[])[] = [];
  for await (const row of cells) {
    rows.push(row);
    if (rows.length < ROWS_PER_BATCH) continue;
    yield recordBatch(columns, rows);
    rows = [];
  }
  if (rows.length > 0) yield recordBatch(columns, rows);
}
