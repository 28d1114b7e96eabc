/** What a delivery uploads, and what its claim says of the tables: made before anything is written. */
import { join, relative } from "node:path";
import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { WarehouseError } from "../../common/errors.ts";
import type { DeliveredFile, DeliveredRun, LoadTable } from "../../pipeline.ts";
import { all, openForScanning, toSafeInteger } from "../../storage/duckdb.ts";
import { readParquet } from "../../storage/parquet-sql.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Column } from "../../tables/declare.ts";
import type { ClaimedFile, ClaimedTable } from "./claim.ts";
import type { FirstColumnRange } from "./delta/table.ts";
import { filePath, runFolder } from "./keys.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";
import { withFolder } from "./temporary.ts";

export interface Upload {
  readonly key: string;
  /** Absolute path. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface Plan {
  readonly tables: readonly ClaimedTable[];
  /** Files of the tables, and the published run; its manifest is the last one. */
  readonly uploads: readonly Upload[];
}

const LIMITS = { memoryLimitMb: 128, threads: 1 };

/** Throws `target.refused` for a table that the lake cannot have. */
export async function planDelivery(run: DeliveredRun, instance: string): Promise<Plan> {
  for (const { table } of run.tables) assertPossible(table);
  const tables = await withFolder(async (temporaryDirectory) => {
    const allowedDirectories = [run.directory];
    await using database = await openForScanning({ temporaryDirectory, allowedDirectories, ...LIMITS });
    const described: (ClaimedTable & { readonly uploads: readonly Upload[] })[] = [];
    for (const table of run.tables) {
      run.signal.throwIfAborted();
      described.push(await describe(database.connection, run, table, instance));
    }
    return described;
  });
  const folder = runFolder(instance, run.run, run.manifest.sha256);
  const copies = [...run.files, run.manifest].map((file) => ({
    key: `${folder}${file.path}`,
    file: join(run.directory, file.path),
    bytes: file.bytes,
    sha256: file.sha256,
  }));
  return {
    tables: tables.map(({ uploads: _, ...table }) => table),
    uploads: [...tables.flatMap(({ uploads }) => uploads), ...copies],
  };
}

/** Names that the lake has given already. */
function assertPossible({ name, columns }: LoadTable["table"]): void {
  const taken = columns.find((column) => column.name.toLowerCase() === "instance")?.name;
  if (name !== RUN_SNAPSHOTS.name && taken === undefined) return;
  const what = taken === undefined ? `The table ${name}` : `The column ${taken} of the table ${name}`;
  throw new WarehouseError(
    "target.refused",
    `${what} cannot be delivered: the lake has one of its own by that name; give it another name in the pipeline.`,
  );
}

async function describe(
  connection: DuckDBConnection,
  run: DeliveredRun,
  { table, files }: LoadTable,
  instance: string,
) {
  const first = table.columns.find(({ name }) => name === table.key[0]);
  const known = new Map(run.files.map((file) => [file.path, file]));
  const found = await rowsOf(connection, files, first);
  const described = files.map((file, place) => {
    const { rows, range } = found[place] ?? { rows: 0, range: null };
    const { bytes, sha256 } = statedFile(known, run, file);
    return { path: filePath(instance, table.name, run.sequence, sha256), bytes, sha256, rows, range };
  });
  const { name, comment } = table;
  const columns = table.columns.map(({ name, type, nullable, comment }) => ({
    name,
    type,
    nullable,
    comment,
  }));
  return { name, comment, columns, files: described, uploads: uploadsOf(name, files, described) };
}

function uploadsOf(table: string, files: readonly string[], described: readonly ClaimedFile[]): Upload[] {
  return described.map(({ path, bytes, sha256 }, at) => {
    return { key: `${table}/${path}`, file: files[at] ?? "", bytes, sha256 };
  });
}

function statedFile(
  known: ReadonlyMap<string, DeliveredFile>,
  run: DeliveredRun,
  file: string,
): DeliveredFile {
  const path = relative(run.directory, file);
  const stated = known.get(path);
  if (stated !== undefined) return stated;
  throw new WarehouseError("verify.failed", `The file ${path} is not in the manifest of the run ${run.run}.`);
}

interface FileRows {
  readonly rows: number;
  readonly range: FirstColumnRange | null;
}

/** In the order of the files. Each is asked by itself: a table may have any name for a column, that of the file's too. */
async function rowsOf(
  connection: DuckDBConnection,
  files: readonly string[],
  first: Column | undefined,
): Promise<readonly FileRows[]> {
  const column = first === undefined ? "NULL" : quoteIdentifier(first.name);
  const bound = (aggregate: string) => (first === undefined ? aggregate : expression(first, aggregate));
  const asked = files.map(
    (file, place) =>
      `SELECT ${place} AS place, count(*) AS rows, ${bound(`min(${column})`)} AS low, ${bound(`max(${column})`)} AS high, count(*) - count(${column}) AS nulls
       FROM ${readParquet([file])}`,
  );
  const found = await all(connection, `${asked.join(" UNION ALL ")} ORDER BY place`);
  return found.map((row) => {
    const nulls = toSafeInteger(row.nulls ?? null);
    return { rows: toSafeInteger(row.rows ?? null), range: rangeOf(first, row.low, row.high, nulls) };
  });
}

/** Instants as microseconds, which every unit of Delta's can be made from. */
function expression({ type }: Column, value: string): string {
  if (type === "timestamp") return `epoch_us(${value})`;
  return type === "date" || type === "json" ? `(${value})::VARCHAR` : value;
}

/** Null where nothing can be said: of NULLs alone, and of numbers that JSON has not. */
function rangeOf(
  column: Column | undefined,
  low: DuckDBValue | undefined,
  high: DuckDBValue | undefined,
  nulls: number,
): FirstColumnRange | null {
  if (column === undefined) return null;
  const min = boundOf(column, low, Math.floor);
  const max = boundOf(column, high, Math.ceil);
  return min === undefined || max === undefined ? null : { column: column.name, min, max, nulls };
}

/** What all readers parse: years of four digits, and no infinity. */
const DATE = /^\d{4}-\d\d-\d\d$/;
const LAST_INSTANT_MS = Date.UTC(9999, 11, 31);

/** Delta's instants have milliseconds: `round` leads outwards. */
function boundOf(
  { type }: Column,
  value: DuckDBValue | undefined,
  round: (milliseconds: number) => number,
): string | number | boolean | undefined {
  if (typeof value === "string") return type !== "date" || DATE.test(value) ? value : undefined;
  if (typeof value === "boolean") return value;
  if (typeof value !== "bigint" && typeof value !== "number") return undefined;
  const number = Number(value);
  if (type === "timestamp") return instantOf(round(number / 1000));
  return type === "double" ? finite(number) : Number.isSafeInteger(number) ? number : undefined;
}

function instantOf(milliseconds: number): string | undefined {
  const isPlain = Math.abs(milliseconds) < LAST_INSTANT_MS && new Date(milliseconds).getUTCFullYear() >= 0;
  return isPlain ? new Date(milliseconds).toISOString() : undefined;
}

function finite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined;
}
