/** Columns built over typed arrays: a builder per column, no object per row. */
import type { Column, ColumnType, Table } from "../tables/declare.ts";
import { type FilledColumn, TakenRows } from "./filled-columns.ts";

/**
 * One value on its way into a column. text, json: string. boolean: boolean. integer, double: number. bigint: an
 * integer. timestamp: microseconds since 1970 UTC. date: days since 1970.
 */
export type Cell = string | number | bigint | boolean | null;

/** Of text or json also the text's bytes in UTF-8. */
type EncodedCell = Cell | Uint8Array;

const INITIAL_ROWS = 1024;
const INITIAL_TEXT_BYTES = 16 * 1024;
/** A buffer that a large text made larger is let go of. */
const KEPT_TEXT_BYTES = 8 * 1024 * 1024;
const TWO_TO_32 = 4294967296;
const NO_BITS = new Uint8Array(0);
const NO_OFFSETS = new Int32Array(0);

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

/** Validity bits, least significant first; nothing is kept while no value is null. */
class Validity {
  #bits = new Uint8Array(INITIAL_ROWS / 8);
  nulls = 0;

  set(row: number, valid: boolean): void {
    const byte = row >> 3;
    if (byte >= this.#bits.length) this.#bits = grow(this.#bits, byte + 1, (n) => new Uint8Array(n));
    if (valid) this.#bits[byte] = (this.#bits[byte] ?? 0) | (1 << (row & 7));
    else this.nulls += 1;
  }

  shown(rows: number): Pick<FilledColumn, "rows" | "nulls" | "validity"> {
    const { nulls } = this;
    return { rows, nulls, validity: nulls === 0 ? NO_BITS : this.#bits.subarray(0, (rows + 7) >> 3) };
  }

  clear(): void {
    this.#bits.fill(0);
    this.nulls = 0;
  }
}

/** What a column holds, without what its declaration says of it. */
type Filling = Omit<FilledColumn, "name" | "type" | "nullable">;

/** Fills one column. */
interface Builder {
  /** Bytes held, roughly. */
  readonly bytes: number;
  append(cell: EncodedCell): void;
  /** What was appended since `clear`, in the builder's own buffers: nothing is copied. */
  shown(): Filling;
  clear(): void;
}

class TextBuilder implements Builder {
  #validity = new Validity();
  #offsets = new Int32Array(INITIAL_ROWS + 1);
  #data = Buffer.alloc(INITIAL_TEXT_BYTES);
  #rows = 0;
  bytes = 0;

  append(cell: EncodedCell): void {
    this.#validity.set(this.#rows, cell !== null);
    if (cell instanceof Uint8Array) this.#copy(cell);
    else if (cell !== null) this.#write(String(cell));
    this.#rows += 1;
    if (this.#rows >= this.#offsets.length) {
      this.#offsets = grow(this.#offsets, this.#rows + 1, (n) => new Int32Array(n));
    }
    this.#offsets[this.#rows] = this.bytes;
  }

  #copy(encoded: Uint8Array): void {
    this.#makeRoom(encoded.length);
    this.#data.set(encoded, this.bytes);
    this.bytes += encoded.length;
  }

  #makeRoom(bytes: number): void {
    const room = this.bytes + bytes;
    if (room > this.#data.length) this.#data = grow(this.#data, room, Buffer.alloc);
  }

  /** A buffer of Node encodes a text in half the time that an encoder into a part of an array takes. */
  #write(text: string): void {
    this.#makeRoom(text.length * 3);
    this.bytes += this.#data.write(text, this.bytes);
  }

  shown(): Filling {
    return {
      ...this.#validity.shown(this.#rows),
      values: this.#data.subarray(0, this.bytes),
      offsets: this.#offsets.subarray(0, this.#rows + 1),
    };
  }

  clear(): void {
    this.#validity.clear();
    this.#rows = 0;
    this.bytes = 0;
    if (this.#data.length > KEPT_TEXT_BYTES) this.#data = Buffer.alloc(INITIAL_TEXT_BYTES);
  }
}

class BooleanBuilder implements Builder {
  #validity = new Validity();
  #values = new Uint8Array(INITIAL_ROWS / 8);
  #rows = 0;

  get bytes(): number {
    return this.#rows >> 2;
  }

