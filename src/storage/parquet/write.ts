/** Writes Parquet files: one row group, plain encoding, and Zstandard for columns that are worth it. */
import { constants, zstdCompressSync } from "node:zlib";
import { release } from "../../common/free-memory.ts";
import type { ColumnVector, RowBatch } from "../table-builder.ts";
import { type ColumnChunk, footerOf, LOGICAL_TYPES, MAGIC, pageHeader, varint } from "./metadata.ts";

const CODECS = { none: 0, zstd: 6 } as const;

/** Size of the length before a text, before the levels of a page, and after the footer. */
const LENGTH_BYTES = 4;
/** A window of 2 MB, four times the default of the level: documents repeat each other. */
const ZSTD = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 21 };
/**
 * Limits of the compressor's output buffer, which has half the size of the page: most pages need no second one. The minimum
 * keeps it out of the pool that Node shares between buffers, so that its memory can be freed.
 */
const MIN_BUFFER_BYTES = 128 * 1024;
const MAX_BUFFER_BYTES = 1024 * 1024;
/** Smaller columns are not compressed: setting up the compressor takes longer. */
const COMPRESSED_FROM_BYTES = 4096;
/** Size from which a page ends. Long pages compress better and faster, but readers read a whole page. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Pages begin at a whole byte of the validity bits. */
const ROWS_PER_STEP = 8;
/** Up to this length a loop copies a text faster than a call. */
const SHORT_BYTES = 32;
const INITIAL_BYTES = 64 * 1024;
/** A larger buffer, which long values need, is freed after use. */
const MAX_KEPT_BYTES = 2 * PAGE_BYTES;
/** Maximum size of a run's header and of the length before it. */
const LEVEL_HEADER_BYTES = 12;

/** A buffer that grows and is reused. */
class GrowingBuffer {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  /** Number of used bytes. */
  used = 0;

  /** A view of at least this many free bytes. It is invalid after the buffer has grown or shrunk. */
  free(bytes: number): Buffer {
    const wanted = this.used + bytes;
    if (wanted > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(wanted, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.used));
      release(this.#bytes);
      this.#bytes = larger;
    }
    return this.#bytes.subarray(this.used);
  }

  add(bytes: Uint8Array): void {
    this.free(bytes.length).set(bytes);
    this.used += bytes.length;
  }

