/**
 * Columns built by hand as Parquet keeps them: a builder per column, no object per row. Finished rows leave as a Parquet
 * file; no value is copied between its builder and the compressor.
 */
import { DATE, DOUBLE, INT32, INT64, type Meaning, TEXT, TIMESTAMP, TRUTH } from "../parquet/meanings.ts";
import { type EncodedColumn, parquetFile } from "../parquet/write.ts";
import type { Column, ColumnType, Table } from "../tables/declare.ts";

/**
 * One value on its way into a column. text, json: string. boolean: boolean. integer, double: number. bigint: an
 * integer. timestamp: microseconds since 1970 UTC. date: days since 1970.
 */
export type Cell = string | number | bigint | boolean | null;

const INITIAL_ROWS = 1024;
const INITIAL_TEXT_BYTES = 16 * 1024;
/** Up to this length a loop over the characters is cheaper than a call into the encoder. */
const SHORT_TEXT = 24;
/** Before each text stands its length. */
const LENGTH_BYTES = 4;
/** A buffer that a large text made larger is let go of. */
const KEPT_TEXT_BYTES = 8 * 1024 * 1024;
const TWO_TO_32 = 4294967296;

function grow<T extends Uint8Array | Int32Array | Float64Array>(
  array: T,
  length: number,
  make: (n: number) => T,
): T {
  if (length <= array.length) return array;
  const larger = make(Math.max(length, array.length * 2));
  larger.set(array);
  return larger;
}

/** Validity bits, least significant first. */
class Validity {
  #bits = new Uint8Array(INITIAL_ROWS / 8);
  #nulls = 0;

  set(row: number, valid: boolean): void {
    const byte = row >> 3;
    if (byte >= this.#bits.length) this.#bits = grow(this.#bits, byte + 1, (n) => new Uint8Array(n));
    if (valid) this.#bits[byte] = (this.#bits[byte] ?? 0) | (1 << (row & 7));
    else this.#nulls += 1;
  }

  /** Undefined: no value is null. */
  taken(): Uint8Array | undefined {
    return this.#nulls === 0 ? undefined : this.#bits;
  }

  clear(): void {
    this.#bits.fill(0);
    this.#nulls = 0;
  }
}

/** What a column has appended to it. */
interface Filled {
  readonly validity: Uint8Array | undefined;
  readonly values: Uint8Array;
}

/** Fills one column. */
interface Builder {
  readonly meaning: Meaning;
  /** Bytes of the rows that are held, roughly. */
  readonly bytes: number;
  append(cell: Cell): void;
  /** What was appended since `clear`: the builder's own bytes, until then. */
  filled(): Filled;
  clear(): void;
}

/** Each text after its length in bytes. */
class TextBuilder implements Builder {
  readonly meaning = TEXT;
  readonly #validity = new Validity();
  #data = Buffer.allocUnsafeSlow(INITIAL_TEXT_BYTES);
  #end = 0;
  #rows = 0;
  bytes = 0;

  append(cell: Cell): void {
    this.#validity.set(this.#rows, cell !== null);
    if (cell !== null) this.#write(String(cell));
    this.#rows += 1;
  }

