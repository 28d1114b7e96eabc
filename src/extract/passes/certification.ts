/**
 * When a run is complete. One pass over a list that changes cannot know what it missed, whatever its count says: an item
 * that is edited can jump from a page that is still to come to one that was read. Two clean passes in a row that saw the
 * same items, each of the same time, cannot both have missed it: what they saw is what there was in between. Of a run
 * that was resumed, the last pass must be wholly of the time since, however slow the one before.
 *
 * The modes may mean different times by `updated_at`. That is found out by asking for a few items, never guessed from how
 * many differ. Then the dynamic documents are certified by dynamic passes and the full ones by full and basic passes,
 * and there must be a moment that lies between the two passes of either kind.
 */

import type { Shape } from "../../raw/document.ts";
import type { ItemIndex } from "../../raw/item-index.ts";
import type { ListMode } from "../http/request.ts";
import type { ItemVersions } from "./item-versions.ts";
import { FRESH_MS } from "./pass-snapshot.ts";
import { type ComparedPass, disagreements, itemsCount, itemsReason, listedOnce, nameOf } from "./verdict.ts";

/** What is to be done next; the caller does it and says so, and asks again. */
export type Step =
  /** With `documents`, those of the pass land; without, only IDs and times are read. */
  | { readonly kind: "pass"; readonly mode: ListMode; readonly documents: boolean }
  /** Ask for each item singly: dynamic, full and dynamic again. The documents land. */
  | { readonly kind: "compare"; readonly ids: readonly string[] }
  /** Ask for each item singly, in both shapes. The documents land. */
  | { readonly kind: "repair"; readonly ids: readonly string[] }
  /** Until the second is over in which items were both edited and read. */
  | { readonly kind: "wait"; readonly milliseconds: number }
  /** `disagreements`: why the run is unsettled; empty: it is complete. */
  | { readonly kind: "end"; readonly disagreements: readonly string[] };

/** `updated_at`, to the second, of the three answers for an item; undefined: that one could not be read. */
export interface Comparison {
  readonly dynamic: string | null | undefined;
  readonly full: string | null | undefined;
  readonly dynamicAgain: string | null | undefined;
  /** Whether an answer came within the second of its own time. */
  readonly fresh: boolean;
}

const MAX_PASSES = 6;
/**
 * So many stale items are asked for singly, or as many as the last pass has pages, which is what costs fewer requests. Of
 * more, a listing is read anew.
 */
const MIN_REPAIR_LIMIT = 200;
/** Items that are asked for to see whether the modes mean the same time. */
const COMPARED = 5;

/** What a pass says the times of: `basic` gives those of `full`. */
function shapeOf({ mode }: ComparedPass): Shape {
  return mode === "dynamic" ? "dynamic" : "full";
}

/** Decides what a run asks for, from what it has seen, and says when it is complete. Asks for nothing itself. */
export class Certification<Pass extends ComparedPass> {
  readonly #itemIndex: ItemIndex;
  readonly #versions: ItemVersions;
  /** Shapes of which the run reads documents, in the order of the passes that read them first. */
  readonly #listings: readonly Shape[];
  readonly #repairLimitAtLeast: number;
  readonly #passes: Pass[] = [];
  /** Whether dynamic and full documents have other times though they are of the same version. */
  modesDiffer = false;
  /** Passes after which items were compared, or repaired, last. */
  #comparedAfter = 0;
  #repairedAfter = 0;
  /** Whether what was read last was fresh. */
  #mustWait = false;

  constructor(
    itemIndex: ItemIndex,
    versions: ItemVersions,
    listings: readonly Shape[] = ["dynamic", "full"],
    repairLimit = MIN_REPAIR_LIMIT,
  ) {
    this.#itemIndex = itemIndex;
    this.#versions = versions;
    this.#listings = listings;
    this.#repairLimitAtLeast = repairLimit;
  }

  get passes(): readonly Pass[] {
    return this.#passes;
  }

  /** A pass was made; where its documents landed, {@link ItemVersions} knows. */
  passed(pass: Pass): void {
    this.#passes.push(pass);
    this.#mustWait = pass.fresh.length > 0;
  }

