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
  #weights = new Float32Array(1024);

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

  /** Notes how many bytes an answer spent on the item, roughly; the most counts. */
  weigh(id: string, bytes: number): void {
    const number = this.numberOf(id);
    if (number >= this.#weights.length) {
      const larger = new Float32Array(Math.max(number + 1, this.#weights.length * 2));
      larger.set(this.#weights);
      this.#weights = larger;
    }
    this.#weights[number] = Math.max(this.#weights[number] ?? 0, bytes);
  }

  weightOf(id: string): number {
    return this.#weights[this.numberOf(id)] ?? 0;
  }

  ids(): Iterable<string> {
    return this.#numbers.keys();
  }

  /** All IDs, ascending by their UTF-8 bytes. */
  sorted(): string[] {
    return [...this.#numbers.keys()].sort(compareUtf8);
  }
}

/** A time for each item, in seconds: of an item that has none yet, not a number. */
class Times {
  #seconds = new Float64Array(1024).fill(UNSEEN);

  at(number: number): number {
    return this.#seconds[number] ?? UNSEEN;
  }

  set(number: number, seconds: number): void {
    if (number >= this.#seconds.length) {
      const larger = new Float64Array(Math.max(number + 1, this.#seconds.length * 2)).fill(UNSEEN);
      larger.set(this.#seconds);
      this.#seconds = larger;
    }
    this.#seconds[number] = seconds;
  }
}

/** What one pass saw. */
export class Sightings {
  readonly #catalogue: Catalogue;
  /** By the item's number: `updated_at`. */
  readonly #updatedAt = new Times();
  distinct = 0;
  duplicates = 0;
  /** IDs that the pass listed more than once. */
  readonly repeated = new Set<string>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  add(id: string, updatedAt: string | null): void {
    const number = this.#catalogue.numberOf(id);
    if (Number.isNaN(this.#at(number))) {
      this.distinct += 1;
    } else {
      this.duplicates += 1;
      this.repeated.add(id);
    }
    this.#updatedAt.set(number, secondsOf(updatedAt));
  }

  /** `updated_at` of an item, in seconds; not a number where the pass did not see it. */
  secondsOf(id: string): number {
    return this.#catalogue.has(id) ? this.#at(this.#catalogue.numberOf(id)) : UNSEEN;
  }

  saw(id: string): boolean {
    return this.#catalogue.has(id) && !Number.isNaN(this.#at(this.#catalogue.numberOf(id)));
  }

  /** Not a number where the pass did not see the item. */
  #at(number: number): number {
    return this.#updatedAt.at(number);
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

/**
 * What the run holds of the items: the times of the views that were staged, and which items the service said are gone.
 */
export class Holdings {
  readonly #catalogue: Catalogue;
  readonly #held = { dynamic: new Times(), full: new Times() };
  readonly #gone = new Set<string>();
  /** Items that were there when they were asked for singly since the last pass. */
  #there = new Set<string>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /** A view was staged. */
  hold(shape: "dynamic" | "full", id: string, updatedAt: string | null): void {
    this.#held[shape].set(this.#catalogue.numberOf(id), secondsOf(updatedAt));
  }

  /** Several answers of one pass had the items: which of their views is the latest is not known here. */
  forget(shape: "dynamic" | "full", ids: Iterable<string>): void {
    for (const id of ids) this.#held[shape].set(this.#catalogue.numberOf(id), UNSEEN);
  }

  /** A single-item request was answered. */
  answered(id: string, answer: "gone" | "there"): void {
    if (answer === "gone") this.#gone.add(id);
    else this.#there.add(id);
  }

  /** Items that were listed once, are no longer, and are gone. */
  gone(last: Sightings): string[] {
    return [...this.#gone].filter((id) => !last.saw(id));
  }

  /**
   * After a pass: the items whose staged views are not those that it saw, and those that it did not see, though they
   * are not known to be gone, nor to have been there between the pass before and this one.
   * `fullOnly`: the modes mean different instants by `updated_at`, so the dynamic view's is not held against the pass.
   */
  stale(pass: Sightings, fullOnly: boolean): string[] {
    const stale: string[] = [];
    const there = this.#there;
    this.#there = new Set();
    for (const id of this.#catalogue.ids()) {
      if (!pass.saw(id)) {
        if (!this.#gone.has(id) && !there.has(id)) stale.push(id);
        continue;
      }
      const seconds = pass.secondsOf(id);
      const number = this.#catalogue.numberOf(id);
      const dynamic = fullOnly ? seconds : this.#held.dynamic.at(number);
      if (dynamic !== seconds || this.#held.full.at(number) !== seconds) stale.push(id);
    }
    return stale;
  }
}
