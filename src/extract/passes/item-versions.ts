/** Which versions of the items each pass listed, which the run has documents of, and which items are gone. */
import { createHash } from "node:crypto";
import type { Shape } from "../../raw/document.ts";
import type { ItemIndex } from "../../raw/item-index.ts";
import { secondsOf } from "../pages/updated-at.ts";

/** Time of an item that a pass did not list. */
const UNSEEN = Number.NaN;

/** `updated_at` of each item as one pass listed it, in about 8 bytes an item. */
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

/** What a pass listed. Passes are numbered from 1, without a gap. */
export interface PassListing {
  readonly pass: number;
  readonly snapshot: PassSnapshot;
  /** IDs of items that were read within the second of their own time, see `isFresh`. */
  readonly fresh: readonly string[];
  /** IDs of listed items of which no request returned a document. */
  readonly unread: readonly string[];
}

type SeenItems = Pick<PassListing, "pass" | "snapshot">;

/** `updated_at` of the latest document of each item in one shape, in seconds, by the item's number. */
class VersionTimes {
  #pass: PassSnapshot | undefined;
  /** Times that changed since that pass. */
  readonly #changes = new Map<number, number>();

  /** `NaN` if the version is not known. */
  at(number: number): number {
    return this.#changes.get(number) ?? this.#pass?.at(number) ?? UNSEEN;
  }

  set(number: number, seconds: number): void {
    this.#changes.set(number, seconds);
  }

  replace(pass: PassSnapshot): void {
    this.#changes.clear();
    this.#pass = pass;
  }
}

/**
 * For each item: the time of its latest document in each shape, and what single-item requests returned. `updated_at`
 * identifies the version of a document, unless the document is fresh (see `isFresh`). Lists of numbers are ascending.
 */
