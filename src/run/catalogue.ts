/** Every item ID that any pass listed, once, and what each pass saw of it. Memory: about 100 bytes an item. */
import { createHash } from "node:crypto";
import { compareUtf8 } from "../load/order.ts";

const UNSEEN = Number.NaN;
/** An item without `updated_at`. */
const NO_TIME = -1;

/** Seconds since 1970 of `YYYY-MM-DDTHH:MM:SS`; another text as a number of its own below zero. */
function secondsOf(updatedAt: string | null): number {
  if (updatedAt === null) return NO_TIME;
  const milliseconds = Date.parse(`${updatedAt}Z`);
  if (!Number.isNaN(milliseconds)) return milliseconds / 1000;
  return -2 - createHash("sha256").update(updatedAt).digest().readUIntBE(0, 6);
}

export class Catalogue {
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#numbers.size;
  }

  numberOf(id: string): number {
    let number = this.#numbers.get(id);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(id, number);
    }
    return number;
  }

  has(id: string): boolean {
    return this.#numbers.has(id);
  }

  ids(): Iterable<string> {
    return this.#numbers.keys();
  }

  /** All IDs, ascending by their UTF-8 bytes. */
  sorted(): string[] {
    return [...this.#numbers.keys()].sort(compareUtf8);
  }
}

/** What one pass saw. */
export class Sightings {
  readonly #catalogue: Catalogue;
  /** By the item's number: `updated_at` in seconds. */
  #updatedAt = new Float64Array(1024).fill(UNSEEN);
  distinct = 0;
  duplicates = 0;
  /** IDs that the pass listed more than once. */
  readonly repeated = new Set<string>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  add(id: string, updatedAt: string | null): void {
    const number = this.#catalogue.numberOf(id);
    if (number >= this.#updatedAt.length) {
      const larger = new Float64Array(this.#updatedAt.length * 2).fill(UNSEEN);
      larger.set(this.#updatedAt);
      this.#updatedAt = larger;
    }
    if (Number.isNaN(this.#updatedAt[number])) {
      this.distinct += 1;
    } else {
      this.duplicates += 1;
      this.repeated.add(id);
    }
    this.#updatedAt[number] = secondsOf(updatedAt);
  }

  saw(id: string): boolean {
    return this.#catalogue.has(id) && !Number.isNaN(this.#at(this.#catalogue.numberOf(id)));
  }

  /** Not a number where the pass did not see the item. */
  #at(number: number): number {
    return this.#updatedAt[number] ?? UNSEEN;
  }

  /** IDs of which the two passes say different things: listed by one alone, or of another time. */
  *differences(other: Sightings): Generator<string> {
    for (const id of this.#catalogue.ids()) {
      const number = this.#catalogue.numberOf(id);
      if (!Object.is(this.#at(number), other.#at(number))) yield id;
    }
  }

  /** SHA-256 over the items that the pass saw, ascending by ID: ID, tab, `updated_at` in seconds, line feed. */
  digest(sortedIds: readonly string[]): string {
    const hash = createHash("sha256");
    for (const id of sortedIds) {
      const seconds = this.#at(this.#catalogue.numberOf(id));
      if (!Number.isNaN(seconds)) hash.update(`${id}\t${seconds}\n`);
    }
    return hash.digest("hex");
  }
}
