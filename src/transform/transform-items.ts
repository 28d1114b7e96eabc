/**
 * Transforms all items of a run, on several threads if there are many. Items whose documents lie in the same few raw files
 * make a group: those whose latest document lies in one file. If both listings have the same order, the other documents of
 * these items lie together too. DuckDB brings the documents of all other items together.
 */
import { rm } from "node:fs/promises";
import { extname, join } from "node:path";
import { listValue } from "@duckdb/node-api";
import type { OnProgress } from "../common/progress.ts";
import { ThreadPool } from "../common/threads/threads.ts";
import { WorkQueue } from "../common/threads/work-queue.ts";
import type { Pipeline } from "../pipeline.ts";
import { splitIntoBatches } from "../raw/batches.ts";
import { Drift } from "../raw/drift.ts";
import type { RawIndex } from "../raw/raw-index.ts";
import { openForBuilding } from "../storage/database.ts";
import { execute } from "../storage/duckdb.ts";
import type { StagedPart } from "../storage/parquet-file.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { quoteLiteral } from "../storage/sql-text.ts";
import { EntityStore } from "./entity-store.ts";
import type { ItemGroup, TransformOutput, TransformTask } from "./transform-group.ts";

const MODULE = new URL(`./transform-group${extname(import.meta.url)}`, import.meta.url);

interface TransformRequest {
  readonly index: RawIndex;
  /** Approximate bytes of an item's document. */
  readonly weightOf: (item: number) => number;
  /** The run's staging folder. */
  readonly directory: string;
  readonly temporaryDirectory: string;
  readonly pipeline: Pick<Pipeline, "tables" | "rows">;
  /** Module of the pipeline; `undefined` if functions of its tables run on this thread. */
  readonly pipelineUrl: string | undefined;
  readonly threads: number;
  /** Whether no documents of the item count: it was removed, vanished, or is beyond `--limit`. */
  readonly isLeftOut: (item: number) => boolean;
  /** Folder of the staged parts. */
  readonly parts: string;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
}

/** Throws `config.invalid` for errors of custom tables, and errors of the disk. */
export async function transformItems(request: TransformRequest) {
  const { index, isLeftOut } = request;
  await using pool = transformers(request);
  const signal = AbortSignal.any([request.signal, pool.failure]);
  const total = index.items.size;
  let items = 0;
  const transform = async (group: ItemGroup): Promise<void> => {
    signal.throwIfAborted();
    items += await pool.askAny({ ...group, kind: "group" }, [group.documents.buffer]);
    request.onProgress({ stage: "transform", done: items, total, items, bytes: 0 });
  };
  const queue = new WorkQueue(pool.size, signal);
  const plan = planGroups(index, isLeftOut);
  let step = plan.next();
  for (; step.done !== true; step = plan.next()) {
    const group = step.value;
    await queue.add(() => transform(group));
  }
  await queue.done();
  await regroup(request, step.value, transform);
  return together(await pool.askAll({ kind: "flush" }));
}

/** Number of documents that take as long as the start of a thread, roughly. */
const DOCUMENTS_PER_THREAD = 2000;

/** Threads as the number of documents needs; none if they are few or a function cannot be sent to a thread. */
function transformers(request: TransformRequest) {
  const { pipeline, pipelineUrl, index, parts: directory } = request;
  const { tables, rows } = pipeline;
  const hasFunctions = Object.keys(rows).length > 0;
  const isHere = hasFunctions ? pipelineUrl === undefined : index.size <= DOCUMENTS_PER_THREAD;
  const threads = isHere ? 0 : Math.min(request.threads, Math.ceil(index.size / DOCUMENTS_PER_THREAD));
  const sent = hasFunctions && threads > 0 ? pipelineUrl : { tables, rows };
  return new ThreadPool<TransformTask, { group: number; flush: TransformOutput }>({
    module: MODULE,
    threads,
    setup: (thread) => ({ pipeline: sent, directory, thread }),
  });
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

/** Of one file. An item counts with the bytes of one document. */
const FILE_LIMITS = { items: 1000, bytes: 24 * 1024 * 1024 };
const MEMORY_MB = 512;

/** Calls `use` for groups of items whose documents lie in many files. Its file is removed afterwards. */
async function regroup(
  { index, weightOf, directory, temporaryDirectory }: TransformRequest,
  items: readonly number[],
  use: (group: ItemGroup) => Promise<void>,
): Promise<void> {
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

/** Parts and their bytes, roughly, by table; entities; drift, and the number of items with each. */
function together(results: readonly TransformOutput[]) {
  const parts = new Map<string, StagedPart[]>();
  const stagedBytes = new Map<string, number>();
  const store = new EntityStore();
  const drift = new Drift();
  for (const result of results) {
    for (const { table, part, bytes } of result.parts) {
      stagedBytes.set(table, (stagedBytes.get(table) ?? 0) + bytes);
      parts.set(table, [...(parts.get(table) ?? []), part]);
    }
    for (const version of result.versions) store.add(version);
    for (const listed of result.listedFields) store.listedFields.add(listed);
    for (const entry of result.drift) drift.add(entry);
  }
  const driftItems = results.flatMap((result) => result.driftItems);
  return { parts, stagedBytes, store, drift: drift.take(), driftItems };
}
