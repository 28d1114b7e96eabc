/** Which versions of the items the run has documents of, and which items the service says are gone. */

import type { Shape } from "../../raw/document.ts";
import type { ItemIndex } from "../../raw/item-index.ts";
import { secondsOf } from "../pages/updated-at.ts";
import { type PassSnapshot, UNSEEN } from "./pass-snapshot.ts";
import type { PassEvidence } from "./verdict.ts";

/** A pass, as far as it says which items there are. Passes are numbered from 1, without a gap. */
type Look = Pick<PassEvidence, "pass" | "snapshot">;

export interface LandedPass extends Look, Pick<PassEvidence, "fresh"> {
  /** Items that were listed, and that no answer gave a document of, listed or singly. */
  readonly unread: readonly string[];
}

interface Landed {
  readonly shape: Shape;
  readonly snapshot: PassSnapshot;
  readonly unread: ReadonlySet<number>;
}

/** `updated_at` of the latest document of one shape, by the item's number: as a pass saw it, but for some since. */
class VersionTimes {
  #pass: PassSnapshot | undefined;
  readonly #since = new Map<number, number>();

  /** In seconds; not a number where it is not known. */
  at(number: number): number {
    return this.#since.get(number) ?? this.#pass?.at(number) ?? UNSEEN;
  }

  set(number: number, seconds: number): void {
    this.#since.set(number, seconds);
  }

  take(pass: PassSnapshot): void {
    this.#since.clear();
    this.#pass = pass;
  }
}

/**
 * For each item: the time of its latest document in each shape, and what single-item requests said. A document counts
 * as the version that its `updated_at` names; of one that is fresh (`isFresh`) the version is not known.
 */
export class ItemVersions {
  readonly #itemIndex: ItemIndex;
  readonly #held = { dynamic: new VersionTimes(), full: new VersionTimes() };
  readonly #passes: Landed[] = [];
  /** Items with a document from a single-item request, by its shape. */
  readonly #readSingly = { dynamic: new Set<number>(), full: new Set<number>() };
  /** By the item's number: the pass after which a single-item request gave nothing that can be read. */
  readonly #rejected = new Map<number, number>();
  /** By the item's number: the pass after which the service said so last. */
  readonly #gone = new Map<number, number>();
  readonly #there = new Map<number, number>();

  constructor(itemIndex: ItemIndex) {
    this.#itemIndex = itemIndex;
  }

  /**
   * The documents of a pass landed. Of an item that it saw more than once nobody knows which one is the latest, and of one
   * that it did not see, whether an earlier document is still what the service has.
   */
  recordPass(shape: Shape, { pass, snapshot, fresh, unread }: LandedPass): void {
    const numbers = new Set(unread.map((id) => this.#itemIndex.numberOf(id)));
    // To ask once more is of no use: what there is of the item counts, but a document of before is not as it was listed.
    const outdated = unread.filter((id) => this.#hasDocumentOf(shape, this.#itemIndex.numberOf(id)));
    this.#passes.push({ shape, snapshot, unread: numbers });
    for (const number of numbers) this.#rejected.set(number, pass);
    this.#held[shape].take(snapshot);
    for (const id of [...snapshot.repeated, ...fresh, ...outdated]) this.invalidate(shape, id);
  }

  /** The document of a single-item request landed. Gives its time in seconds; negative where there is none. */
  recordDocument(shape: Shape, id: string, updatedAt: string | null): number {
    const number = this.#itemIndex.numberOf(id);
    const seconds = secondsOf(updatedAt);
    this.#readSingly[shape].add(number);
    this.#held[shape].set(number, seconds);
    return seconds;
  }

  /** Which version the item's latest document is, is not known. */
  invalidate(shape: Shape, id: string): void {
    this.#held[shape].set(this.#itemIndex.numberOf(id), UNSEEN);
  }

  /** A single-item request was answered after the pass `pass`; `rejected`: with nothing that can be read. */
  recordResponse(id: string, answer: "gone" | "there" | "rejected", pass: number): void {
    const number = this.#itemIndex.numberOf(id);
    const isOfTwoStates = answer === "there" && this.#gone.get(number) === pass;
    this.#gone.delete(number);
    if (answer === "gone") this.#gone.set(number, pass);
    if (answer === "rejected") {
      this.#rejected.set(number, pass);
      this.#there.delete(number);
    }
    // In one shape gone, then there in the other: one of the answers is of another state.
    if (isOfTwoStates) this.#there.delete(number);
    // In one shape there and rejected in the other, nobody knows whether its documents are of one version.
    else if (answer === "there" && this.#rejected.get(number) !== pass) this.#there.set(number, pass);
  }

  /** Items whose latest document of the shape is not the version that the look saw. Ascending by number. */
  differing(shape: Shape, { snapshot }: Look): number[] {
    const held = this.#held[shape];
    return this.#numbers((number) => {
      const seconds = snapshot.at(number);
      return !Number.isNaN(seconds) && held.at(number) !== seconds;
    });
  }

  /** Items that the look saw, and whose latest documents have other times in the two shapes. Ascending by number. */
  ofTwoTimes({ snapshot }: Look): number[] {
    const { dynamic, full } = this.#held;
    return this.#numbers((number) => {
      const difference = dynamic.at(number) - full.at(number);
      return difference !== 0 && !Number.isNaN(difference) && !Number.isNaN(snapshot.at(number));
    });
  }

