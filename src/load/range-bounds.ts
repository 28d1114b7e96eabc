/** Cuts items and tables into ID ranges: what is loaded at a time, and what each Parquet file holds. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { compareUtf8 } from "../common/utf8-order.ts";
import { splitIntoBatches } from "../raw/batches.ts";
import { all, scalar } from "../storage/duckdb.ts";
import {
  type IdRange,
  type RangeBounds,
  rangeConditions,
  rangesOf,
  whereClause,
} from "../storage/id-ranges.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import type { Table } from "../tables/declare.ts";
import {
  openTables,
  type PublishedFiles,
  parquetFilesOf,
  tablesSourceOf,
} from "../warehouse/published-tables.ts";

/** Bounds by table. The first range is open below, whatever its bound. */
export type BoundsByTable = ReadonlyMap<string, RangeBounds>;

/** Maximum number of items loaded at a time. */
const ITEMS_PER_RANGE = 10_000;
/** Staged bytes of the widest table in such a range, roughly. Sorting and writing them takes some three times as much. */
const BYTES_PER_RANGE = 24 * 1024 * 1024;
/** The same for other tables. It is less, because their bytes may be spread over the items in another way. */
const BYTES_OF_OTHER_TABLES = 12 * 1024 * 1024;
/** A range keeps its bounds until it has grown to more than this many times its size. */
const MAX_GROWTH = 2;

interface ItemWeights {
  /** Bytes of the answers that had an item, of all items in the order of their IDs. */
  readonly weights: Float32Array;
  /** ID of the item at an index of `weights`. */
  readonly idAt: (index: number) => string;
  /** Staged bytes of the table that has most of them. */
  readonly widestTableBytes: number;
}

/** Number of rows that the database works on at once. Of the widest table it holds them all, whatever their size. */
export const ROWS_OF_A_VECTOR = 2048;

/** Largest number of bytes that such a number of neighbouring items has in the widest table, roughly. */
function vectorBytes({ weights, widestTableBytes }: ItemWeights): number {
  let total = 0;
  let window = 0;
  let heaviest = 0;
  for (const [index, weight] of weights.entries()) {
    total += weight;
    window += weight - (weights[index - ROWS_OF_A_VECTOR] ?? 0);
    heaviest = Math.max(heaviest, window);
  }
  return total === 0 ? 0 : (heaviest / total) * widestTableBytes;
}

/** Enough for usual items; with 112 MB two statements fail, since they cannot always spill all they could. */
const MEMORY_LIMIT_MB = 192;
/** Above, the engine's error says more than a process that the system kills. */
const MAX_MEMORY_LIMIT_MB = 4096;

/** Memory limit of the database, given the bytes of the rows that it holds at once: a gigabyte for items of 500 KB. */
export function memoryLimitMb(vectorBytes: number): number {
  return Math.min(MEMORY_LIMIT_MB + Math.ceil((1.25 * vectorBytes) / 1e6), MAX_MEMORY_LIMIT_MB);
}

/** Cuts the items of a run into ranges. `stagedBytes` and `before`, the bounds of the files of the run before: by table. */
export function cutItems(
  items: ItemWeights,
  stagedBytes: ReadonlyMap<string, number>,
  before: BoundsByTable,
) {
  const bounds = rangeBounds(items);
  return {
    /** Bounds of the item ranges by which the widest table is loaded. */
    bounds,
    /** Bounds of the files of each table of items. */
    fileBounds: fileBounds(items, bounds, stagedBytes, before),
    /** Bytes of the widest table that DuckDB holds at once, roughly. */
    vectorBytes: vectorBytes(items),
  };
}

/** Least ID of each range of items that is loaded at a time; empty if one range is enough. */
function rangeBounds({ weights, idAt, widestTableBytes }: ItemWeights): RangeBounds {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const bytesPerWeight = total === 0 ? 0 : widestTableBytes / total;
  const limits = { items: ITEMS_PER_RANGE, bytes: BYTES_PER_RANGE };
  const bounds: string[] = [];
  const bytesOf = (index: number) => (weights[index] ?? 0) * bytesPerWeight;
  for (const [first] of splitIntoBatches(weights.keys(), bytesOf, limits))
    if (first !== undefined) bounds.push(idAt(first));
  return bounds.length <= 1 ? [] : bounds;
}

/**
 * Bounds for a table with these staged bytes: as many neighbouring ranges in one as its bytes allow, since each file has a
 * cost of its own. `minRanges`: number of ranges that steps work on at a time.
 */
export function mergeBounds(bounds: RangeBounds, stagedBytes: number, minRanges = 1): RangeBounds {
  const wanted = Math.max(minRanges, Math.ceil(stagedBytes / BYTES_OF_OTHER_TABLES));
  const neighbours = Math.max(1, Math.floor(bounds.length / wanted));
  const firsts = bounds.filter((_, index) => index % neighbours === 0);
  return firsts.length <= 1 ? [] : firsts;
}

/**
 * Bounds of the files of each table of items. They are those of the run before, with further cuts in ranges that are too
 * large by now. `bounds`: of all items, from {@link rangeBounds}.
 */
