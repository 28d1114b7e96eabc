/** Runs statements of DuckDB. */
import type { DuckDBConnection, DuckDBResult, DuckDBValue } from "@duckdb/node-api";
import accessors from "@duckdb/node-api/lib/vectors/dataAccessors.js";
import { WarehouseError } from "../common/errors.ts";
import { duckdbError } from "./duckdb-error.ts";

// The client's own decoder drops a U+FEFF at the beginning of a text, so that two keys could become one. All texts of its
// vectors, also those in lists, structures, maps and variants, go through this decoder.
Object.assign(accessors, { textDecoder: new TextDecoder("utf-8", { ignoreBOM: true }) });

/** Values of a statement's `$1`, `$2`, ... */
export type QueryParams = readonly DuckDBValue[];

/** Values of a statement's named parameters: `$run` is `run`. */
type NamedParams = ReadonlyMap<string, DuckDBValue>;

/** `undefined` if there are none: then the client takes one step instead of four. */
function bound(params: QueryParams | NamedParams): DuckDBValue[] | Record<string, DuckDBValue> | undefined {
  if ("size" in params) return Object.fromEntries(params);
  return params.length === 0 ? undefined : [...params];
}

/** Runs one statement, or several without parameters, and discards the results. */
export async function execute(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams | NamedParams = [],
): Promise<void> {
  await attempt(async () => connection.run(sql, bound(params)));
}

/** A row by column name. It has no prototype, so a column may be named `__proto__`. */
export type QueryRow = Readonly<Record<string, DuckDBValue>>;

/** All rows of a query. Counts and integers above 32 bits are bigint; see `toSafeInteger`. */
export async function all(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams = [],
): Promise<QueryRow[]> {
  const reader = await attempt(async () => connection.runAndReadAll(sql, bound(params)));
  const names = reader.deduplicatedColumnNames();
  return reader.getRows().map((cells) => {
    const row: Record<string, DuckDBValue> = Object.create(null);
    for (const [index, name] of names.entries()) row[name] = cells[index] ?? null;
    return row;
  });
}

/** The single number of a query such as `SELECT count(*) ...`. */
export async function scalar(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams = [],
): Promise<number> {
  const [row] = await all(connection, sql, params);
  return toSafeInteger(Object.values(row ?? {})[0] ?? null);
}

/** An integer as a number. Throws if that would round it. */
export function toSafeInteger(value: DuckDBValue): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number)) return number;
  throw new WarehouseError("internal", "A figure from the database is no integer below 2^53.");
}

/** Result of one statement, whose chunks are fetched as they are read. */
export async function stream(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams = [],
): Promise<DuckDBResult> {
  return attempt(async () => connection.stream(sql, bound(params)));
}

/** A SELECT with its parameters. */
export interface SqlQuery {
  readonly text: string;
  readonly params: QueryParams;
}

async function attempt<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (thrown) {
    throw duckdbError(thrown);
  }
}