  /** The time of a `wait` step is over. */
  waited(): void {
    this.#mustWait = false;
  }

  /** The items of a `compare` step were asked for. */
  compared(comparisons: readonly Comparison[]): void {
    this.#comparedAfter = this.#passes.length;
    this.#mustWait = comparisons.some(({ fresh }) => fresh);
    this.modesDiffer = comparisons.some(
      ({ dynamic, full, dynamicAgain }) =>
        dynamic !== undefined && full !== undefined && dynamic === dynamicAgain && dynamic !== full,
    );
  }

  /** The items of a `repair` step were asked for. */
  repaired({ fresh }: Pick<Comparison, "fresh">): void {
    this.#repairedAfter = this.#passes.length;
    this.#mustWait = fresh;
  }

  next(): Step {
    const step = this.#step();
    return this.#mustWait && step.kind !== "end" ? { kind: "wait", milliseconds: FRESH_MS } : step;
  }

  #step(): Step {
    const last = this.#passes.at(-1);
    const first = this.#listings[this.#passes.length];
    if (first !== undefined) return { kind: "pass", mode: first, documents: true };
    if (last === undefined) throw new RangeError("a run reads at least one listing");
    if (this.#passes.length === 1) return { kind: "pass", mode: "basic", documents: false };
    const reasons = this.#reasons(last);
    if (reasons.length === 0) return { kind: "end", disagreements: [] };
    return this.#compare(last) ?? this.#repair(last) ?? this.#pass(last, reasons);
  }