  /** A copy of the used bytes. */
  copied(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.used));
  }

  clear(): void {
    this.used = 0;
    if (this.#bytes.length <= MAX_KEPT_BYTES) return;
    release(this.#bytes);
    this.#bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  }
}

/** Writes one file after another and reuses its buffers: new ones for each file would cause garbage collections. */
export class ParquetWriter {
  readonly #page = new GrowingBuffer();
  readonly #file = new GrowingBuffer();

  /** The bytes of a file. Throws a RangeError for a null in a required column. */
  file(rows: RowBatch): Buffer {
    for (const { name, nullable, nulls } of rows.columns)
      if (!nullable && nulls > 0) throw new RangeError(`the column ${name} must have a value in each row`);
    const file = this.#file;
    file.clear();
    file.add(MAGIC);
    const chunks = rows.columns.map((column) => this.#chunk(column));
    const footer = footerOf(chunks, rows.count);
    file.add(footer);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(footer.length);
    file.add(length);
    file.add(MAGIC);
    return file.copied();
  }

  #chunk(column: ColumnVector): ColumnChunk {
    const { name, type, nullable, rows } = column;
    const total = bytesBefore(column, rows);
    const codec = total < COMPRESSED_FROM_BYTES ? CODECS.none : CODECS.zstd;
    const begin = this.#file.used;
    let uncompressedBytes = 0;
    for (let from = 0; from < rows; ) {
      const to = endOfPage(column, from);
      uncompressedBytes += this.#addPage(column, codec, from, to);
      from = to;
    }
    return { name, type, nullable, codec, bytes: this.#file.used - begin, uncompressedBytes };
  }

  /** Adds a page and gives its size before compression. */
  #addPage(column: ColumnVector, codec: number, from: number, to: number): number {
    const levels = LEVEL_HEADER_BYTES + Math.ceil((to - from) / ROWS_PER_STEP);
    this.#page.clear();
    const room = this.#page.free(levels + bytesBefore(column, to) - bytesBefore(column, from));
    const start = column.nullable ? writeLevels(room, column, from, to) : 0;
    const page = room.subarray(0, writeValues(room, start, column, from, to));
    if (codec === CODECS.none) return this.#add(page, to - from, page.length);
    const chunkSize = Math.min(Math.max(page.length >> 1, MIN_BUFFER_BYTES), MAX_BUFFER_BYTES);
    const compressed = zstdCompressSync(page, { params: ZSTD, chunkSize });
    const added = this.#add(compressed, to - from, page.length);
    // The result is a part of one buffer, or was joined from several.
    const isPart = compressed.buffer.byteLength === chunkSize;
    release(isPart ? new Uint8Array(compressed.buffer) : compressed);
    return added;
  }

  #add(kept: Buffer, rows: number, plainBytes: number): number {
    const header = pageHeader(rows, plainBytes, kept.length);
    this.#file.add(header);
    this.#file.add(kept);
    return header.length + plainBytes;
  }
}

/** Maximum size of the values before a row. */
function bytesBefore({ type, offsets }: ColumnVector, row: number): number {
  const { physical } = LOGICAL_TYPES[type];
  if (physical === "bytes") return (offsets[row] ?? 0) + row * LENGTH_BYTES;
  return row * (physical === "boolean" ? 1 : WIDTHS[physical]);
}

const WIDTHS = { int32: 4, int64: 8, double: 8 } as const;

function endOfPage(column: ColumnVector, from: number): number {
  const { rows } = column;
  const limit = bytesBefore(column, from) + PAGE_BYTES;
  if (bytesBefore(column, rows) <= limit) return rows;
  let to = from + ROWS_PER_STEP;
  while (to < rows && bytesBefore(column, to) < limit) to += ROWS_PER_STEP;
  return Math.min(to, rows);
}

/** Writes which rows have a value: as one run if all have one, else the validity bits as one bit-packed run. */
function writeLevels(room: Buffer, { nulls, validity }: ColumnVector, from: number, to: number): number {
  const rows = to - from;
  const groups = Math.ceil(rows / ROWS_PER_STEP);
  const header = varint(nulls === 0 ? rows * 2 : groups * 2 + 1);
  const first = from / ROWS_PER_STEP;
  const run = nulls === 0 ? Uint8Array.of(1) : validity.subarray(first, first + groups);
  room.writeUInt32LE(header.length + run.length);
  room.set(header, LENGTH_BYTES);
  room.set(run, LENGTH_BYTES + header.length);
  return LENGTH_BYTES + header.length + run.length;
}

/** Writes the values that are not null in plain encoding, and gives their end. */
function writeValues(room: Buffer, start: number, column: ColumnVector, from: number, to: number): number {
  const { physical } = LOGICAL_TYPES[column.type];
  switch (physical) {
    case "bytes":
      return writeTexts(room, start, column, from, to);
    case "boolean":
      return writeBits(room, start, column, from, to);
    default:
      return writeFixed(room, start, column, from, to, WIDTHS[physical]);
  }
}

function isThere({ nulls, validity }: ColumnVector, row: number): boolean {
  return nulls === 0 || (((validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
}

function writeTexts(room: Buffer, start: number, column: ColumnVector, from: number, to: number): number {
  const { offsets, values } = column;
  let at = start;
  for (let row = from; row < to; row++) {
    if (!isThere(column, row)) continue;
    const begin = offsets[row] ?? 0;
    const end = offsets[row + 1] ?? 0;
    const length = end - begin;
    room[at] = length;
    room[at + 1] = length >> 8;
    room[at + 2] = length >> 16;
    room[at + 3] = length >> 24;
    at += LENGTH_BYTES;
    if (length <= SHORT_BYTES) {
      for (let i = begin; i < end; i++) room[at++] = values[i] ?? 0;
    } else {
      room.set(values.subarray(begin, end), at);
      at += length;
    }
  }
  return at;
}

function writeBits(room: Buffer, start: number, column: ColumnVector, from: number, to: number): number {
  let place = 0;
  for (let row = from; row < to; row++) {
    if (!isThere(column, row)) continue;
    const at = start + (place >> 3);
    if ((place & 7) === 0) room[at] = 0;
    room[at] = (room[at] ?? 0) | ((column.values[row] ?? 0) << (place & 7));
    place += 1;
  }
  return start + Math.ceil(place / 8);
}

function writeFixed(
  room: Buffer,
  start: number,
  column: ColumnVector,
  from: number,
  to: number,
  width: number,
): number {
  const bytes = column.values.subarray(from * width, to * width);
  if (column.nulls === 0) {
    room.set(bytes, start);
    return start + bytes.length;
  }
  let at = start;
  for (let row = 0; row < to - from; row++) {
    if (!isThere(column, from + row)) continue;
    for (let i = row * width; i < (row + 1) * width; i++) room[at++] = bytes[i] ?? 0;
  }
  return at;
}
