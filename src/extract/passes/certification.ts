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
import { Evidence, type PassEvidence } from "./verdict.ts";

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

/** `updated_at` of an item in three responses, as `secondsOf`; `undefined` if the response could not be read. */
export interface ModeComparison {
  readonly dynamic: number | undefined;
  readonly full: number | undefined;
  readonly dynamicAgain: number | undefined;
  /** `Date` of the last response, in seconds since 1970. */
  readonly answeredAt: number;
  /** Whether some response is fresh, see `isFresh`. */
  readonly fresh: boolean;
}

/** Whether the responses are of two states, and no edit between two of them explains it. */
function isOfTwoStates({ dynamic, full, dynamicAgain }: ModeComparison): boolean {
  if (dynamic === undefined || full === undefined || dynamicAgain === undefined) return false;
  const isEditedSince = dynamic === full && dynamicAgain > full;
  return full !== dynamicAgain && !isEditedSince;
}

/** Seconds since the last edit, by the later time of both modes; 0 if neither gives one. */
function ageOf({ dynamic = -1, full = -1, answeredAt }: ModeComparison): number {
  const later = Math.max(dynamic, full);
  return later < 0 ? 0 : answeredAt - later;
}

/** Decides what a run requests next and when it is complete. It makes no request itself. */
export class Certification<Pass extends PassEvidence> {
  readonly #versions: ItemVersions;
  readonly #evidence: Evidence<Pass>;
  readonly #minRepairLimit: number;
  /** Number of passes when items were last compared, or repaired. */
  #comparedAfter = 0;
  #repairedAfter = 0;
  #waitMs = 0;
  /** How many of {@link LAG_WAITS_MS} are over. */
  #lagWaits = 0;
  /** Whether responses were still of two states after all waits. */
  #isLagging = false;

  /** `listings`: shapes whose documents the run reads, in the order of the first passes. */
  constructor(
    itemIndex: ItemIndex,
    versions: ItemVersions,
    listings: readonly Shape[] = ["dynamic", "full"],
    repairLimit = MIN_REPAIR_LIMIT,
  ) {
    this.#versions = versions;
    this.#evidence = new Evidence(itemIndex, versions, listings);
    this.#minRepairLimit = repairLimit;
  }

  get passes(): readonly Pass[] {
    return this.#evidence.passes;
  }

  /** Whether the modes mean different times and the documents that count show it. */
  get modesDiffer(): boolean {
    const { modesDiffer, listings } = this.#evidence;
    const last = this.passes.at(-1);
    if (!modesDiffer || last === undefined) return false;
    return listings.length === 1 || this.#evidence.ofTwoTimes(last).length > 0;
  }

  /** Reports a pass. If its documents landed, {@link ItemVersions} must know already. */
  passed(pass: Pass): void {
    this.#evidence.passes.push(pass);
    this.#waitMs = pass.fresh.length > 0 ? FRESH_MS : 0;
  }

  /** Reports that the time of a `wait` step is over. */
  waited(): void {
    this.#waitMs = 0;
  }

  /** Reports the responses to a `compare` step. */
  compared(comparisons: readonly ModeComparison[]): void {
    this.#comparedAfter = this.passes.length;
    this.#waitMs = comparisons.some(({ fresh }) => fresh) ? FRESH_MS : 0;
    const ofTwoStates = comparisons.filter(isOfTwoStates);
    // The modes give different times, and dynamic the same one twice.
    this.#evidence.modesDiffer = ofTwoStates.some(
      (each) => each.dynamic === each.dynamicAgain && ageOf(each) > MAX_LAG_SECONDS,
    );
    if (this.#evidence.modesDiffer || ofTwoStates.length === 0) return;
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
    this.#repairedAfter = this.passes.length;
    this.#waitMs = fresh ? FRESH_MS : 0;
  }

  next(): CertificationStep {
    const step = this.#step();
    return this.#waitMs > 0 && step.kind !== "end" ? { kind: "wait", milliseconds: this.#waitMs } : step;
  }

  #step(): CertificationStep {
    const last = this.passes.at(-1);
    const first = this.#evidence.listings[this.passes.length];
    if (first !== undefined) return { kind: "pass", mode: first, documents: true };
    if (last === undefined) throw new RangeError("a run reads at least one listing");
    if (this.passes.length === 1) return { kind: "pass", mode: "basic", documents: false };
    const reasons = this.#evidence.reasons(last);
    if (reasons.length === 0) return { kind: "end", disagreements: [] };
    if (this.#isLagging)
      return { kind: "end", disagreements: [...this.#evidence.laggingReasons(last), ...reasons] };
    return this.#compare(last) ?? this.#repair(last) ?? this.#pass(last, reasons);
  }

  #compare(last: Pass): CertificationStep | undefined {
    const passes = this.passes.length;
    const { modesDiffer } = this.#evidence;
    if (modesDiffer || this.#comparedAfter === passes || passes === MAX_PASSES) return undefined;
    const numbers = this.#versions.oldest(this.#evidence.ofTwoTimes(last), last, MAX_COMPARED);
    return numbers.length === 0 ? undefined : { kind: "compare", ids: this.#evidence.ids(numbers) };
  }

  #repair(last: Pass): CertificationStep | undefined {
    if (this.#repairedAfter === this.passes.length) return undefined;
    const stale = this.#evidence.stale(last);
    if (stale.length === 0 || stale.length > this.#repairLimit(last)) return undefined;
    return { kind: "repair", ids: this.#evidence.ids(stale) };
  }

  #pass(last: Pass, disagreements: readonly string[]): CertificationStep {
    if (this.passes.length === MAX_PASSES) return { kind: "end", disagreements };
    const limit = this.#repairLimit(last);
    for (const shape of this.#evidence.shapes(last)) {
      const stale = this.#versions.differing(shape, last);
      const refused = stale.some((number) => this.#versions.wasRejected(number));
      if (stale.length > limit || refused) return { kind: "pass", mode: shape, documents: true };
    }
    const mode = this.#evidence.needsDynamic(last) ? "dynamic" : "basic";
    return { kind: "pass", mode, documents: false };
  }

  #repairLimit({ pages }: Pass): number {
    return Math.max(this.#minRepairLimit, pages);
  }
}
