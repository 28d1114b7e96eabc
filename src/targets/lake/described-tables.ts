/** The tables of a run as a delivery needs them: each file with its digest, its rows and its statistics. */
import { join } from "node:path";
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import type { DeliveredRun } from "../../pipeline.ts";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Column, Table } from "../../tables/declare.ts";
import type { FileContent } from "../store/store.ts";
import type { DeclaredTable } from "./delta/schema.ts";
import type { ColumnStatistics, FileStatistics } from "./delta/statistics.ts";
import { inScratch } from "./scratch.ts";

export interface DescribedFile extends FileContent, FileStatistics {
  /** Absolute path on this machine. */
  readonly file: string;
}

export interface DescribedTable extends DeclaredTable {
  readonly files: readonly DescribedFile[];
}

export async function describeTables(
  run: Pick<DeliveredRun, "directory" | "files" | "tables" | "signal">,
): Promise<readonly DescribedTable[]> {
  const contents = new Map(run.files.map((file) => [join(run.directory, file.path), file]));
  const describe = async (connection: DuckDBConnection) => {
    const tables: DescribedTable[] = [];
    for (const { table, files: paths } of run.tables) {
      run.signal.throwIfAborted();
      const { name, comment, columns } = table;
      const files = (await rowsOf(connection, paths, columnsWithStatistics(table))).map((found) => {
        const content = contents.get(found.file);
        if (content === undefined) throw new TypeError(`${found.file} is not in the manifest of its run`);
        const { bytes, sha256 } = content;
        return { ...found, bytes, sha256 };
      });
      tables.push({ name, comment, columns, files });
    }
    return tables;
  };
  return inScratch(describe, { reading: [run.directory] });
}

/** Columns whose bounds and NULLs each file has, by which readers skip files: the first key column. */
function columnsWithStatistics({ columns, key }: Table): Column[] {
  return columns.filter(({ name }) => name === key[0]);
}

/** Rows and statistics, in the order of the files. Each is asked by itself, because a column may have any name. */
async function rowsOf(connection: DuckDBConnection, files: readonly string[], described: readonly Column[]) {
  const aggregates = described.map((column, at) => {
    const name = quoteIdentifier(column.name);
    const low = expression(column, `min(${name})`);
    const high = expression(column, `max(${name})`);
    return `, ${low} AS low_${at}, ${high} AS high_${at}, count(*) - count(${name}) AS nulls_${at}`;
  });
  const asked = files.map(
    (file, place) =>
      `SELECT ${place} AS place, count(*) AS rows${aggregates.join("")} FROM ${readParquet([file])}`,
  );
  const found = await all(connection, `${asked.join(" UNION ALL ")} ORDER BY place`);
  return found.map((row, place) => ({
    file: files[place] ?? "",
    rows: toSafeInteger(row.rows ?? null),
    statistics: described.flatMap((column, at) =>
      statisticsOf(column, { low: row[`low_${at}`], high: row[`high_${at}`], nulls: row[`nulls_${at}`] }),
    ),
  }));
}

/** Instants as microseconds, which every unit of Delta's can be made from. */
function expression({ type }: Column, value: string): string {
  if (type === "timestamp") return `epoch_us(${value})`;
  return type === "date" || type === "json" ? `(${value})::VARCHAR` : value;
}

/** None for NULLs alone, and for numbers that JSON does not have. */
function statisticsOf(
  column: Column,
  { low, high, nulls }: Readonly<Record<"low" | "high" | "nulls", DuckDBValue | undefined>>,
): ColumnStatistics[] {
  const min = boundOf(column, low, { round: Math.floor, shorten: beginningOf });
  const max = boundOf(column, high, { round: Math.ceil, shorten: aboveBeginningOf });
  if (min === undefined || max === undefined) return [];
  return [{ column: column.name, min, max, nulls: toSafeInteger(nulls ?? null) }];
}

/** Dates that all readers parse: years of four digits, and no infinity. */
const DATE = /^\d{4}-\d\d-\d\d$/;
const LAST_INSTANT_MS = Date.UTC(9999, 11, 31);

/** How a bound that cannot be exact is widened. */
interface Outwards {
  /** Delta's instants have milliseconds. */
  readonly round: (milliseconds: number) => number;
  /** The log has the bounds of every file, and a text may be of any length. */
  readonly shorten: (text: string) => string;
}

function boundOf(
  { type }: Column,
  value: DuckDBValue | undefined,
  { round, shorten }: Outwards,
): string | number | boolean | undefined {
  if (typeof value === "string")
    return type !== "date" ? shorten(value) : DATE.test(value) ? value : undefined;
  if (typeof value === "boolean") return value;
  if (typeof value !== "bigint" && typeof value !== "number") return undefined;
  const number = Number(value);
  if (type === "timestamp") return instantOf(round(number / 1000));
  const isBound = type === "double" ? Number.isFinite(number) : Number.isSafeInteger(number);
  return isBound ? number : undefined;
}

/** Longest bound of a text, in characters: more than IDs and slugs have. */
const BOUND_LENGTH = 100;
/** Comes after every other in the order of UTF-8. */
const LAST_CHARACTER = "\u{10FFFF}";

function beginningOf(text: string): string {
  if (text.length <= BOUND_LENGTH) return text;
  return [...text.slice(0, 2 * BOUND_LENGTH)].slice(0, BOUND_LENGTH).join("");
}

/** A text that is not below any that begins so and goes on as this one does. */
function aboveBeginningOf(text: string): string {
  const beginning = beginningOf(text);
  const isEnd = beginning.length === text.length || text.startsWith(LAST_CHARACTER, beginning.length);
  return isEnd ? text : beginning + LAST_CHARACTER;
}

function instantOf(milliseconds: number): string | undefined {
  const isPlain = Math.abs(milliseconds) < LAST_INSTANT_MS && new Date(milliseconds).getUTCFullYear() >= 0;
  return isPlain ? new Date(milliseconds).toISOString() : undefined;
}