export class ItemVersions {
  readonly #itemIndex: ItemIndex;
  readonly #times = { dynamic: new VersionTimes(), full: new VersionTimes() };
  readonly #landed: {
    readonly shape: Shape;
    readonly snapshot: PassSnapshot;
    readonly unread: ReadonlySet<number>;
  }[] = [];
  /** Items with a document from a single-item request. */
  readonly #readSingly = { dynamic: new Set<number>(), full: new Set<number>() };
  // By the item's number: the last pass after which a single-item request was rejected, or said gone or there.
  readonly #rejected = new Map<number, number>();
  readonly #gone = new Map<number, number>();
  readonly #there = new Map<number, number>();

  constructor(itemIndex: ItemIndex) {
    this.#itemIndex = itemIndex;
  }

  /**
   * Records that the documents of a pass landed. The version of an item that the pass listed twice is not known; nor is
   * it known whether an item that the pass did not list still has its earlier document.
   */
  recordPass(shape: Shape, { pass, snapshot, fresh, unread }: PassListing): void {
    const numbers = new Set(unread.map((id) => this.#itemIndex.numberOf(id)));
    // Another request would fail again. The item keeps an earlier document, which is not of the listed version.
    const outdated = unread.filter((id) => this.#hasDocumentOf(shape, this.#itemIndex.numberOf(id)));
    this.#landed.push({ shape, snapshot, unread: numbers });
    for (const number of numbers) this.#rejected.set(number, pass);
    this.#times[shape].replace(snapshot);
    for (const id of [...snapshot.repeated, ...fresh, ...outdated]) this.invalidate(shape, id);
  }

  /** Records the document of a single-item request. Returns its time in seconds, as `secondsOf`. */
  recordDocument(shape: Shape, id: string, updatedAt: string | null): number {
    const number = this.#itemIndex.numberOf(id);
    const seconds = secondsOf(updatedAt);
    this.#readSingly[shape].add(number);
    this.#times[shape].set(number, seconds);
    return seconds;
  }

  /** Records that the version of the item's latest document is not known. */
  invalidate(shape: Shape, id: string): void {
    this.#times[shape].set(this.#itemIndex.numberOf(id), UNSEEN);
  }

  /** Records a single-item response after the pass `pass`; `rejected`: it could not be read. */
  recordResponse(id: string, response: "gone" | "there" | "rejected", pass: number): void {
    const number = this.#itemIndex.numberOf(id);
    const wasGone = this.#gone.get(number) === pass;
    this.#gone.delete(number);
    if (response === "gone") {
      this.#gone.set(number, pass);
    } else if (response === "rejected") {
      this.#rejected.set(number, pass);
      this.#there.delete(number);
    } else if (wasGone) {
      // Gone in one shape and there in the other: the two responses are of different states.
      this.#there.delete(number);
    } else if (this.#rejected.get(number) !== pass) {
      // After a reject in the other shape, nobody knows whether both documents are of one version.
      this.#there.set(number, pass);
    }
  }

  /** Items that the pass listed with another time than that of their latest document. */
  differing(shape: Shape, { snapshot }: SeenItems): number[] {
    const times = this.#times[shape];
    return this.#numbers((number) => snapshot.has(number) && times.at(number) !== snapshot.at(number));
  }

  /** Items that the pass listed and whose latest documents have different times in the two shapes. */
  ofTwoTimes({ snapshot }: SeenItems): number[] {
    const { dynamic, full } = this.#times;
    return this.#numbers((number) => {
      const difference = dynamic.at(number) - full.at(number);
      return difference !== 0 && !Number.isNaN(difference) && snapshot.has(number);
    });
  }

  /** At most `count` of the items: those whose latest known edit is the oldest. */
  oldest(numbers: readonly number[], { snapshot }: SeenItems, count: number): number[] {
    const { dynamic, full } = this.#times;
    const edits = numbers.map((number) => {
      const times = [dynamic.at(number), full.at(number), snapshot.at(number)];
      return { number, seconds: Math.max(...times.filter((time) => !Number.isNaN(time))) };
    });
    const oldest = edits.sort((a, b) => a.seconds - b.seconds).slice(0, count);
    return oldest.map(({ number }) => number).sort((a, b) => a - b);
  }

  /**
   * Items that the last pass did not list and that are not known to be gone. `unaccounted`: no response says that they
   * were there just before it; `inPart`: they have a document in one shape and were not requested in the other;
   * `ofTwoTimes`: their latest documents have different times.
   */
  unlisted(passes: readonly SeenItems[]) {
    const last = passes.at(-1);
    const { dynamic, full } = this.#times;
    const unlisted = this.#numbers(
      (number) => last !== undefined && !last.snapshot.has(number) && !this.#isGone(number, passes),
    );
    const readable = unlisted.filter((number) => !this.wasRejected(number));
    return {
      unaccounted: unlisted.filter((number) => this.#there.get(number) !== (last?.pass ?? 0) - 1),
      inPart: readable.filter((number) => this.#isInPart(number)),
      ofTwoTimes: readable.filter((number) => dynamic.at(number) !== full.at(number)),
    };
  }

  /** Items that a response says are gone and that no later pass listed. */
  gone(passes: readonly SeenItems[]): number[] {
    return [...this.#gone.keys()].filter((number) => this.#isGone(number, passes)).sort((a, b) => a - b);
  }

  #isGone(number: number, passes: readonly SeenItems[]): boolean {
    const after = this.#gone.get(number);
    return (
      after !== undefined && passes.every(({ pass, snapshot }) => pass <= after || !snapshot.has(number))
    );
  }

  /**
   * Items without any document that are not gone. `rejected`: requested and not readable; `notAsked`: listed so late, and
   * so many, that they were not requested.
   */
  unread(passes: readonly SeenItems[]) {
    return this.#byResponse(passes, (number) => !this.hasDocument(number));
  }

  /** Items with a document in only one shape that are not gone, as in {@link unread}. */
  inPart(passes: readonly SeenItems[]) {
    return this.#byResponse(passes, (number) => this.#isInPart(number));
  }

  #byResponse(passes: readonly SeenItems[], holds: (number: number) => boolean) {
    const numbers = this.#numbers((number) => holds(number) && !this.#isGone(number, passes));
    return {
      rejected: numbers.filter((number) => this.wasRejected(number)),
      notAsked: numbers.filter((number) => !this.wasRejected(number)),
    };
  }

  #isInPart(number: number): boolean {
    return this.#hasDocumentOf("dynamic", number) !== this.#hasDocumentOf("full", number);
  }

  /** Whether a response to a single-item request could not be read. */
  wasRejected(number: number): boolean {
    return this.#rejected.has(number);
  }

  hasDocument(number: number): boolean {
    return this.#hasDocumentOf("dynamic", number) || this.#hasDocumentOf("full", number);
  }

  #hasDocumentOf(shape: Shape, number: number): boolean {
    return (
      this.#readSingly[shape].has(number) ||
      this.#landed.some(
        (pass) => pass.shape === shape && pass.snapshot.has(number) && !pass.unread.has(number),
      )
    );
  }

  #numbers(holds: (number: number) => boolean): number[] {
    const numbers: number[] = [];
    for (let number = 0; number < this.#itemIndex.size; number++) if (holds(number)) numbers.push(number);
    return numbers;
  }
}
