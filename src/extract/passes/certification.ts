/**
 * Decides when a run is complete, and what it reads next.
 *
 * One pass over a list that changes cannot know what it missed, whatever its count says: an edited item can jump from a
 * page that is still to come to a page that was read. Two consecutive clean passes that list the same items with the same
 * times cannot both have missed it: what they list is what there was in between. In a resumed run, all of the last pass
 * must have been read after the run was resumed.
 *
 * The two modes may mean different times by `updated_at`. The run requests a few items to find out, and never guesses it
 * from how many items differ. Only items that nobody edited for a week are evidence: a younger item may have been read
 * from two states, one of them of a replica that lags. If the replica may catch up soon, the run waits for it. If the
 * modes do mean different times, dynamic passes certify the dynamic documents, full and basic passes certify the full
 * ones, and the times between the two passes of each kind must overlap. Whether the documents of an item then
 * contradict each other is found when they are transformed, and makes the run unsettled.
 */
import type { Shape } from "../../raw/document.ts";
import type { ItemIndex } from "../../raw/item-index.ts";
import type { ListMode } from "../http/request.ts";
import { FRESH_MS } from "../pages/updated-at.ts";
import type { ItemVersions } from "./item-versions.ts";
import { ageOf, isOfTwoStates, isOfTwoTimes, type ModeComparison } from "./mode-comparison.ts";
import {
  countOfItems,
  disagreements,
  itemsReason,
  listingDifferences,
  type PassEvidence,
  passName,
} from "./verdict.ts";

/** What the run does next. The caller does it, reports it and asks again. */
export type CertificationStep =
  /** Make a pass. Its documents land if `documents`; else only IDs and times are read. */
  | { readonly kind: "pass"; readonly mode: ListMode; readonly documents: boolean }
  /** Request each item in dynamic mode, in full mode and in dynamic mode again. The documents land. */
  | { readonly kind: "compare"; readonly ids: readonly string[] }
  /** Request each item in both shapes. The documents land. */
  | { readonly kind: "repair"; readonly ids: readonly string[] }
  /** Wait until the second is over in which items were both edited and read, or for a replica that lags. */
  | { readonly kind: "wait"; readonly milliseconds: number }
  /** `disagreements`: why the run is unsettled; empty: it is complete. */
  | { readonly kind: "end"; readonly disagreements: readonly string[] };

const MAX_PASSES = 6;
/**
 * This many stale items are requested singly, or as many as the last pass has pages, whichever is more. For more items a
 * listing is read anew, which costs fewer requests.
 */
const MIN_REPAIR_LIMIT = 200;
/** Items that are compared: those that were edited the longest ago. */
const MAX_COMPARED = 5;
/** 7 days: a replica is not assumed to lag by more. There is nearly always an item that is older. */
const MAX_LAG_SECONDS = 7 * 24 * 3600;
/** 1 hour: a replica that lags by more does not catch up while a run waits. */
const MAX_AWAITED_LAG_SECONDS = 3600;
/** How long to wait for a replica before items are compared again; five minutes in all. */
const LAG_WAITS_MS: readonly number[] = [10_000, 20_000, 40_000, 80_000, 150_000];

/** Shape whose times a pass gives: `basic` gives those of `full`. */
function shapeOf({ mode }: PassEvidence): Shape {
  return mode === "dynamic" ? "dynamic" : "full";
}

