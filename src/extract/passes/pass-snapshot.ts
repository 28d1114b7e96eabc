/** `updated_at` of each item as one pass listed it, in about 8 bytes an item. */
import { createHash } from "node:crypto";
import type { ItemIndex } from "../../raw/item-index.ts";
import { secondsOf } from "../pages/updated-at.ts";

/** Time of an item that a pass did not list. */
export const UNSEEN = Number.NaN;

export class PassSnapshot {
  readonly #itemIndex: ItemIndex;
  /** Seconds since 1970, by the item's number. */
  #updatedAt = new Float64Array(1024).fill(UNSEEN);
  distinct = 0;
  duplicates = 0;
  /** IDs that the pass listed more than once. */
  readonly repeated = new Set<string>();

  constructor(itemIndex: ItemIndex) {
    this.#itemIndex = itemIndex;
  }

  /** Returns the time in seconds since 1970, as {@link secondsOf}. */
  add(id: string, updatedAt: string | null): number {
    const number = this.#itemIndex.numberOf(id);
    if (Number.isNaN(this.at(number))) {
      this.distinct += 1;
    } else {
      this.duplicates += 1;
      this.repeated.add(id);
    }
    const seconds = secondsOf(updatedAt);
    if (number >= this.#updatedAt.length) {
      const { length, buffer } = this.#updatedAt;
      const longer = Math.max(number + 1, length * 2);
      const bytes = buffer.transfer(longer * Float64Array.BYTES_PER_ELEMENT);
      this.#updatedAt = new Float64Array(bytes).fill(UNSEEN, length);
    }
    this.#updatedAt[number] = seconds;
    return seconds;
  }

  /** Seconds since 1970, by the item's number; `NaN` if the pass did not list the item. */
  at(number: number): number {
    return this.#updatedAt[number] ?? UNSEEN;
  }

  has(number: number): boolean {
    return !Number.isNaN(this.at(number));
  }

  /** Sorted IDs of items whose times differ, or that only one of the two passes lists. */
  differences(other: PassSnapshot): string[] {
    return this.#idsWhere((number) => !Object.is(this.at(number), other.at(number)));
  }

  /** Sorted IDs of items that only one of the two passes lists. */
  listedOnce(other: PassSnapshot): string[] {
    return this.#idsWhere((number) => this.has(number) !== other.has(number));
  }

  #idsWhere(holds: (number: number) => boolean): string[] {
    const ids: string[] = [];
    for (let number = 0; number < this.#itemIndex.size; number++)
      if (holds(number)) ids.push(this.#itemIndex.idOf(number));
    return ids.sort();
  }

  /**
   * SHA-256 over a line for each listed item, ascending by ID: ID, tab, `updated_at` in seconds, line feed. `sorted`: the
   * numbers of all items in that order.
   */
  digest(sorted: Uint32Array): string {
    const hash = createHash("sha256");
    for (const number of sorted)
      if (this.has(number)) hash.update(`${this.#itemIndex.idOf(number)}\t${this.at(number)}\n`);
    return hash.digest("hex");
  }
}
