/** All item IDs of a run, with the approximate size of each item, in about 30 bytes an item. */
import { IdTable } from "./ids.ts";

export class ItemIndex extends IdTable {
  #weights = new Float32Array(1024);
  readonly #pages = new Map<number, number[]>();

  has(id: string): boolean {
    return this.find(id) !== undefined;
  }

  /** Records the approximate bytes of a document of the item. The largest counts. */
  weigh(id: string, bytes: number): void {
    const number = this.numberOf(id);
    if (number >= this.#weights.length) {
      const length = Math.max(number + 1, this.#weights.length * 2);
      this.#weights = new Float32Array(
        this.#weights.buffer.transfer(length * Float32Array.BYTES_PER_ELEMENT),
      );
    }
    this.#weights[number] = Math.max(this.#weights[number] ?? 0, bytes);
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
