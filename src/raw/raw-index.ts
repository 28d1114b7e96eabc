/** Index of the raw documents of a run by item, in about 30 bytes a document. */
import type { Shape } from "./document.ts";
import type { ItemIndex } from "./item-index.ts";
import type { RawDocument, RawFileReader } from "./raw-file.ts";

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
export function indexRows(rows: RawFileReader): FileIndex {
  const about = rows.ids.map((_, row) => rows.about(row));
  return {
    ids: [...rows.ids],
    codes: Uint8Array.from(about, ({ shape, whole }) => codeOf(shape, whole)),
    orders: Float64Array.from(about, ({ order }) => order),
  };
}

interface IndexedFile extends Omit<FileIndex, "ids"> {
  readonly path: string;
  /** Numbers of the items, by row. */
  readonly items: Uint32Array;
}

export class RawIndex {
  readonly items: ItemIndex;
  /** In the order in which they were added. */
  readonly files: IndexedFile[] = [];
  /** Made when a document is asked for the first time, and again after files were added. */
  #byItem: ReturnType<typeof groupByItem> | undefined;

  constructor(items: ItemIndex) {
    this.items = items;
  }

  /** Number of documents. */
  get size(): number {
    return this.files.reduce((sum, { items }) => sum + items.length, 0);
  }

  add(path: string, { ids, codes, orders }: FileIndex): void {
    const items = Uint32Array.from(ids, (id) => this.items.numberOf(id));
    this.files.push({ path, items, codes, orders });
    this.#byItem = undefined;
  }

  /**
   * Locations of the documents of an item that count, the latest first: indices in {@link files}, and rows. A whole one
   * replaces all earlier ones of its shape.
   */
  counting(item: number): { readonly file: number; readonly row: number }[] {
    this.#byItem ??= groupByItem(this.files, this.items.size);
    const { starts, places } = this.#byItem;
    const documents: { file: number; row: number; order: number; code: number }[] = [];
    for (let at = starts[item] ?? 0; at < (starts[item + 1] ?? 0); at++) {
      const [file = 0, row = 0] = [places[2 * at], places[2 * at + 1]];
      const { orders, codes } = this.files[file] ?? {};
      documents.push({ file, row, order: orders?.[row] ?? 0, code: codes?.[row] ?? 0 });
    }
    const replaced = new Set<number>();
    return documents
      .sort((a, b) => b.order - a.order)
      .filter(({ code }) => {
        const counts = !replaced.has(code & FULL);
        if ((code & WHOLE) !== 0) replaced.add(code & FULL);
        return counts;
      });
  }
}

/** File and row of every document, item after item; an item's begin at `starts`. */
function groupByItem(files: readonly IndexedFile[], items: number) {
  const starts = new Uint32Array(items + 2);
  for (const file of files) for (const item of file.items) starts[item + 2] = (starts[item + 2] ?? 0) + 1;
  for (let item = 1; item < starts.length; item++)
    starts[item] = (starts[item] ?? 0) + (starts[item - 1] ?? 0);
  const places = new Uint32Array(2 * (starts.at(-1) ?? 0));
  for (const [number, file] of files.entries()) {
    for (const [row, item] of file.items.entries()) {
      const at = starts[item + 1] ?? 0;
      places[2 * at] = number;
      places[2 * at + 1] = row;
      starts[item + 1] = at + 1;
    }
  }
  return { starts, places };
}
