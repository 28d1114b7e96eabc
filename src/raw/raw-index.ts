/** Index of the raw documents of a run by item, in about 30 bytes a document. */
import type { Shape } from "./document.ts";
import type { ItemIndex } from "./item-index.ts";
import { type RawDocument, RawFileReader } from "./raw-file.ts";

/** Index of one raw file, in the order of its rows. */
export interface FileIndex {
  readonly ids: readonly string[];
  /** See {@link codeOf}. */
  readonly codes: Uint8Array;
  /** Positions in the order of observation. */
  readonly orders: Float64Array;
}

const FULL = 1;
const WHOLE = 2;

/** Shape and completeness of a document, in one byte. */
function codeOf(shape: Shape, whole: boolean): number {
  return (shape === "full" ? FULL : 0) | (whole ? WHOLE : 0);
}

/** Index of documents that are written to a file. */
export function indexDocuments(documents: readonly RawDocument[]): FileIndex {
  return {
    ids: documents.map(({ contentId }) => contentId),
    codes: Uint8Array.from(documents, ({ view, whole }) => codeOf(view.shape, whole)),
    orders: Float64Array.from(documents, ({ view }) => view.order),
  };
}

/** Index of a file. Throws as {@link RawFileReader}. */
export function indexFile(file: string): FileIndex {
  using rows = new RawFileReader(file);
  return indexRows(rows);
}

export function indexRows(rows: RawFileReader): FileIndex {
  const about = rows.ids.map((_, row) => rows.about(row));
  return {
    ids: [...rows.ids],
    codes: Uint8Array.from(about, ({ shape, whole }) => codeOf(shape, whole)),
    orders: Float64Array.from(about, ({ order }) => order),
  };
}

export interface DocumentLocation {
  /** Index in {@link RawIndex.files}. */
  readonly file: number;
  readonly row: number;
}

const NONE = 0xffff_ffff;
const FIRST_DOCUMENTS = 1024;

export class RawIndex {
  readonly items: ItemIndex;
  readonly #files: string[] = [];
  /** Number of the first document of each file. */
  readonly #firsts: number[] = [];
  #size = 0;
  #items = new Uint32Array(FIRST_DOCUMENTS);
  /** Index in `#files`, by document. */
  #file = new Uint32Array(FIRST_DOCUMENTS);
  #codes = new Uint8Array(FIRST_DOCUMENTS);
  #orders = new Float64Array(FIRST_DOCUMENTS);
  /** The document of the same item that was added before, by document. */
  #before = new Uint32Array(FIRST_DOCUMENTS);
  /** The document that was added last, by item. */
  #last = new Uint32Array(FIRST_DOCUMENTS).fill(NONE);

  constructor(items: ItemIndex) {
    this.items = items;
  }

  /** Number of documents. */
  get size(): number {
    return this.#size;
  }

  /** Paths, in the order in which they were added. */
  get files(): readonly string[] {
    return this.#files;
  }

  add(path: string, { ids, codes, orders }: FileIndex): void {
    const file = this.#files.push(path) - 1;
    this.#firsts.push(this.#size);
    this.#grow(this.#size + ids.length);
    for (const [row, id] of ids.entries()) {
      const document = this.#size++;
      const item = this.items.numberOf(id);
      const { length } = this.#last;
      if (item >= length)
        this.#last = resized(this.#last, Math.max(item + 1, Math.ceil(length * 1.5))).fill(NONE, length);
      this.#items[document] = item;
      this.#file[document] = file;
      this.#codes[document] = codes[row] ?? 0;
      this.#orders[document] = orders[row] ?? 0;
      this.#before[document] = this.#last[item] ?? NONE;
      this.#last[item] = document;
    }
  }

  /** Number of documents of a file. */
  sizeOf(file: number): number {
    return (this.#firsts[file + 1] ?? this.#size) - (this.#firsts[file] ?? 0);
  }

  /** The item of each row of a file. */
  itemsIn(file: number): Uint32Array {
    const first = this.#firsts[file] ?? 0;
    return this.#items.subarray(first, first + this.sizeOf(file));
  }

  /** Whether a document is the latest of its item. Of several with one order, it is the one that was added first. */
  isLatest(file: number, row: number): boolean {
    const here = (this.#firsts[file] ?? 0) + row;
    const order = this.#orders[here] ?? 0;
    let document = this.#last[this.#items[here] ?? 0] ?? NONE;
    for (; document !== NONE; document = this.#before[document] ?? NONE) {
      const other = this.#orders[document] ?? 0;
      if (other > order || (other === order && document < here)) return false;
    }
    return true;
  }

  /** Locations of the documents of an item that count, the latest first. A whole one replaces all earlier ones of its shape. */
  counting(item: number): DocumentLocation[] {
    const documents: number[] = [];
    let document = this.#last[item] ?? NONE;
    for (; document !== NONE; document = this.#before[document] ?? NONE) documents.push(document);
    const order = (each: number) => this.#orders[each] ?? 0;
    documents.reverse().sort((a, b) => order(b) - order(a));
    const replaced = new Set<number>();
    return documents
      .filter((each) => {
        const code = this.#codes[each] ?? 0;
        const counts = !replaced.has(code & FULL);
        if ((code & WHOLE) !== 0) replaced.add(code & FULL);
        return counts;
      })
      .map((each) => {
        const file = this.#file[each] ?? 0;
        return { file, row: each - (this.#firsts[file] ?? 0) };
      });
  }

  #grow(size: number): void {
    if (size <= this.#items.length) return;
    const length = Math.max(size, Math.ceil(this.#items.length * 1.5));
    this.#items = resized(this.#items, length);
    this.#file = resized(this.#file, length);
    this.#before = resized(this.#before, length);
    this.#codes = new Uint8Array(this.#codes.buffer.transfer(length));
    this.#orders = new Float64Array(this.#orders.buffer.transfer(length * Float64Array.BYTES_PER_ELEMENT));
  }
}

function resized(numbers: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  return new Uint32Array(numbers.buffer.transfer(length * Uint32Array.BYTES_PER_ELEMENT));
}
