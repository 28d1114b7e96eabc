/**
 * What a delivery uploads, and what its claim says of the tables: made before anything is written. A file of a table that
 * the last run has too, by its digest, is that file: its place in the lake stays, and so does what the log says of it.
 */
import { join } from "node:path";
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import type { DeliveredRun } from "../../pipeline.ts";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Column, Table } from "../../tables/declare.ts";
import type { FileContent } from "../store/store.ts";
import { type Claim, type ClaimedTable, type ColumnStatistics, isCopied } from "./claim.ts";
import { filePath, renumbered, runFolder } from "./keys.ts";
import { inScratch } from "./scratch.ts";
import type { Waiting } from "./waiting.ts";

export interface Upload extends FileContent {
  readonly key: string;
  /** Absolute path. */
  readonly file: string;
  /** Whether the last run has it too. */
  readonly isKept: boolean;
}

export interface Plan {
  /** That the run is to be delivered under. */
  readonly number: number;
  /** Number of the removal that it comes after; 0: there was none. */
  readonly since: number;
  /** Attempt of the claim whose files are used again; null: none are. */
  readonly after: string | null;
  readonly tables: readonly ClaimedTable[];
  /** Files of the tables, those that should be there included, and the run's copy; its manifest is the last one. */
  readonly uploads: readonly Upload[];
}

/** What a run comes after. */
export interface Follow {
  /**
   * The last claim, once all tables have it but those that wait; null: there is none, or it cannot be finished. Nothing is
   * used again of such a one, nor of a table that waits: what the tables have may be what the run after it has, and whoever
   * goes on with it would not see that run.
   */
  readonly last: Claim | null;
  /** That the run is to be delivered under. */
  readonly number: number;
  /** Number of the removal before; 0: there was none. */
  readonly since: number;
  readonly waiting?: readonly Waiting[];
}

export async function planDelivery(
  run: DeliveredRun,
  instance: string,
  { last, number, since, waiting = [] }: Follow,
): Promise<Plan> {
  const isWhole = (name: string) => waiting.every(({ table }) => table !== name);
  const stated = new Map(run.files.map((file) => [join(run.directory, file.path), file]));
  const tables: ClaimedTable[] = [];
  const uploads: Upload[] = [];
  const describe = async (connection: DuckDBConnection) => {
    for (const { table, files: paths } of run.tables) {
      run.signal.throwIfAborted();
      const { name, comment, columns } = table;
      const before = last?.tables.find((each) => each.name === name && isWhole(name))?.files ?? [];
      const described = columnsWithStatistics(table);
      const files = (await rowsOf(connection, paths, described)).map(({ file, ...rows }) => {
        const content = stated.get(file);
        if (content === undefined) throw new TypeError(`${file} is not in the manifest of its run`);
        const { bytes, sha256 } = content;
        const same = before.find((each) => each.sha256 === sha256);
        const path = same?.path ?? filePath(instance, name, number, sha256);
        uploads.push({ key: `${name}/${path}`, file, bytes, sha256, isKept: same !== undefined });
        return { path, bytes, sha256, ...rows };
      });
      tables.push({ name, comment, columns, files });
    }
  };
  await inScratch(describe, { reading: [run.directory] });
  const folder = runFolder(instance, renumbered(run.run, number), run.manifest.sha256);
  const copied = run.files.filter(({ path }) => isCopied(path));
  for (const { path, bytes, sha256 } of [...copied, run.manifest])
    uploads.push({ key: `${folder}${path}`, file: join(run.directory, path), bytes, sha256, isKept: false });
  return { number, since, after: last?.attempt ?? null, tables, uploads };
}

/** By these readers leave out files: each has the least and the greatest value of a file, and its NULLs. */
function columnsWithStatistics({ columns, key }: Table): Column[] {
  return columns.filter(({ name }) => name === key[0]);
}

/** In the order of the files. Each is asked by itself: a table may have any name for a column, that of the file's too. */
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

/** None where nothing can be said: of NULLs alone, and of numbers that JSON has not. */
function statisticsOf(
  column: Column,
  { low, high, nulls }: Readonly<Record<"low" | "high" | "nulls", DuckDBValue | undefined>>,
): ColumnStatistics[] {
  const min = boundOf(column, low, { round: Math.floor, shorten: beginningOf });
  const max = boundOf(column, high, { round: Math.ceil, shorten: aboveBeginningOf });
  if (min === undefined || max === undefined) return [];
  return [{ column: column.name, min, max, nulls: toSafeInteger(nulls ?? null) }];
}

/** What all readers parse: years of four digits, and no infinity. */
const DATE = /^\d{4}-\d\d-\d\d$/;
const LAST_INSTANT_MS = Date.UTC(9999, 11, 31);

/** How a bound that cannot be told exactly leads outwards. */
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

/** Characters that the bound of a text has: more than IDs and slugs have. */
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