  #compare(last: Pass): Step | undefined {
    const passes = this.#passes.length;
    if (this.modesDiffer || this.#comparedAfter === passes || passes === MAX_PASSES) return undefined;
    const numbers = spread(this.#ofTwoTimes(last), COMPARED);
    return numbers.length === 0 ? undefined : { kind: "compare", ids: this.#ids(numbers) };
  }

  /** Items whose times the modes may mean otherwise. */
  #ofTwoTimes(last: Pass): number[] {
    if (this.#listings.length === 2) return this.#versions.ofTwoTimes(last);
    return this.#listings.flatMap((shape) =>
      shape === shapeOf(last) ? [] : this.#versions.differing(shape, last),
    );
  }

  #repair(last: Pass): Step | undefined {
    if (this.#repairedAfter === this.#passes.length) return undefined;
    const stale = this.#stale(last);
    const few = stale.length > this.#repairLimit(last) ? this.#withoutDocument(stale, last) : stale;
    return few.length === 0 ? undefined : { kind: "repair", ids: this.#ids(few) };
  }

  /** At the end, items that no document was read of come before those that have an old one. */
  #withoutDocument(stale: readonly number[], last: Pass): readonly number[] {
    if (this.#passes.length < MAX_PASSES) return [];
    const without = stale.filter((number) => !this.#versions.hasDocument(number));
    return without.length > this.#repairLimit(last) ? [] : without;
  }

  #pass(last: Pass, disagreements: readonly string[]): Step {
    if (this.#passes.length === MAX_PASSES) return { kind: "end", disagreements };
    const limit = this.#repairLimit(last);
    for (const shape of this.#shapes(last)) {
      const stale = this.#versions.differing(shape, last);
      const refused = stale.some((number) => this.#versions.wasRejected(number));
      if (stale.length > limit || refused) return { kind: "pass", mode: shape, documents: true };
    }
    const dynamic = this.modesDiffer && (shapeOf(last) === "full" || !this.#listings.includes("full"));
    return { kind: "pass", mode: dynamic ? "dynamic" : "basic", documents: false };
  }

  #repairLimit({ pages }: Pass): number {
    return Math.max(this.#repairLimitAtLeast, pages);
  }

  /** Shapes whose documents the times of the pass say something of. */
  #shapes(pass: Pass): readonly Shape[] {
    return this.modesDiffer ? this.#listings.filter((shape) => shape === shapeOf(pass)) : this.#listings;
  }

  /** Numbers of the items that are to be asked for again, after the last pass. */
  #stale(last: Pass): number[] {
    const differing = this.#shapes(last).flatMap((shape) => this.#versions.differing(shape, last));
    return [...new Set([...differing, ...this.#versions.unaccounted(this.#passes)])];
  }

  #reasons(last: Pass): string[] {
    const unaccounted = this.#versions.unaccounted(this.#passes);
    const goneSince = this.#versions
      .gone(this.#passes)
      .filter((number) => !Number.isNaN(last.snapshot.at(number)));
    return [
      ...(this.modesDiffer ? this.#reasonsOfEitherMode() : this.#reasonsOfBothModes(last)),
      ...this.#itemsReason(
        unaccounted,
        (n) => `earlier passes listed ${itemsCount(n)} that the last one did not`,
      ),
      ...this.#itemsReason(goneSince, (n) => `${itemsCount(n)} of the last pass gone when asked for singly`),
    ];
  }

  #reasonsOfBothModes(last: Pass): string[] {
    const before = this.#passes.at(-2);
    return [
      ...(before === undefined ? [] : disagreements(before, last)),
      ...this.#loadedReasons(last, this.#listings),
      ...resumedReasons(last),
    ];
  }

  /** Each shape of which there are documents is certified by the last two passes that give its times. */
  #reasonsOfEitherMode(): string[] {
    const pairs: Looks<Pass>[] = [];
    for (const shape of this.#listings) {
      const [last, before] = this.#passes.filter((pass) => shapeOf(pass) === shape).toReversed();
      if (last === undefined || before === undefined)
        return [`the modes mean different times by updated_at, and only one pass read those of ${shape}`];
      pairs.push([before, last]);
    }
    const [one, other] = pairs;
    const both = one !== undefined && other !== undefined;
    return [
      ...pairs.flatMap(([before, last]) => [...disagreements(before, last), ...resumedReasons(last)]),
      ...(both ? listedOnce(one[1], other[1]) : []),
      ...pairs.flatMap(([, last]) => this.#loadedReasons(last, [shapeOf(last)])),
      ...(both ? momentReasons(one, other) : []),
    ];
  }

  #loadedReasons(look: Pass, shapes: readonly Shape[]): string[] {
    const differing = new Set(shapes.flatMap((shape) => this.#versions.differing(shape, look)));
    return this.#itemsReason([...differing], (n) => {
      return `${n === 1 ? "1 loaded item differs" : `${n} loaded items differ`} from ${nameOf(look)}`;
    });
  }

  /** With the reason behind the reason, where the service has not given what would settle it. */
  #itemsReason(numbers: readonly number[], say: (count: number) => string): string[] {
    const refused = numbers.filter((number) => this.#versions.wasRejected(number)).length;
    const items = refused === numbers.length ? "" : `${refused} of `;
    const them = numbers.length === 1 ? "it" : "them";
    const why = `; the service refused to give ${items}${them} singly, or gave another`;
    return itemsReason(this.#ids(numbers), say).map((reason) => (refused === 0 ? reason : reason + why));
  }

  #ids(numbers: readonly number[]): string[] {
    return numbers.map((number) => this.#itemIndex.idOf(number));
  }
}

/** Two passes that give the times of one shape, the earlier one first. */
type Looks<Pass> = readonly [Pass, Pass];

/** What was read before the run was resumed says nothing of what there is now: the last pass must be one of now. */
function resumedReasons({ mode, resumedPages }: ComparedPass): string[] {
  return resumedPages === 0 ? [] : [`the ${mode} pass began before the run was resumed`];
}

/** Between the two passes of a kind its documents are what there was. Both kinds need a moment in common. */
function momentReasons(dynamic: Looks<ComparedPass>, full: Looks<ComparedPass>): string[] {
  const since = Math.max(dynamic[0].pass, full[0].pass);
  const until = Math.min(dynamic[1].pass, full[1].pass);
  return since < until ? [] : ["no moment lies between the last two passes of both modes"];
}

/** So many of them, evenly spaced. */
function spread(numbers: readonly number[], count: number): number[] {
  if (numbers.length <= count) return [...numbers];
  return Array.from({ length: count }, (_, i) => numbers[Math.floor((i * numbers.length) / count)] ?? 0);
}