function fileBounds(
  items: ItemWeights,
  bounds: RangeBounds,
  stagedBytes: ReadonlyMap<string, number>,
  before: BoundsByTable,
): BoundsByTable {
  const weigh = rangeWeigher(items);
  const found = new Map<string, RangeBounds>();
  for (const [table, bytes] of stagedBytes) {
    const kept = before.get(table);
    const cut = (range: IdRange, index: number): RangeBounds => {
      const first = kept?.[index] ?? "";
      const { share, ...within } = weigh(range);
      const isTooLarge =
        share * bytes > MAX_GROWTH * BYTES_OF_OTHER_TABLES &&
        (within.weights.length > MAX_GROWTH * ITEMS_PER_RANGE ||
          within.widestTableBytes > MAX_GROWTH * BYTES_PER_RANGE);
      const cuts = isTooLarge ? mergeBounds(rangeBounds(within), share * bytes) : [];
      return [first, ...cuts.slice(1)];
    };
    found.set(table, kept === undefined ? mergeBounds(bounds, bytes) : rangesOf(kept).flatMap(cut));
  }
  return found;
}

/** Returns a function that gives the weights of a range, and its share of the total weight. */
function rangeWeigher({ weights, idAt, widestTableBytes }: ItemWeights) {
  const sums = new Float64Array(weights.length + 1);
  for (const [index, weight] of weights.entries()) sums[index + 1] = (sums[index] ?? 0) + weight;
  const total = sums.at(-1) || 1;
  const indexOf = (bound: string): number => {
    let [from, to] = [0, weights.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (compareUtf8(idAt(middle), bound) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  return ({ lower, upper }: IdRange): ItemWeights & { readonly share: number } => {
    const from = lower === undefined ? 0 : indexOf(lower);
    const to = upper === undefined ? weights.length : indexOf(upper);
    const share = ((sums[to] ?? 0) - (sums[from] ?? 0)) / total;
    return {
      weights: weights.subarray(from, to),
      idAt: (index) => idAt(from + index),
      widestTableBytes: share * widestTableBytes,
      share,
    };
  };
}

/** Bounds of the files of a published run: the first key of each. Throws if a file is unreadable or out of order. */
export async function readFileBounds(
  published: PublishedFiles,
  tables: readonly Table[],
  temporaryDirectory: string,
): Promise<BoundsByTable> {
  const files = new Map(tables.map((table) => [table, parquetFilesOf(published, table.name)]));
  const bounds = new Map<string, string[]>();
  for (const [table, { length }] of files) if (length > 0) bounds.set(table.name, [""]);
  if ([...files.values()].every(({ length }) => length <= 1)) return bounds;
  const limits = { temporaryDirectory, memoryLimitMb: 128, threads: 1 };
  await using database = await openTables({ ...tablesSourceOf(published), database: undefined }, limits);
  for (const [table, [, ...others]] of files) {
    const key = quoteIdentifier(table.key[0] ?? "");
    for (const file of others) {
      const [row] = await all(
        database.connection,
        `SELECT ${key} AS key FROM ${readParquet([file])} LIMIT 1`,
      );
      bounds.get(table.name)?.push(String(row?.key ?? ""));
    }
    rangesOf(bounds.get(table.name) ?? []);
  }
  return bounds;
}

/** Rows that are cut into ranges by the first key column of their table. */
interface SourceRows {
  readonly table: Table;
  /** SQL after FROM. */
  readonly source: string;
  readonly rowsPerRange: number;
}

/**
 * Bounds of ranges of about `rowsPerRange` rows; if there are bounds of the run before, these, with further cuts in ranges
 * that have more than twice as many rows by now.
 */
export async function boundsByRows(
  connection: DuckDBConnection,
  rows: SourceRows,
  before: RangeBounds,
): Promise<RangeBounds> {
  if (before.length === 0) return cutByRows(connection, rows, { lower: undefined, upper: undefined });
  const kept: string[] = [];
  for (const [index, range] of rangesOf(before).entries()) {
    const { conditions, params } = rangeConditions(rows.table, range);
    const count = `SELECT count(*) FROM ${rows.source}${whereClause(conditions)}`;
    const isTooLarge = (await scalar(connection, count, params)) > MAX_GROWTH * rows.rowsPerRange;
    const cuts = isTooLarge ? await cutByRows(connection, rows, range) : [];
    kept.push(before[index] ?? "", ...cuts.slice(1));
  }
  return kept;
}

/** Bounds of ranges of about `rowsPerRange` rows within a range. */
async function cutByRows(
  connection: DuckDBConnection,
  { table, source, rowsPerRange }: SourceRows,
  range: IdRange,
): Promise<RangeBounds> {
  const key = quoteIdentifier(table.key[0] ?? "");
  const { conditions, params } = rangeConditions(table, range);
  const numbered = `SELECT ${key} AS bound, row_number() OVER (ORDER BY ${key}) - 1 AS place FROM ${source}${whereClause(conditions)}`;
  const bounds = await all(
    connection,
    `SELECT DISTINCT bound FROM (${numbered}) WHERE place % ${rowsPerRange} = 0 ORDER BY bound`,
    params,
  );
  return bounds.map((row) => String(row.bound));
}
