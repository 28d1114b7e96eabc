/** Columns built over typed arrays: a builder per column, no object per row. */
import type { Column, ColumnType, Table } from "../tables/declare.ts";

/**
 * One value on its way into a column. text, json: string. boolean: boolean. integer, double: number. bigint: an
 * integer. timestamp: microseconds since 1970 UTC. date: days since 1970.
 */
export type Cell = string | number | bigint | boolean | null;

/** Of text or json also the text's bytes in UTF-8. */
export type EncodedCell = Cell | Uint8Array;

/** A row of a table, its cells by the names of the columns. Throws a TypeError where a column has no cell, not even NULL. */
export function rowOf<C extends EncodedCell>(
  { columns }: Pick<Table, "columns">,
  cells: Readonly<Record<string, C>>,
): C[] {
  return columns.map(({ name }) => {
    const cell = cells[name];
    if (cell === undefined) throw new TypeError(`a row has no ${name}`);
    return cell;
  });
}

/** A column as its builder holds it and the Parquet writer takes it: typed arrays, no object per value. */
export interface ColumnVector {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly rows: number;
  readonly nulls: number;
  /** A bit a row, the least significant first: 1 where it has a value. Empty where no row is without one. */
  readonly validity: Uint8Array;
  /**
   * Of text and json the texts in UTF-8, one after another; of booleans a byte a row, 0 or 1; of others the
   * numbers, little-endian, in 4 bytes (integer, date) or 8. A null takes no text, and as much as any number.
   */
  readonly values: Uint8Array;
  /** Of text and json where each row's text begins, and where the last one ends; of others empty. */
  readonly offsets: Int32Array;
}

/** Rows in a builder's own buffers: nobody sees them any more once they are disposed of. */
export class RowBatch implements Disposable {
  readonly count: number;
  #columns: readonly ColumnVector[] | undefined;

  constructor(count: number, columns: readonly ColumnVector[]) {
    this.count = count;
    this.#columns = columns;
  }

  get columns(): readonly ColumnVector[] {
    if (this.#columns === undefined) throw new TypeError("the rows were given back to their builder");
    return this.#columns;
  }

  [Symbol.dispose](): void {
    this.#columns = undefined;
  }
}

const INITIAL_ROWS = 1024;
const INITIAL_TEXT_BYTES = 16 * 1024;
/** A buffer that a large text made larger than this is not kept. */
const KEPT_TEXT_BYTES = 8 * 1024 * 1024;
const NO_BITS = new Uint8Array(0);
const NO_OFFSETS = new Int32Array(0);

type NumberArray = Uint8Array | Int32Array | Float64Array | BigInt64Array;

function grow<T extends NumberArray>(array: T, length: number, make: (n: number) => T): T {
  if (length <= array.length) return array;
  const larger = make(Math.max(length, array.length * 2));
  new Uint8Array(larger.buffer, larger.byteOffset).set(new Uint8Array(array.buffer, array.byteOffset));
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

  shown(rows: number): Pick<ColumnVector, "rows" | "nulls" | "validity"> {
    const { nulls } = this;
    return { rows, nulls, validity: nulls === 0 ? NO_BITS : this.#bits.subarray(0, (rows + 7) >> 3) };
  }

  clear(): void {
    this.#bits.fill(0);
    this.nulls = 0;
  }
}

/** What a column holds, without what its declaration says of it. */
type Filling = Omit<ColumnVector, "name" | "type" | "nullable">;

/** Fills one column. */
interface ColumnBuilder {
  /** Bytes held, roughly. */
  readonly bytes: number;
  append(cell: EncodedCell): void;
  /** What was appended since `clear`, in the builder's own buffers: nothing is copied. */
  shown(): Filling;
  clear(): void;
}

class TextBuilder implements ColumnBuilder {
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

/** How values of fixed width are kept. */
interface FixedWidth<Array extends NumberArray> {
  readonly allocate: (length: number) => Array;
  readonly store: (values: Array, row: number, cell: EncodedCell) => void;
}

class FixedBuilder<Array extends NumberArray> implements ColumnBuilder {
  readonly #fixed: FixedWidth<Array>;
  readonly #validity = new Validity();
  #values: Array;
  #rows = 0;

  constructor(fixed: FixedWidth<Array>) {
    this.#fixed = fixed;
    this.#values = fixed.allocate(INITIAL_ROWS);
  }

  get bytes(): number {
    return this.#rows * this.#values.BYTES_PER_ELEMENT;
  }

  append(cell: EncodedCell): void {
    const { allocate, store } = this.#fixed;
    this.#validity.set(this.#rows, cell !== null);
    if (this.#rows >= this.#values.length) this.#values = grow(this.#values, this.#rows + 1, allocate);
    store(this.#values, this.#rows, cell ?? 0);
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

const BOOLEAN: FixedWidth<Uint8Array> = {
  allocate: (length) => new Uint8Array(length),
  store: (values, row, cell) => {
    values[row] = cell === true ? 1 : 0;
  },
};

const INT32: FixedWidth<Int32Array> = {
  allocate: (length) => new Int32Array(length),
  store: (values, row, cell) => {
    values[row] = Number(cell);
  },
};

const INT64: FixedWidth<BigInt64Array> = {
  allocate: (length) => new BigInt64Array(length),
  store: (values, row, cell) => {
    values[row] = typeof cell === "bigint" ? cell : BigInt(Number(cell));
  },
};

const DOUBLE: FixedWidth<Float64Array> = {
  allocate: (length) => new Float64Array(length),
  store: (values, row, cell) => {
    values[row] = Number(cell);
  },
};

const BUILDERS: Record<ColumnType, () => ColumnBuilder> = {
  text: () => new TextBuilder(),
  json: () => new TextBuilder(),
  boolean: () => new FixedBuilder(BOOLEAN),
  integer: () => new FixedBuilder(INT32),
  date: () => new FixedBuilder(INT32),
  bigint: () => new FixedBuilder(INT64),
  timestamp: () => new FixedBuilder(INT64),
  double: () => new FixedBuilder(DOUBLE),
};

/** Rows of one table on their way to a Parquet part. */
export class TableBuilder {
  readonly columns: readonly Column[];
  readonly #builders: readonly ColumnBuilder[];
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
  take<Result>(use: (rows: RowBatch) => Result): Result {
    const columns = this.columns.flatMap(({ name, type, nullable }, place) => {
      const shown = this.#builders[place]?.shown();
      return shown === undefined ? [] : [{ name, type, nullable, ...shown }];
    });
    using rows = new RowBatch(this.rows, columns);
    try {
      return use(rows);
    } finally {
      for (const builder of this.#builders) builder.clear();
      this.rows = 0;
    }
  }
}
