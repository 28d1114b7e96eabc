/** What each pass saw of the items. Memory: about 8 bytes an item and pass. */
import { createHash } from "node:crypto";
import type { ItemIndex } from "../../raw/item-index.ts";
import { secondsOf } from "../pages/updated-at.ts";

export const UNSEEN = Number.NaN;

export class PassSnapshot {
  readonly #itemIndex: ItemIndex;
  /** By the item's number: `updated_at`, in seconds. */
  #updatedAt = new Float64Array(1024).fill(UNSEEN);
  distinct = 0;
  duplicates = 0;
  /** IDs that the pass listed more than once. */
  readonly repeated = new Set<string>();

  constructor(itemIndex: ItemIndex) {
    this.#itemIndex = itemIndex;
  }

  /** Gives the time in seconds; negative where there is none. */
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

  /** `updated_at` of an item, by its number, in seconds; not a number where the pass did not see it. */
  at(number: number): number {
    return this.#updatedAt[number] ?? UNSEEN;
  }

  /**
   * IDs of which the two passes say different things, in order: listed by one alone, or of another time. `of`: what of
   * the time counts.
   */
  differences(other: PassSnapshot, of: (seconds: number) => unknown = (seconds) => seconds): string[] {
    const ids: string[] = [];
    for (let number = 0; number < this.#itemIndex.size; number++)
      if (!Object.is(of(this.at(number)), of(other.at(number)))) ids.push(this.#itemIndex.idOf(number));
    return ids.sort();
  }

  /**
   * SHA-256 over the items that the pass saw, ascending by ID: ID, tab, `updated_at` in seconds, line feed. `sorted`: the
   * numbers of all items in that order.
   */
  digest(sorted: Uint32Array): string {
    const hash = createHash("sha256");
    for (const number of sorted) {
      const seconds = this.at(number);
      if (!Number.isNaN(seconds)) hash.update(`${this.#itemIndex.idOf(number)}\t${seconds}\n`);
    }
    return hash.digest("hex");
  }
}
