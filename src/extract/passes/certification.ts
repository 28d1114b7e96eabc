/**
 * When a run is complete. One pass over a list that changes cannot know what it missed, whatever its count says: an item
 * that is edited can jump from a page that is still to come to one that was read. Two clean passes in a row that saw the
 * same items, each of the same time, cannot both have missed it: what they saw is what there was in between. Of a run
 * that was resumed, the last pass must be wholly of the time since, however slow the one before.
 *
 * The modes may mean different times by `updated_at`. That is found out by asking for a few items, never guessed from how
 * many differ, and only items that nobody edited within a week are evidence of it: another may as well have been read at
 * two states, one of them of a replica that lags behind. Where that may be over soon, it is waited for. Where the modes do mean different times, the dynamic documents are certified by dynamic passes and the full ones by full and basic
 * passes, and there must be a moment that lies between the two passes of either kind; whether the documents of an item
 * contradict each other then is seen when they are transformed, and makes the run unsettled.
 */

import type { Shape } from "../../raw/document.ts";
import type { ItemIndex } from "../../raw/item-index.ts";
import type { ListMode } from "../http/request.ts";
import { FRESH_MS, NO_TIME } from "../pages/updated-at.ts";
import type { ItemVersions } from "./item-versions.ts";
import {
  countOfItems,
  disagreements,
  itemsReason,
  listingDifferences,
  type PassEvidence,
  passName,
} from "./verdict.ts";

/** What is to be done next; the caller does it and says so, and asks again. */
export type CertificationStep =
  /** With `documents`, those of the pass land; without, only IDs and times are read. */
  | { readonly kind: "pass"; readonly mode: ListMode; readonly documents: boolean }
  /** Ask for each item singly: dynamic, full and dynamic again. The documents land. */
  | { readonly kind: "compare"; readonly ids: readonly string[] }
  /** Ask for each item singly, in both shapes. The documents land. */
  | { readonly kind: "repair"; readonly ids: readonly string[] }
  /** Until the second is over in which items were both edited and read, or for a replica that lags behind. */
  | { readonly kind: "wait"; readonly milliseconds: number }
  /** `disagreements`: why the run is unsettled; empty: it is complete. */
  | { readonly kind: "end"; readonly disagreements: readonly string[] };

/** `updated_at` of the three answers for an item, as `secondsOf` gives it; undefined: that one could not be read. */
export interface ModeComparison {
  readonly dynamic: number | undefined;
  readonly full: number | undefined;
  readonly dynamicAgain: number | undefined;
  /** The last answer's `Date`, in seconds since 1970. */
  readonly answeredAt: number;
  /** Whether an answer came within the second of its own time. */
  readonly fresh: boolean;
}

const MAX_PASSES = 6;
/**
 * So many stale items are asked for singly, or as many as the last pass has pages, which is what costs fewer requests. Of
 * more, a listing is read anew.
 */
const MIN_REPAIR_LIMIT = 200;
/** Items that are asked for to see whether the modes mean the same time: those whose times are the oldest. */
const COMPARED = 5;
/** No replica is taken to lag behind by more: there is nearly always an item that is older. */
const MAX_LAG_SECONDS = 7 * 24 * 3600;
/** One that lags behind by more than that does not catch up while a run waits. */
const AWAITED_LAG_SECONDS = 3600;
/** How long a replica is waited for, each time before the items are compared again; five minutes in all. */
const LAG_WAITS_MS: readonly number[] = [10_000, 20_000, 40_000, 80_000, 150_000];

/** What a pass says the times of: `basic` gives those of `full`. */
function shapeOf({ mode }: PassEvidence): Shape {
  return mode === "dynamic" ? "dynamic" : "full";
}

/** Decides what a run asks for, from what it has seen, and says when it is complete. Asks for nothing itself. */
export class Certification<Pass extends PassEvidence> {
  readonly #itemIndex: ItemIndex;
  readonly #versions: ItemVersions;
  /** Shapes of which the run reads documents, in the order of the passes that read them first. */
  readonly #listings: readonly Shape[];
  readonly #repairLimitAtLeast: number;
  readonly #passes: Pass[] = [];
  /** Whether dynamic and full documents are taken to have other times though they are of the same version. */
  #modesDiffer = false;
  /** Passes after which items were compared, or repaired, last. */
  #comparedAfter = 0;
  #repairedAfter = 0;
  /** How long to wait before the next request. */
  #waitMs = 0;
  /** Of {@link LAG_WAITS_MS}, how many are over. */
  #lagWaits = 0;
  /** Whether items were answered from two states, however long the run waited. */
  #isLagging = false;

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

