/** Numbers the items of a run. */
import { compareUtf8 } from "../common/utf8-order.ts";

/**
 * All item IDs of a run, numbered from 0 in the order in which they come, with the approximate size of each item, in about
 * 100 bytes an item.
 */
export class ItemIndex {
  readonly #numbers = new Map<string, number>();
  readonly #ids: string[] = [];
  /** Approximate bytes of a document, by number. */
  readonly #weights: number[] = [];
  readonly #pages = new Map<number, number[]>();

  get size(): number {
    return this.#ids.length;
  }

  /** `undefined` if the ID has no number. */
  find(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  has(id: string): boolean {
    return this.#numbers.has(id);
  }

  /** Returns the ID's number. A new ID gets the next one. */
  numberOf(id: string): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const number = this.#ids.push(id) - 1;
    this.#numbers.set(id, number);
    this.#weights.push(0);
    return number;
  }

  /** The ID must have a number. */
  idOf(number: number): string {
    const id = this.#ids[number];
    if (id === undefined) throw new TypeError(`no item has the number ${number}`);
    return id;
  }

  /** All numbers, in the order of the IDs' UTF-8 bytes. */
  sorted(): Uint32Array {
    return Uint32Array.from(this.#ids.keys()).sort((a, b) => compareUtf8(this.idOf(a), this.idOf(b)));
  }

  /** Records the approximate bytes of a document of the item. The largest counts. */
  weigh(id: string, bytes: number): void {
    const number = this.numberOf(id);
    this.#weights[number] = Math.max(this.weightAt(number), bytes);
  }

  /** Records the bytes of a page for each of its items. */
  weighPage(pass: number, page: number, bytesPerItem: number): void {
    const pages = this.#pages.get(pass) ?? [];
    this.#pages.set(pass, pages);
    while (pages.length < page) pages.push(0);
    pages[page - 1] = bytesPerItem;
  }

  /** Bytes per item of each page, by pass. */
  get pages(): ReadonlyMap<number, readonly number[]> {
    return this.#pages;
  }

  weightAt(number: number): number {
    return this.#weights[number] ?? 0;
  }
}