/** Decides what a run requests next and when it is complete. It makes no request itself. */
export class Certification<Pass extends PassEvidence> {
  readonly #itemIndex: ItemIndex;
  readonly #versions: ItemVersions;
  /** Shapes whose documents the run reads, in the order of the first passes. */
  readonly #listings: readonly Shape[];
  readonly #minRepairLimit: number;
  readonly #passes: Pass[] = [];
  /** Whether documents of the same version have different times in the two modes. */
  #modesDiffer = false;
  /** Number of passes when items were last compared, or repaired. */
  #comparedAfter = 0;
  #repairedAfter = 0;
  #waitMs = 0;
  /** How many of {@link LAG_WAITS_MS} are over. */
  #lagWaits = 0;
  /** Whether responses were still of two states after all waits. */
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
    this.#minRepairLimit = repairLimit;
  }

  get passes(): readonly Pass[] {
    return this.#passes;
  }

  /** Whether the modes mean different times and the documents that count show it. */
  get modesDiffer(): boolean {
    const last = this.#passes.at(-1);
    if (!this.#modesDiffer || last === undefined) return false;
    return this.#listings.length === 1 || this.#ofTwoTimes(last).length > 0;
  }

  /** Reports a pass. If its documents landed, {@link ItemVersions} must know already. */
  passed(pass: Pass): void {
    this.#passes.push(pass);
    this.#waitMs = pass.fresh.length > 0 ? FRESH_MS : 0;
  }

  /** Reports that the time of a `wait` step is over. */
  waited(): void {
    this.#waitMs = 0;
  }

  /** Reports the responses to a `compare` step. */
  compared(comparisons: readonly ModeComparison[]): void {
    this.#comparedAfter = this.#passes.length;
    this.#waitMs = comparisons.some(({ fresh }) => fresh) ? FRESH_MS : 0;
    const ofTwoStates = comparisons.filter(isOfTwoStates);
    this.#modesDiffer = ofTwoStates.some((each) => isOfTwoTimes(each) && ageOf(each) > MAX_LAG_SECONDS);
    if (this.#modesDiffer || ofTwoStates.length === 0) return;
    const isAwaited = ofTwoStates.some((each) => ageOf(each) < MAX_AWAITED_LAG_SECONDS);
    const wait = isAwaited ? LAG_WAITS_MS[this.#lagWaits] : undefined;
    this.#isLagging = wait === undefined;
    if (wait === undefined) return;
    this.#lagWaits += 1;
    this.#comparedAfter = 0;
    this.#waitMs = wait;
  }

  /** Reports the responses to a `repair` step. */
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
    const numbers = this.#versions.oldest(this.#ofTwoTimes(last), last, MAX_COMPARED);
    return numbers.length === 0 ? undefined : { kind: "compare", ids: this.#ids(numbers) };
  }

  /** Items whose two documents have different times. */
  #ofTwoTimes(last: Pass): number[] {
    if (this.#listings.length === 2) return this.#versions.ofTwoTimes(last);
    return this.#listings.flatMap((shape) =>
      shape === shapeOf(last) ? [] : this.#versions.differing(shape, last),
    );
  }

  #repair(last: Pass): CertificationStep | undefined {
    if (this.#repairedAfter === this.#passes.length) return undefined;
    const stale = this.#stale(last);
    if (stale.length === 0 || stale.length > this.#repairLimit(last)) return undefined;
    return { kind: "repair", ids: this.#ids(stale) };
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
    return Math.max(this.#minRepairLimit, pages);
  }

  /** Shapes whose documents can be compared with the times of the pass. */
  #shapes(pass: Pass): readonly Shape[] {
    return this.#modesDiffer ? this.#listings.filter((shape) => shape === shapeOf(pass)) : this.#listings;
  }

  /** Items to request again after the last pass. */
  #stale(last: Pass): number[] {
    const differing = this.#shapes(last).flatMap((shape) => this.#versions.differing(shape, last));
    return [...new Set([...differing, ...Object.values(this.#unlisted()).flat()])];
  }

  /** Items that the last pass did not list and that make it doubtful. */
  #unlisted(): ReturnType<ItemVersions["unlisted"]> {
    const unlisted = this.#versions.unlisted(this.#passes);
    if (this.#listings.length === 1) return { ...unlisted, ofTwoTimes: [], inPart: [] };
    return this.#modesDiffer ? { ...unlisted, ofTwoTimes: [] } : unlisted;
  }

  #reasons(last: Pass): string[] {
    const { unaccounted, ofTwoTimes, inPart } = this.#unlisted();
    const goneSince = this.#versions.gone(this.#passes).filter((number) => last.snapshot.has(number));
    return [
      ...(this.#modesDiffer ? this.#reasonsOfEitherMode() : this.#reasonsOfBothModes(last)),
      ...this.#itemsReason(
        unaccounted,
        (n) => `earlier passes listed ${countOfItems(n)} that the last one did not`,
      ),
      ...this.#itemsReason(inPart, (n) => `${countOfItems(n)} in only one mode`),
      ...this.#itemsReason(
        ofTwoTimes,
        (n) => `${countOfItems(n)} that the last pass did not list, read at two times`,
      ),
      ...this.#itemsReason(
        goneSince,
        (n) => `${countOfItems(n)} of the last pass returned 404 or 410 when requested singly`,
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

  /** The last two passes that give the times of a shape certify its documents. */
  #reasonsOfEitherMode(): string[] {
    const pairs: PassPair<Pass>[] = [];
    for (const shape of this.#listings) {
      const [last, before] = this.#passes.filter((pass) => shapeOf(pass) === shape).toReversed();
      if (last === undefined || before === undefined)
        return [`updated_at differs between the modes, and only one pass read ${shape}`];
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
    return this.#itemsReason(this.#ofTwoTimes(last), (n) => {
      const have = n === 1 ? "1 item has" : `${n} items have`;
      return `${have} another updated_at in dynamic than in full answers, as if some came from an older state of the service`;
    });
  }

  #loadedReasons(pass: Pass, shapes: readonly Shape[]): string[] {
    const differing = new Set(shapes.flatMap((shape) => this.#versions.differing(shape, pass)));
    return this.#itemsReason([...differing], (n) => {
      return `${n === 1 ? "1 loaded item differs" : `${n} loaded items differ`} from ${passName(pass)}`;
    });
  }

  #itemsReason(numbers: readonly number[], say: (count: number) => string): string[] {
    return itemsReason(this.#ids(numbers), say);
  }

  #ids(numbers: readonly number[]): string[] {
    return numbers.map((number) => this.#itemIndex.idOf(number));
  }
}

/** Two passes that give the times of one shape, the earlier one first. */
type PassPair<Pass> = readonly [Pass, Pass];

/** Pages that were read before the run was resumed say nothing about the list of now. */
function resumedReasons({ mode, resumedPages }: PassEvidence): string[] {
  return resumedPages === 0 ? [] : [`the ${mode} pass began before the run was resumed`];
}

/** The documents of a kind are what there was between its two passes. Both kinds need a moment in common. */
function momentReasons(dynamic: PassPair<PassEvidence>, full: PassPair<PassEvidence>): string[] {
  const since = Math.max(dynamic[0].pass, full[0].pass);
  const until = Math.min(dynamic[1].pass, full[1].pass);
  return since < until ? [] : ["the last two passes of both modes do not share a moment"];
}