  append(cell: EncodedCell): void {
    this.#validity.set(this.#rows, cell !== null);
    const byte = this.#rows >> 3;
    if (byte >= this.#values.length) this.#values = grow(this.#values, byte + 1, (n) => new Uint8Array(n));
    if (cell === true) this.#values[byte] = (this.#values[byte] ?? 0) | (1 << (this.#rows & 7));
    this.#rows += 1;
  }

  shown(): Filling {
    const values = this.#values.subarray(0, (this.#rows + 7) >> 3);
    return { ...this.#validity.shown(this.#rows), values, offsets: NO_OFFSETS };
  }

  clear(): void {
    this.#validity.clear();
    this.#values.fill(0);
    this.#rows = 0;
  }
}

type Values = Int32Array | Float64Array;

/** How values of fixed width are kept. `width`: slots of the array that a value takes. */
interface Fixed<Array extends Values> {
  readonly width: number;
  readonly allocate: (length: number) => Array;
  /** Writes a value, at its first slot. */
  readonly store: (values: Array, at: number, cell: EncodedCell) => void;
}

class FixedBuilder<Array extends Values> implements Builder {
  readonly #fixed: Fixed<Array>;
  readonly #validity = new Validity();
  #values: Array;
  #rows = 0;

  constructor(fixed: Fixed<Array>) {
    this.#fixed = fixed;
    this.#values = fixed.allocate(INITIAL_ROWS * fixed.width);
  }

  get bytes(): number {
    return this.#rows * this.#fixed.width * this.#values.BYTES_PER_ELEMENT;
  }

  append(cell: EncodedCell): void {
    const { width, allocate, store } = this.#fixed;
    const at = this.#rows * width;
    this.#validity.set(this.#rows, cell !== null);
    if (at + width > this.#values.length) this.#values = grow(this.#values, at + width, allocate);
    store(this.#values, at, cell ?? 0);
    this.#rows += 1;
  }

  shown(): Filling {
    const values = new Uint8Array(this.#values.buffer, 0, this.bytes);
    return { ...this.#validity.shown(this.#rows), values, offsets: NO_OFFSETS };
  }

  clear(): void {
    this.#validity.clear();
    this.#rows = 0;
  }
}

/** 64-bit integers are written as two 32-bit halves: a BigInt for each value would cost more. */
function storeHalves(halves: Int32Array, at: number, cell: EncodedCell): void {
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

const INT32: Fixed<Int32Array> = {
  width: 1,
  allocate: (length) => new Int32Array(length),
  store: (values, at, cell) => {
    values[at] = Number(cell);
  },
};

const INT64: Fixed<Int32Array> = { width: 2, allocate: INT32.allocate, store: storeHalves };

const DOUBLE: Fixed<Float64Array> = {
  width: 1,
  allocate: (length) => new Float64Array(length),
  store: (values, at, cell) => {
    values[at] = Number(cell);
  },
};

const BUILDERS: Record<ColumnType, () => Builder> = {
  text: () => new TextBuilder(),
  json: () => new TextBuilder(),
  boolean: () => new BooleanBuilder(),
  integer: () => new FixedBuilder(INT32),
  date: () => new FixedBuilder(INT32),
  bigint: () => new FixedBuilder(INT64),
  timestamp: () => new FixedBuilder(INT64),
  double: () => new FixedBuilder(DOUBLE),
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
  append(row: readonly EncodedCell[]): void {
    const builders = this.#builders;
    if (row.length !== builders.length) throw new RangeError("a row must have a cell for each column");
    for (let i = 0; i < builders.length; i++) builders[i]?.append(row[i] ?? null);
    this.rows += 1;
  }

  /** Gives the rows since the last call, in the builder's own buffers: for the time of the call. Starts anew. */
  take<Result>(use: (rows: TakenRows) => Result): Result {
    const columns = this.#builders.map((builder, i) => ({ ...this.#declared(i), ...builder.shown() }));
    using rows = new TakenRows(this.rows, columns);
    try {
      return use(rows);
    } finally {
      for (const builder of this.#builders) builder.clear();
      this.rows = 0;
    }
  }

  #declared(place: number): Pick<FilledColumn, "name" | "type" | "nullable"> {
    const column = this.columns[place];
    if (column === undefined) throw new RangeError(`no column ${place}`);
    const { name, type, nullable } = column;
    return { name, type, nullable };
  }
}