  /** Those of the items that were edited the longest ago, by all that is known of them. At most `count`. */
  oldest(numbers: readonly number[], { snapshot }: Look, count: number): number[] {
    const { dynamic, full } = this.#held;
    const oldest: { readonly number: number; readonly seconds: number }[] = [];
    for (const number of numbers) {
      const times = [dynamic.at(number), full.at(number), snapshot.at(number)];
      const seconds = Math.max(...times.filter((time) => !Number.isNaN(time)));
      const place = oldest.findIndex((each) => seconds < each.seconds);
      if (place === -1 && oldest.length === count) continue;
      oldest.splice(place === -1 ? oldest.length : place, 0, { number, seconds });
      if (oldest.length > count) oldest.pop();
    }
    return oldest.map(({ number }) => number).sort((a, b) => a - b);
  }

  /**
   * Items that the last look did not see, though they are not known to be gone. Ascending by number. `unaccounted`: not
   * known to have been there between the look before it and itself; `inPart`: there is a document of one shape, and nobody
   * asked for the other; `ofTwoTimes`: the latest documents in the two shapes are not of one time.
   */
  unlisted(looks: readonly Look[]) {
    const last = looks.at(-1);
    const { dynamic, full } = this.#held;
    const unlisted = this.#numbers(
      (number) =>
        last !== undefined && Number.isNaN(last.snapshot.at(number)) && !this.#isGone(number, looks),
    );
    const asked = unlisted.filter((number) => !this.wasRejected(number));
    return {
      unaccounted: unlisted.filter((number) => this.#there.get(number) !== (last?.pass ?? 0) - 1),
      inPart: asked.filter((number) => this.#isInPart(number)),
      ofTwoTimes: asked.filter((number) => dynamic.at(number) !== full.at(number)),
    };
  }

  /** Items that were listed, and are gone: the service said so, and no later look saw them. Ascending by number. */
  gone(looks: readonly Look[]): number[] {
    return [...this.#gone.keys()].filter((number) => this.#isGone(number, looks)).sort((a, b) => a - b);
  }

  #isGone(number: number, looks: readonly Look[]): boolean {
    const said = this.#gone.get(number);
    if (said === undefined) return false;
    return looks.every(({ pass, snapshot }) => pass <= said || Number.isNaN(snapshot.at(number)));
  }

  /**
   * Items that have no document at all and are not gone. `rejected`: the service refused to give them singly, or gave
   * nothing that can be read; `notAsked`: they were listed so late, and were so many, that no request asked for them.
   */
  unread(looks: readonly Look[]) {
    return this.#byAnswer(looks, (number) => !this.hasDocument(number));
  }

  /** Items that have a document of one shape, not of the other, and are not gone; `notAsked`: of a list that moved. */
  inPart(looks: readonly Look[]) {
    return this.#byAnswer(looks, (number) => this.#isInPart(number));
  }

  /** Ascending by number. */
  #byAnswer(looks: readonly Look[], holds: (number: number) => boolean) {
    const numbers = this.#numbers((number) => holds(number) && !this.#isGone(number, looks));
    return {
      rejected: numbers.filter((number) => this.wasRejected(number)),
      notAsked: numbers.filter((number) => !this.wasRejected(number)),
    };
  }

  #isInPart(number: number): boolean {
    return this.#hasDocumentOf("dynamic", number) !== this.#hasDocumentOf("full", number);
  }

  /** Whether a single-item request was answered with nothing that can be read. */
  wasRejected(number: number): boolean {
    return this.#rejected.has(number);
  }

  hasDocument(number: number): boolean {
    return this.#hasDocumentOf("dynamic", number) || this.#hasDocumentOf("full", number);
  }

  #hasDocumentOf(shape: Shape, number: number): boolean {
    if (this.#readSingly[shape].has(number)) return true;
    return this.#passes.some(
      (pass) => pass.shape === shape && !Number.isNaN(pass.snapshot.at(number)) && !pass.unread.has(number),
    );
  }

  #numbers(holds: (number: number) => boolean): number[] {
    const numbers: number[] = [];
    for (let number = 0; number < this.#itemIndex.size; number++) if (holds(number)) numbers.push(number);
    return numbers;
  }
}