  /** Whether the modes mean different times, and the documents that count show it. */
  get modesDiffer(): boolean {
    const last = this.#passes.at(-1);
    if (!this.#modesDiffer || last === undefined) return false;
    return this.#listings.length === 1 || this.#ofTwoTimes(last).length > 0;
  }

  /** A pass was made; where its documents landed, {@link ItemVersions} knows. */
  passed(pass: Pass): void {
    this.#passes.push(pass);
    this.#waitMs = pass.fresh.length > 0 ? FRESH_MS : 0;
  }

  /** The time of a `wait` step is over. */
  waited(): void {
    this.#waitMs = 0;
  }

  /** The items of a `compare` step were asked for. */
  compared(comparisons: readonly ModeComparison[]): void {
    this.#comparedAfter = this.#passes.length;
    this.#waitMs = comparisons.some(({ fresh }) => fresh) ? FRESH_MS : 0;
    const ofTwoStates = comparisons.filter(isOfTwoStates);
    this.#modesDiffer = ofTwoStates.some((each) => isOfTwoTimes(each) && ageOf(each) > MAX_LAG_SECONDS);
    if (this.#modesDiffer || ofTwoStates.length === 0) return;
    const isAwaited = ofTwoStates.some((each) => ageOf(each) < AWAITED_LAG_SECONDS);
    const wait = isAwaited ? LAG_WAITS_MS[this.#lagWaits] : undefined;
    this.#isLagging = wait === undefined;
    if (wait === undefined) return;
    this.#lagWaits += 1;
    this.#comparedAfter = 0;
    this.#waitMs = wait;
  }

  /** The items of a `repair` step were asked for. */
  repaired({ fresh }: Pick<ModeComparison, "fresh">): void {
    this.#repairedAfter = this.#passes.length;
    this.#waitMs = fresh ? FRESH_MS : 0;
  }

  next(): CertificationStep {
    const step = this.#step();
    return this.#waitMs > 0 && step.kind !== "end" ? { kind: "wait", milliseconds: this.#waitMs } : step;
  }

  #step(): CertificationStep {
    const last = this.#passes.at(-1);
    const first = this.#listings[this.#passes.length];
    if (first !== undefined) return { kind: "pass", mode: first, documents: true };
    if (last === undefined) throw new RangeError("a run reads at least one listing");
    if (this.#passes.length === 1) return { kind: "pass", mode: "basic", documents: false };
    const reasons = this.#reasons(last);
    if (reasons.length === 0) return { kind: "end", disagreements: [] };
    if (this.#isLagging) return { kind: "end", disagreements: [...this.#laggingReason(last), ...reasons] };
    return this.#compare(last) ?? this.#repair(last) ?? this.#pass(last, reasons);
  }

  #compare(last: Pass): CertificationStep | undefined {
    const passes = this.#passes.length;
    if (this.#modesDiffer || this.#comparedAfter === passes || passes === MAX_PASSES) return undefined;
    const numbers = this.#versions.oldest(this.#ofTwoTimes(last), last, COMPARED);
    return numbers.length === 0 ? undefined : { kind: "compare", ids: this.#ids(numbers) };
  }

  /** Items whose times the modes may mean otherwise. */
  #ofTwoTimes(last: Pass): number[] {
    if (this.#listings.length === 2) return this.#versions.ofTwoTimes(last);
    return this.#listings.flatMap((shape) =>
      shape === shapeOf(last) ? [] : this.#versions.differing(shape, last),
    );
  }

  #repair(last: Pass): CertificationStep | undefined {
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

  #pass(last: Pass, disagreements: readonly string[]): CertificationStep {
    if (this.#passes.length === MAX_PASSES) return { kind: "end", disagreements };
    const limit = this.#repairLimit(last);
    for (const shape of this.#shapes(last)) {
      const stale = this.#versions.differing(shape, last);
      const refused = stale.some((number) => this.#versions.wasRejected(number));
      if (stale.length > limit || refused) return { kind: "pass", mode: shape, documents: true };
    }
    const dynamic = this.#modesDiffer && (shapeOf(last) === "full" || !this.#listings.includes("full"));
    return { kind: "pass", mode: dynamic ? "dynamic" : "basic", documents: false };
  }

  #repairLimit({ pages }: Pass): number {
    return Math.max(this.#repairLimitAtLeast, pages);
  }

  /** Shapes whose documents the times of the pass say something of. */
  #shapes(pass: Pass): readonly Shape[] {
    return this.#modesDiffer ? this.#listings.filter((shape) => shape === shapeOf(pass)) : this.#listings;
  }

  /** Numbers of the items that are to be asked for again, after the last pass. */
  #stale(last: Pass): number[] {
    const differing = this.#shapes(last).flatMap((shape) => this.#versions.differing(shape, last));
    return [...new Set([...differing, ...Object.values(this.#unlisted()).flat()])];
  }

  /** Items that the last pass did not list, and that say why it may not be believed. */
  #unlisted(): ReturnType<ItemVersions["unlisted"]> {
    const unlisted = this.#versions.unlisted(this.#passes);
    if (this.#listings.length === 1) return { ...unlisted, ofTwoTimes: [], inPart: [] };
    return this.#modesDiffer ? { ...unlisted, ofTwoTimes: [] } : unlisted;
  }

  #reasons(last: Pass): string[] {
    const { unaccounted, ofTwoTimes, inPart } = this.#unlisted();
    const goneSince = this.#versions
      .gone(this.#passes)
      .filter((number) => !Number.isNaN(last.snapshot.at(number)));
    return [
      ...(this.#modesDiffer ? this.#reasonsOfEitherMode() : this.#reasonsOfBothModes(last)),
      ...this.#itemsReason(
        unaccounted,
        (n) => `earlier passes listed ${countOfItems(n)} that the last one did not`,
      ),
      ...this.#itemsReason(inPart, (n) => `${countOfItems(n)} in one mode alone`),
      ...this.#itemsReason(
        ofTwoTimes,
        (n) => `${countOfItems(n)} that the last pass did not list, read at two times`,
      ),
      ...this.#itemsReason(
        goneSince,
        (n) => `${countOfItems(n)} of the last pass gone when asked for singly`,
      ),
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
      ...(both ? listingDifferences(one[1], other[1]) : []),
      ...pairs.flatMap(([, last]) => this.#loadedReasons(last, [shapeOf(last)])),
      ...(both ? momentReasons(one, other) : []),
    ];
  }

  #laggingReason(last: Pass): string[] {
    return itemsReason(this.#ids(this.#ofTwoTimes(last)), (n) => {
      const have = n === 1 ? "1 item has" : `${n} items have`;
      return `${have} another updated_at in dynamic than in full answers, as if some were of an older state of the service`;
    });
  }

  #loadedReasons(look: Pass, shapes: readonly Shape[]): string[] {
    const differing = new Set(shapes.flatMap((shape) => this.#versions.differing(shape, look)));
    return this.#itemsReason([...differing], (n) => {
      return `${n === 1 ? "1 loaded item differs" : `${n} loaded items differ`} from ${passName(look)}`;
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
function resumedReasons({ mode, resumedPages }: PassEvidence): string[] {
  return resumedPages === 0 ? [] : [`the ${mode} pass began before the run was resumed`];
}

/** Between the two passes of a kind its documents are what there was. Both kinds need a moment in common. */
function momentReasons(dynamic: Looks<PassEvidence>, full: Looks<PassEvidence>): string[] {
  const since = Math.max(dynamic[0].pass, full[0].pass);
  const until = Math.min(dynamic[1].pass, full[1].pass);
  return since < until ? [] : ["no moment lies between the last two passes of both modes"];
}

/** Whether the answers for an item cannot all be of one state, nor of an edit between two of them. */
function isOfTwoStates({ dynamic, full, dynamicAgain }: ModeComparison): boolean {
  if (dynamic === undefined || full === undefined || dynamicAgain === undefined) return false;
  const isEditedSince = dynamic === full && dynamicAgain > full;
  return full !== dynamicAgain && !isEditedSince;
}

/** Whether the modes have other times for it, and each the same again. */
function isOfTwoTimes({ dynamic, full, dynamicAgain }: ModeComparison): boolean {
  return dynamic !== undefined && full !== undefined && dynamic === dynamicAgain && dynamic !== full;
}

/** Seconds since the item was edited, by the later time of both modes; 0 where they do not say. */
function ageOf({ dynamic = NO_TIME, full = NO_TIME, answeredAt }: ModeComparison): number {
  const later = Math.max(dynamic, full);
  return later < 0 ? 0 : answeredAt - later;
}
