/**
 * Reads columns of Parquet files that were written here or by DuckDB: flat, in the encodings that these two choose,
 * not compressed or by Zstandard. A file that contradicts itself is refused; that its values are those that were
 * written, only a digest of the file says.
 */
import { zstdDecompressSync } from "node:zlib";
import { release } from "../common/free-buffer.ts";
import { CODECS, ENCODINGS, LENGTH_BYTES, MAGIC, OPTIONAL, PAGES, PHYSICAL } from "../storage/parquet/format.ts";
import { type Read, Reader, type ReadStruct } from "../storage/parquet/thrift.ts";

/** Bytes of a text, a number or a truth value; null where the row has none. */
export type Cell = Buffer | number | bigint | boolean | null;

/** Rows of a file, as far as its columns were asked for. */
export interface Columns {
  readonly rows: number;
  /** The column's cells, one a row. Throws for a column that the file does not have. */
  readonly cells: (name: string) => Cell[];
  /**
   * Gives back the memory of the file and of what was decompressed of it: cells that are bytes must not be read from here
   * on. Those of larger files are empty then.
   */
  readonly release: () => void;
}

/** The file's bytes are the columns' from here on. Throws for a file that is damaged, or written in other ways. */
export function readColumns(file: Buffer): Columns {
  const plain: Uint8Array[] = [];
  const metadata = footerOf(file);
  const schema = structsIn(metadata, 2).slice(1);
  const groups = structsIn(metadata, 4);
  const names = schema.map((element) => textIn(element, 4));
  const rows = numberIn(metadata, 3);
  return {
    rows,
    cells: (name) => {
      const place = names.indexOf(name);
      const optional = numberIn(at(schema, place, name), 3) === OPTIONAL;
      const cells = groups.flatMap((group) => {
        const chunk = structIn(at(structsIn(group, 1), place, name), 3);
        return new Chunk(file, chunk, optional, plain).cells();
      });
      if (cells.length !== rows) throw contradiction();
      return cells;
    },
    release: () => {
      for (const bytes of [file, ...plain.splice(0)]) release(bytes);
    },
  };
}

function footerOf(file: Buffer): ReadStruct {
  const end = file.length - 2 * MAGIC.length;
  if (end < MAGIC.length || !file.subarray(end + MAGIC.length).equals(MAGIC)) {
    throw new RangeError("this is no whole Parquet file");
  }
  const start = end - file.readUInt32LE(end);
  if (start < MAGIC.length) throw new RangeError("this is no whole Parquet file");
  return new Reader(file, start).struct();
}

interface Page {
  readonly header: ReadStruct;
  readonly body: Buffer;
}

/** The pages of one column in one row group. */
class Chunk {
  readonly #file: Buffer;
  readonly #optional: boolean;
  readonly #physical: number;
  readonly #codec: number;
  readonly #rows: number;
  readonly #decompressed: Uint8Array[];
  #at: number;

  /** `decompressed`: gets the bytes of pages that were. */
  constructor(file: Buffer, metadata: ReadStruct, optional: boolean, decompressed: Uint8Array[]) {
    this.#file = file;
    this.#decompressed = decompressed;
    this.#optional = optional;
    this.#physical = numberIn(metadata, 1);
    this.#codec = numberIn(metadata, 4);
    this.#rows = numberIn(metadata, 5);
    this.#at = metadata.has(11) ? numberIn(metadata, 11) : numberIn(metadata, 9);
  }