  #write(text: string): void {
    const start = this.#end + LENGTH_BYTES;
    const room = start + text.length * 3;
    if (room > this.#data.length) this.#data = growBuffer(this.#data, this.#end, room);
    const data = this.#data;
    const ascii = text.length <= SHORT_TEXT && writeAscii(data, start, text);
    const length = ascii ? text.length : data.write(text, start);
    data.writeUInt32LE(length, this.#end);
    this.bytes += length;
    this.#end = start + length;
  }

  filled(): Filled {
    return { validity: this.#validity.taken(), values: this.#data.subarray(0, this.#end) };
  }

  clear(): void {
    this.#validity.clear();
    this.#rows = 0;
    this.#end = 0;
    this.bytes = 0;
    if (this.#data.length > KEPT_TEXT_BYTES) this.#data = Buffer.allocUnsafeSlow(INITIAL_TEXT_BYTES);
  }
}

/** Whether the text is ASCII, and then written. */
function writeAscii(data: Uint8Array, start: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return false;
    data[start + i] = code;
  }
  return true;
}

function growBuffer(buffer: Buffer, used: number, length: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(Math.max(length, buffer.length * 2));
  buffer.copy(larger, 0, 0, used);
  return larger;
}

/** A bit for each value. */
class BooleanBuilder implements Builder {
  readonly meaning = TRUTH;
  readonly #validity = new Validity();
  #values = new Uint8Array(INITIAL_ROWS / 8);
  #rows = 0;
  #count = 0;

  get bytes(): number {
    return this.#rows >> 2;
  }

  append(cell: Cell): void {
    this.#validity.set(this.#rows, cell !== null);
    this.#rows += 1;
    if (cell === null) return;
    const byte = this.#count >> 3;
    if (byte >= this.#values.length) this.#values = grow(this.#values, byte + 1, (n) => new Uint8Array(n));
    if (cell === true) this.#values[byte] = (this.#values[byte] ?? 0) | (1 << (this.#count & 7));
    this.#count += 1;
  }

  filled(): Filled {
    return { validity: this.#validity.taken(), values: this.#values.subarray(0, (this.#count + 7) >> 3) };
  }

  clear(): void {
    this.#validity.clear();
    this.#values.fill(0);
    this.#rows = 0;
    this.#count = 0;
  }
}

type Values = Int32Array | Float64Array;

/** How values of fixed width are kept. `width`: slots of the array that a value takes. */
interface Fixed<Array extends Values> {
  readonly meaning: Meaning;
  readonly width: number;
  readonly allocate: (length: number) => Array;
  /** Writes a value, at its first slot. */
  readonly store: (values: Array, at: number, cell: NonNullable<Cell>) => void;
}

class FixedBuilder<Array extends Values> implements Builder {
  readonly #fixed: Fixed<Array>;
  readonly #validity = new Validity();
  #values: Array;
  #rows = 0;
  /** Slots that are taken. */
  #slots = 0;

  constructor(fixed: Fixed<Array>) {
    this.#fixed = fixed;
    this.#values = fixed.allocate(INITIAL_ROWS * fixed.width);
  }

  get meaning(): Meaning {
    return this.#fixed.meaning;
  }

  get bytes(): number {
    return this.#rows * this.#fixed.width * this.#values.BYTES_PER_ELEMENT;
  }

  append(cell: Cell): void {
    this.#validity.set(this.#rows, cell !== null);
    this.#rows += 1;
    if (cell === null) return;
    const { width, allocate, store } = this.#fixed;
    const end = this.#slots + width;
    if (end > this.#values.length) this.#values = grow(this.#values, end, allocate);
    store(this.#values, this.#slots, cell);
    this.#slots = end;
  }

  filled(): Filled {
    const { buffer } = this.#values;
    const values = new Uint8Array(buffer, 0, this.#slots * this.#values.BYTES_PER_ELEMENT);
    return { validity: this.#validity.taken(), values };
  }

  clear(): void {
    this.#validity.clear();
    this.#rows = 0;
    this.#slots = 0;
  }
}

/** 64-bit integers are written as two 32-bit halves: a BigInt for each value would cost more. */
function storeHalves(halves: Int32Array, at: number, cell: NonNullable<Cell>): void {
  if (typeof cell === "bigint") {
    halves[at] = Number(BigInt.asIntN(32, cell));
    halves[at + 1] = Number(cell >> 32n);
  } else {
    const value = Number(cell);
    const high = Math.floor(value / TWO_TO_32);
    halves[at] = value - high * TWO_TO_32;
    halves[at + 1] = high;
  }
}

const int32 = {
  width: 1,
  allocate: (length: number) => new Int32Array(length),
  store: (values: Int32Array, at: number, cell: NonNullable<Cell>) => {
    values[at] = Number(cell);
  },
};

const int64 = { width: 2, allocate: int32.allocate, store: storeHalves };

const BUILDERS: Record<ColumnType, () => Builder> = {
  text: () => new TextBuilder(),
  json: () => new TextBuilder(),
  boolean: () => new BooleanBuilder(),
  integer: () => new FixedBuilder({ ...int32, meaning: INT32 }),
  date: () => new FixedBuilder({ ...int32, meaning: DATE }),
  bigint: () => new FixedBuilder({ ...int64, meaning: INT64 }),
  timestamp: () => new FixedBuilder({ ...int64, meaning: TIMESTAMP }),
  double: () =>
    new FixedBuilder({
      meaning: DOUBLE,
      width: 1,
      allocate: (length) => new Float64Array(length),
      store: (values, at, cell) => {
        values[at] = Number(cell);
      },
    }),
};

/** Rows of one table on their way to a Parquet part. */
export class TableBuilder {
  readonly columns: readonly Column[];
  readonly #builders: readonly Builder[];
  rows = 0;

  constructor(table: Pick<Table, "columns">) {
    this.columns = table.columns;
    this.#builders = table.columns.map((column) => BUILDERS[column.type]());
  }

  /** Bytes held, roughly. */
  get bytes(): number {
    let sum = 0;
    for (const builder of this.#builders) sum += builder.bytes;
    return sum;
  }

  /** Appends one row: a cell for each column, in their order. */
  append(row: readonly Cell[]): void {
    const builders = this.#builders;
    if (row.length !== builders.length) throw new RangeError("a row must have a cell for each column");
    for (let i = 0; i < builders.length; i++) builders[i]?.append(row[i] ?? null);
    this.rows += 1;
  }

  /** Gives the rows since the last call to `use` as the pieces of a Parquet file, to be written there; starts anew. */
  take<Result>(use: (file: readonly Uint8Array[]) => Result): Result {
    const columns = this.columns.map(({ name, nullable }, i): EncodedColumn => {
      const builder = this.#builders[i];
      if (builder === undefined) throw new RangeError(`no column ${i}`);
      return { name, nullable, ...builder.meaning, ...builder.filled() };
    });
    const result = use(parquetFile(columns, this.rows));
    for (const builder of this.#builders) builder.clear();
    this.rows = 0;
    return result;
  }
}
