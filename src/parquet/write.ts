/**
 * Parquet files made of columns that are encoded already: one row group, one page a column. Compressed by Node's own
 * Zstandard, which takes a third of the time that WebAssembly does, and nothing is copied on the way.
 */
import { constants, zstdCompressSync } from "node:zlib";
import { CODECS, ENCODINGS, MAGIC, OPTIONAL, PAGES, PHYSICAL, type Physical, REQUIRED } from "./format.ts";
import { encode, type Fields, i32, i64, list, struct, text, type Value, writeVarint } from "./thrift.ts";

/** One column of a file. */
export interface EncodedColumn {
  readonly name: string;
  readonly physical: Physical;
  /** Fields of the schema that say what the values mean; see the format's `SchemaElement`. */
  readonly meaning: Fields;
  readonly nullable: boolean;
  /** A bit for each row, the least significant first, set where there is a value; undefined: there is one in each. */
  readonly validity: Uint8Array | undefined;
  /** The values that are there, in the format's plain encoding. */
  readonly values: Uint8Array;
}

const CREATED_BY = "content-warehouse";
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 }, chunkSize: 256 * 1024 };
/** Below it, setting the compressor up costs more than its work gives. */
const COMPRESSED_FROM_BYTES = 512;

interface Chunk {
  readonly pieces: readonly Uint8Array[];
  readonly codec: number;
  /** With the header of the page. */
  readonly bytes: number;
  readonly uncompressedBytes: number;
}

/** The file in pieces, in their order. They may show the columns' own bytes: write them before those change. */
export function parquetFile(columns: readonly EncodedColumn[], rows: number): Uint8Array[] {
  const chunks = columns.map((column) => chunkOf(column, rows));
  const pieces: Uint8Array[] = [MAGIC, ...chunks.flatMap((chunk) => chunk.pieces)];
  const footer = encode(metadata(columns, chunks, rows));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return [...pieces, footer, length, MAGIC];
}

function chunkOf(column: EncodedColumn, rows: number): Chunk {
  const levels = column.nullable ? levelsOf(column, rows) : undefined;
  const page = levels === undefined ? column.values : Buffer.concat([levels, column.values]);
  const zstd = page.length >= COMPRESSED_FROM_BYTES;
  const kept = zstd ? zstdCompressSync(page, LEVEL) : page;
  const header = encode([
    [1, i32(PAGES.data)],
    [2, i32(page.length)],
    [3, i32(kept.length)],
    [5, struct([1, i32(rows)], [2, i32(ENCODINGS.plain)], [3, i32(ENCODINGS.rle)], [4, i32(ENCODINGS.rle)])],
  ]);
  return {
    pieces: [header, kept],
    codec: zstd ? CODECS.zstd : CODECS.none,
    bytes: header.length + kept.length,
    uncompressedBytes: header.length + page.length,
  };
}

/** Which rows have a value: the validity bits as one run of groups of eight, or one run of rows that all have one. */
function levelsOf({ validity }: EncodedColumn, rows: number): Uint8Array {
  const groups = (rows + 7) >> 3;
  const header: number[] = [];
  writeVarint(header, validity === undefined ? rows * 2 : groups * 2 + 1);
  const run = validity === undefined ? Uint8Array.of(1) : validity.subarray(0, groups);
  const levels = Buffer.alloc(4 + header.length + run.length);
  levels.writeUInt32LE(header.length + run.length);
  levels.set(header, 4);
  levels.set(run, 4 + header.length);
  return levels;
}

function metadata(columns: readonly EncodedColumn[], chunks: readonly Chunk[], rows: number): Fields {
  let offset = MAGIC.length;
  const described: Value[] = [];
  for (const [at, chunk] of chunks.entries()) {
    const column = columns[at];
    if (column === undefined) continue;
    described.push(struct([2, i64(offset)], [3, columnMetadata(column, chunk, rows, offset)]));
    offset += chunk.bytes;
  }
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.uncompressedBytes, 0);
  const rowGroup = struct([1, list("struct", described)], [2, i64(bytes)], [3, i64(rows)]);
  return [
    [1, i32(1)],
    [2, list("struct", [rootOf(columns), ...columns.map(elementOf)])],
    [3, i64(rows)],
    [4, list("struct", rows === 0 ? [] : [rowGroup])],
    [6, text(CREATED_BY)],
  ];
}

function rootOf(columns: readonly EncodedColumn[]): Value {
  return struct([4, text("schema")], [5, i32(columns.length)]);
}

function elementOf({ name, physical, nullable, meaning }: EncodedColumn): Value {
  return struct(
    [1, i32(PHYSICAL[physical])],
    [3, i32(nullable ? OPTIONAL : REQUIRED)],
    [4, text(name)],
    ...meaning,
  );
}

function columnMetadata(column: EncodedColumn, chunk: Chunk, rows: number, offset: number): Value {
  return struct(
    [1, i32(PHYSICAL[column.physical])],
    [2, list("i32", [i32(ENCODINGS.plain), i32(ENCODINGS.rle)])],
    [3, list("text", [text(column.name)])],
    [4, i32(chunk.codec)],
    [5, i64(rows)],
    [6, i64(chunk.uncompressedBytes)],
    [7, i64(chunk.bytes)],
    [9, i64(offset)],
  );
}
