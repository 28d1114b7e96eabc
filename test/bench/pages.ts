/** Pages of a listing of any length, made from few rendered documents. */

/** A rendered document, and where its ID stands in it. */
interface Rendered {
  readonly bytes: Buffer;
  readonly idAt: readonly number[];
}

/** Hexadecimal digits at the beginning of an ID that tell the copies of a document apart. */
const COPY_DIGITS = 8;

export class Pages {
  readonly #rendered: readonly Rendered[];
  readonly #items: number;

  /** `documents`: of one view, each with its `id`. `items`: length of the listing. */
  constructor(documents: readonly { readonly id: string }[], items: number) {
    this.#items = items;
    this.#rendered = documents.map((document) => {
      const bytes = Buffer.from(JSON.stringify(document));
      const idAt: number[] = [];
      for (let at = bytes.indexOf(document.id); at >= 0; at = bytes.indexOf(document.id, at + 1))
        idAt.push(at);
      return { bytes, idAt };
    });
  }

  page(page: number, perPage: number): Buffer {
    const pages = Math.max(1, Math.ceil(this.#items / perPage));
    const first = (page - 1) * perPage;
    const last = Math.min(this.#items, first + perPage);
    const parts: Buffer[] = [];
    for (let index = first; index < last; index++) parts.push(this.item(index), COMMA);
    parts.pop();
    const pagination = {
      previous: page > 1 ? page - 1 : null,
      next: page < pages ? page + 1 : null,
      current: page,
      per_page: perPage,
      count: this.#items,
      pages,
    };
    const tail = `],"count":${last - first},"pagination":${JSON.stringify(pagination)}}`;
    return Buffer.concat([HEAD, ...parts, Buffer.from(tail)]);
  }

  /** Document of the item at a place of the listing, from 0. IDs ascend with the places, nearly. */
  item(index: number): Buffer {
    const rendered = this.#rendered[index % this.#rendered.length];
    if (rendered === undefined) throw new RangeError("there are no documents");
    const bytes = Buffer.from(rendered.bytes);
    const copy = Math.floor(index / this.#rendered.length);
    const digits = copy.toString(16).padStart(COPY_DIGITS, "0");
    for (const at of rendered.idAt) bytes.write(digits, at, "latin1");
    return bytes;
  }
}

const HEAD = Buffer.from('{"response":[');
const COMMA = Buffer.from(",");

/** The ID of the document that the item with this ID is a copy of, without the digits that tell copies apart. */
export function templateKey(id: string): string {
  return id.slice(COPY_DIGITS);
}