  cells(): Cell[] {
    let dictionary: readonly Cell[] = [];
    const cells: Cell[] = [];
    while (cells.length < this.#rows) {
      const { header, body } = this.#page();
      const type = numberIn(header, 1);
      if (type === PAGES.dictionary) {
        dictionary = plainValues(this.#physical, body, numberIn(structIn(header, 7), 1));
      } else if (type === PAGES.data) {
        const data = structIn(header, 5);
        if (numberIn(data, 1) > this.#rows - cells.length) throw contradiction();
        for (const cell of this.#dataCells(data, body, dictionary)) cells.push(cell);
      } else {
        throw new RangeError(`pages of type ${type} are not read`);
      }
    }
    return cells;
  }

  #page(): Page {
    const reader = new Reader(this.#file, this.#at);
    const header = reader.struct();
    const bytes = numberIn(header, 3);
    const body = this.#plain(part(this.#file, reader.at, bytes), numberIn(header, 2));
    this.#at = reader.at + bytes;
    if (body.length !== numberIn(header, 2)) throw contradiction();
    return { header, body };
  }

  #plain(kept: Buffer, bytes: number): Buffer {
    if (this.#codec === CODECS.none) return kept;
    if (this.#codec !== CODECS.zstd) throw new RangeError(`the codec ${this.#codec} is not read`);
    if (bytes === 0) return Buffer.alloc(0);
    // One byte more: a buffer that is just full would be followed by another.
    const chunkSize = Math.max(bytes + 1, 64);
    const plain = zstdDecompressSync(kept, { chunkSize, maxOutputLength: bytes });
    if (plain.buffer.byteLength === chunkSize) this.#decompressed.push(new Uint8Array(plain.buffer));
    return plain;
  }

  #dataCells(header: ReadStruct, body: Buffer, dictionary: readonly Cell[]): Cell[] {
    const count = numberIn(header, 1);
    const encoding = numberIn(header, 2);
    let start = 0;
    let levels: number[] | undefined;
    if (this.#optional) {
      const bytes = body.readUInt32LE(0);
      levels = hybrid(part(body, LENGTH_BYTES, bytes), 1, count);
      start = LENGTH_BYTES + bytes;
    }
    const filled = levels === undefined ? count : levels.reduce((sum, level) => sum + level, 0);
    const values = valuesOf(this.#physical, encoding, body.subarray(start), filled, dictionary);
    if (levels === undefined || filled === count) return values;
    let next = 0;
    return levels.map((level) => (level === 0 ? null : existing(values[next++])));
  }
}

function valuesOf(
  physical: number,
  encoding: number,
  body: Buffer,
  count: number,
  dictionary: readonly Cell[],
): Cell[] {
  if (encoding === ENCODINGS.plain) return plainValues(physical, body, count);
  if (encoding !== ENCODINGS.rleDictionary && encoding !== ENCODINGS.plainDictionary) {
    throw new RangeError(`the encoding ${encoding} is not read`);
  }
  return hybrid(body.subarray(1), body.readUInt8(0), count).map((place) => existing(dictionary[place]));
}

function plainValues(physical: number, body: Buffer, count: number): Cell[] {
  switch (physical) {
    case PHYSICAL.boolean:
      return Array.from({ length: count }, (_, i) => bitsAt(body, i, 1) === 1);
    case PHYSICAL.int32:
      return Array.from({ length: count }, (_, i) => body.readInt32LE(i * 4));
    case PHYSICAL.int64:
      return Array.from({ length: count }, (_, i) => body.readBigInt64LE(i * 8));
    case PHYSICAL.double:
      return Array.from({ length: count }, (_, i) => body.readDoubleLE(i * 8));
    case PHYSICAL.bytes:
      return byteArrays(body, count);
    default:
      throw new RangeError(`values of the physical type ${physical} are not read`);
  }
}

function byteArrays(body: Buffer, count: number): Buffer[] {
  const values: Buffer[] = [];
  let start = 0;
  for (let i = 0; i < count; i++) {
    const bytes = body.readUInt32LE(start);
    values.push(part(body, start + LENGTH_BYTES, bytes));
    start += LENGTH_BYTES + bytes;
  }
  return values;
}

/** Runs of one value and runs of packed ones, in turn. `width`: bits of a value. */
function hybrid(bytes: Buffer, width: number, count: number): number[] {
  const values: number[] = [];
  const reader = new Reader(bytes, 0);
  while (values.length < count) {
    const header = reader.varint();
    const run = Math.floor(header / 2);
    if (header % 2 === 0) {
      const size = (width + 7) >> 3;
      const value = size === 0 ? 0 : bytes.readUIntLE(reader.at, size);
      reader.at += size;
      for (let i = 0; i < run && values.length < count; i++) values.push(value);
    } else {
      const start = reader.at * 8;
      for (let i = 0; i < run * 8 && values.length < count; i++) {
        values.push(bitsAt(bytes, start + i * width, width));
      }
      reader.at += run * width;
    }
  }
  return values;
}

function bitsAt(bytes: Buffer, start: number, width: number): number {
  let value = 0;
  for (let bit = 0; bit < width; bit++) {
    const place = start + bit;
    if (((bytes.readUInt8(place >> 3) >> (place & 7)) & 1) === 1) value += 2 ** bit;
  }
  return value;
}

/** The bytes from a place on, all of them there. */
function part(bytes: Buffer, from: number, length: number): Buffer {
  if (length < 0 || from + length > bytes.length) throw contradiction();
  return bytes.subarray(from, from + length);
}

function existing(cell: Cell | undefined): Cell {
  if (cell === undefined) throw contradiction();
  return cell;
}

function contradiction(): RangeError {
  return new RangeError("the lengths that the file tells do not agree");
}

function foreign(): RangeError {
  return new RangeError("the metadata are not those of a Parquet file");
}

function at(structs: readonly ReadStruct[], place: number, name: string): ReadStruct {
  const found = structs[place];
  if (found === undefined) throw new RangeError(`the file has no column ${name}`);
  return found;
}

function numberIn(fields: ReadStruct, number: number): number {
  const value = fields.get(number);
  if (typeof value !== "number") throw foreign();
  return value;
}

function textIn(fields: ReadStruct, number: number): string {
  const value = fields.get(number);
  if (!(value instanceof Uint8Array)) throw foreign();
  return Buffer.from(value).toString();
}

function structIn(fields: ReadStruct, number: number): ReadStruct {
  return asStruct(fields.get(number));
}

function structsIn(fields: ReadStruct, number: number): ReadStruct[] {
  const value = fields.get(number);
  if (!isList(value)) throw foreign();
  return value.map(asStruct);
}

function isList(value: Read | undefined): value is readonly Read[] {
  return Array.isArray(value);
}

function asStruct(value: Read | undefined): ReadStruct {
  if (value instanceof Map) return value;
  throw foreign();
}
