/** What each pass saw of the items. Memory: about 4 bytes an item and pass. */
import { createHash } from "node:crypto";
import type { ItemIndex } from "../../raw/item-index.ts";

export const UNSEEN = Number.NaN;
/** An item without `updated_at`. */
const NO_TIME = -1;

/** Seconds since 1970 of `YYYY-MM-DDTHH:MM:SS`; another text as a number of its own below zero. */
export function secondsOf(updatedAt: string | null): number {
  if (updatedAt === null) return NO_TIME;
  const milliseconds = Date.parse(`${updatedAt}Z`);
  if (!Number.isNaN(milliseconds)) return milliseconds / 1000;
  return -2 - createHash("sha256").update(updatedAt).digest().readUIntBE(0, 6);
}

const CODE_OF_UNSEEN = 0;
const CODE_OF_OTHER = 0xffff_ffff;
/** Makes the code of `NO_TIME` the first that is free, and that of 1970 the next. */
const CODES_BEFORE_1970 = 2;

/**
 * A time for each item, in seconds: of an item that has none yet, not a number. Whole seconds from 1970 to 2106 are kept
 * as codes of four bytes, others in a map.
 */
class Times {
  #codes = new Uint32Array(1024);
  readonly #others = new Map<number, number>();

  at(number: number): number {
    const code = this.#codes[number] ?? CODE_OF_UNSEEN;
    if (code === CODE_OF_UNSEEN) return UNSEEN;
    return code === CODE_OF_OTHER ? (this.#others.get(number) ?? UNSEEN) : code - CODES_BEFORE_1970;
  }

  set(number: number, seconds: number): void {
    if (number >= this.#codes.length) {
      const length = Math.max(number + 1, this.#codes.length * 2);
      this.#codes = new Uint32Array(this.#codes.buffer.transfer(length * Uint32Array.BYTES_PER_ELEMENT));
    }
    const code = codeOf(seconds);
    this.#codes[number] = code;
    if (code === CODE_OF_OTHER) this.#others.set(number, seconds);
  }
}

function codeOf(seconds: number): number {
  if (Number.isNaN(seconds)) return CODE_OF_UNSEEN;
  const code = seconds + CODES_BEFORE_1970;
  const fits = Number.isInteger(code) && code > CODE_OF_UNSEEN && code < CODE_OF_OTHER;
  return fits ? code : CODE_OF_OTHER;
}

/** What one pass saw. */
export class PassSnapshot {
  readonly #itemIndex: ItemIndex;
  /** By the item's number: `updated_at`. */
  readonly #updatedAt = new Times();
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
    this.#updatedAt.set(number, seconds);
    return seconds;
  }

  /** `updated_at` of an item, in seconds; not a number where the pass did not see it. */
  secondsOf(id: string): number {
    const number = this.#itemIndex.find(id);
    return number === undefined ? UNSEEN : this.at(number);
  }

  saw(id: string): boolean {
    return !Number.isNaN(this.secondsOf(id));
  }

  /** By the item's number; not a number where the pass did not see it. */
  at(number: number): number {
    return this.#updatedAt.at(number);
  }

  /** IDs of which the two passes say different things: listed by one alone, or of another time. */
  *differences(other: PassSnapshot): Generator<string> {
    for (let number = 0; number < this.#itemIndex.size; number++) {
      if (!Object.is(this.at(number), other.at(number))) yield this.#itemIndex.idOf(number);
    }
  }

  /** IDs that one of the two passes listed and the other did not. */
  *listedOnce(other: PassSnapshot): Generator<string> {
    for (let number = 0; number < this.#itemIndex.size; number++) {
      if (Number.isNaN(this.at(number)) !== Number.isNaN(other.at(number)))
        yield this.#itemIndex.idOf(number);
    }
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
