/** Rows by their columns, as builders hold them and the Parquet writer takes them: typed arrays, no object per value. */
import type { ColumnType } from "../tables/declare.ts";

export interface FilledColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  readonly rows: number;
  readonly nulls: number;
  /** A bit a row, the least significant first: 1 where it has a value. Empty where no row is without one. */
  readonly validity: Uint8Array;
  /**
   * Of text and json the texts in UTF-8, one after another; of booleans a bit a row, the least significant first; of
   * others the numbers, little-endian, in 4 bytes (integer, date) or 8. A null takes no text, and as much as any number.
   */
  readonly values: Uint8Array;
  /** Of text and json where each row's text begins, and where the last one ends; of others empty. */
  readonly offsets: Int32Array;
}

/** Rows in a builder's own buffers: nobody sees them any more once they are disposed of. */
export class TakenRows implements Disposable {
  readonly count: number;
  #columns: readonly FilledColumn[] | undefined;

  constructor(count: number, columns: readonly FilledColumn[]) {
    this.count = count;
    this.#columns = columns;
  }

  get columns(): readonly FilledColumn[] {
    if (this.#columns === undefined) throw new TypeError("the rows were given back to their builder");
    return this.#columns;
  }

  [Symbol.dispose](): void {
    this.#columns = undefined;
  }
}
