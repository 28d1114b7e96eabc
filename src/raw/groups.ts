/**
 * Groups items whose documents lie in the same few raw files. A group has the items whose latest document lies in one
 * file. If both listings have the same order, the other documents of these items lie together too. DuckDB brings the
 * documents of all other items together.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { listValue } from "@duckdb/node-api";
import { execute, openForBuilding } from "../storage/duckdb.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteLiteral } from "../storage/sql-text.ts";
import { splitIntoBatches } from "./batches.ts";
import type { RawIndex } from "./raw-index.ts";

/** Items that are transformed together. */
export interface ItemGroup {
  readonly files: readonly string[];
  /** For each item: number of documents that count, then for each, the latest first, index in `files` and row. */
  readonly documents: Uint32Array<ArrayBuffer>;
}

/** A file is read for a group that needs this share of it, or this share of the group. */
const SHARE = 1 / 8;
/** For fewer items, a query for their documents costs less than reading a file. */
const FEW = 8;
/** A file of so few documents is read for any group that needs one of them: files of single items are like this. */
const SMALL = 64;

/**
 * Yields the groups, and returns the numbers of the remaining items, of which some document lies in another file. Items
 * without documents, and those that are left out, are in neither.
 */
export function* planGroups(
  index: RawIndex,
  isLeftOut: (item: number) => boolean,
): Generator<ItemGroup, number[]> {
  const rest: number[] = [];
  for (const file of index.files.keys()) {
    const items = atHome(index, file, isLeftOut);
    const isRead = filesTogether(index, file, items);
    const together: typeof items = [];
    for (const each of items) {
      if (each.counting.every((at) => isRead(at.file))) together.push(each);
      else rest.push(each.item);
    }
    const files = [...new Set(together.flatMap(({ counting }) => counting.map((at) => at.file)))];
    const places = new Map(files.map((each, place) => [each, place]));
    const documents = together.flatMap(({ counting }) => [
      counting.length,
      ...counting.flatMap((at) => [places.get(at.file) ?? 0, at.row]),
    ]);
    if (documents.length > 0) yield { files: pathsOf(index, files), documents: Uint32Array.from(documents) };
  }
  return rest;
}

/** Items whose latest document lies in the file, in the order of rows. */
function atHome(index: RawIndex, file: number, isLeftOut: (item: number) => boolean) {
  return [...(index.files[file]?.items ?? [])].flatMap((item, row) => {
    const counting = isLeftOut(item) ? [] : index.counting(item);
    const [latest] = counting;
    return latest?.file === file && latest.row === row ? [{ item, counting }] : [];
  });
}

/** Which files to read together with the file. */
function filesTogether(
  index: RawIndex,
  file: number,
  items: ReturnType<typeof atHome>,
): (other: number) => boolean {
  const needed = new Map<number, number>();
  for (const { counting } of items)
    for (const at of counting) needed.set(at.file, (needed.get(at.file) ?? 0) + 1);
  return (other) => {
    const documents = needed.get(other) ?? 0;
    const size = index.files[other]?.items.length ?? 0;
    return (
      other === file ||
      size <= SMALL ||
      documents >= SHARE * size ||
      documents >= Math.max(FEW, SHARE * items.length)
    );
  };
}

function pathsOf({ files }: RawIndex, numbers: Iterable<number>): string[] {
  return Array.from(numbers, (number) => files[number]?.path ?? "");
}

export interface RegroupRequest {
  readonly index: RawIndex;
  /** Numbers of the items. */
  readonly items: readonly number[];
  /** Approximate bytes of an item's document. */
  readonly weightOf: (item: number) => number;
  /** The run's staging folder. */
  readonly directory: string;
  readonly temporaryDirectory: string;
}

/** Of one file. An item counts with the bytes of one document. */
const FILE_LIMITS = { items: 1000, bytes: 24 * 1024 * 1024 };
const MEMORY_MB = 512;

/** Calls `use` for groups of items whose documents lie in many files. Its file is removed afterwards. */
export async function regroup(
  request: RegroupRequest,
  use: (group: ItemGroup) => Promise<void>,
): Promise<void> {
  const { index, items, weightOf, directory, temporaryDirectory } = request;
  if (items.length === 0) return;
  await using database = await openForBuilding({
    file: join(directory, "regroup.duckdb"),
    staging: directory,
    temporaryDirectory,
    memoryLimitMb: MEMORY_MB,
    previous: undefined,
  });
  const { connection } = database;
  const file = join(directory, "regrouped.parquet");
  for (const batch of splitIntoBatches(items, weightOf, FILE_LIMITS)) {
    const counting = batch.map((item) => index.counting(item));
    const places = counting.flat();
    const paths = pathsOf(
      index,
      places.map((at) => at.file),
    );
    await execute(
      connection,
      `CREATE OR REPLACE TEMP TABLE wanted AS
       SELECT unnest(range($1)) AS place, unnest($2::VARCHAR[]) AS filename, unnest($3::BIGINT[]) AS file_row_number`,
      [places.length, listValue(paths), listValue(places.map((at) => BigInt(at.row)))],
    );
    const source = readParquet([...new Set(paths)], ["filename", "file_row_number"]);
    await execute(
      connection,
      `COPY (
         SELECT raw.* EXCLUDE (filename, file_row_number)
         FROM ${source} raw JOIN wanted USING (filename, file_row_number) ORDER BY place
       ) TO ${quoteLiteral(file)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    let row = 0;
    const documents = counting.flatMap((each) => [each.length, ...each.flatMap(() => [0, row++])]);
    await use({ files: [file], documents: Uint32Array.from(documents) });
    await rm(file);
  }
}
