/** Counts items that cannot be read singly, and ends the run when so many fail that the service itself is at fault. */
import { WarehouseError } from "../../common/errors.ts";

/** The larger of the two limits applies. */
export interface RejectLimits {
  /** Share of all items, from 0 to 1. */
  readonly share: number;
  readonly items: number;
}

/** How many of `total` items may be rejected. */
export function rejectLimit(total: number, { share, items }: RejectLimits): number {
  return Math.max(items, Math.floor(total * share));
}

const DEFAULT_LIMITS: RejectLimits = { share: 0.01, items: 5 };

/** How many of `total` single-item requests may fail. `limits`: the setting `maxRejects`. */
export function singlesLimit(total: number, limits: RejectLimits | null): number {
  return rejectLimit(total, limits ?? DEFAULT_LIMITS);
}

/** Single-item requests of a run that reuses documents of the run before. */
interface PartialRequests {
  readonly requested: number;
  /** Items that failed in the run before too. Their failures count only among all items. */
  readonly excused: ReadonlySet<string>;
  /** Whether documents of other items are reused. */
  readonly hasReused: boolean;
}

type Failure = "rejected" | "gone";

interface FailureCount extends Record<Failure, number> {
  readonly total: number;
  /** Inclusive. */
  readonly limit: number;
  readonly excused: ReadonlySet<string>;
}

export class FailureBudget {
  readonly #counts: readonly FailureCount[];

  /** `total`: all items, whether they are requested or reused. `limits`: the setting `maxRejects`. */
  constructor(total: number, limits: RejectLimits | null, partial?: PartialRequests) {
    const none = { rejected: 0, gone: 0 };
    const all = { total, limit: singlesLimit(total, limits), excused: new Set<string>(), ...none };
    if (partial === undefined) {
      this.#counts = [all];
      return;
    }
    const { requested, excused, hasReused } = partial;
    const limit = singlesLimit(requested, limits);
    // If only a few items are requested, a default limit of five would let nearly all of them fail.
    const isStricter = limits === null && hasReused;
    const half = isStricter ? Math.max(1, Math.floor(requested / 2)) : Number.POSITIVE_INFINITY;
    this.#counts = [{ total: requested, limit: Math.min(half, limit), excused, ...none }, all];
  }

  /** Counts a rejected item that was requested before the run was resumed. */
  add(id: string): void {
    this.#add(id, "rejected");
  }

  /** Counts a failed request. Throws `failure` if the limit is exceeded. */
  addFailure(id: string, failure: unknown): void {
    if (this.#add(id, "rejected") !== undefined) throw failure;
  }

  /** Counts a response that holds another item, or none. Throws `source.rejects` if the limit is exceeded. */
  addMismatch(id: string): void {
    const exceeded = this.#add(id, "rejected");
    if (exceeded === undefined) return;
    throw tooMany(exceeded, "rejected", "single-item requests were not answered with the item");
  }

  /** Counts a listed item that returned 404 or 410. Throws `source.rejects` if the limit is exceeded. */
  addGone(id: string): void {
    const exceeded = this.#add(id, "gone");
    if (exceeded === undefined) return;
    throw tooMany(exceeded, "gone", "listed items returned 404 or 410 when requested singly");
  }

  /** Returns the count whose limit is exceeded. */
  #add(id: string, failure: Failure): FailureCount | undefined {
    for (const count of this.#counts) if (!count.excused.has(id)) count[failure] += 1;
    return this.#counts.find((count) => count[failure] > count.limit);
  }
}

function tooMany({ total, limit, ...counts }: FailureCount, failure: Failure, what: string): WarehouseError {
  const wayOut = "ask the service's operator, or set `maxRejects`";
  return new WarehouseError(
    "source.rejects",
    `${counts[failure]} of ${total} ${what}, limit: ${limit}; ${wayOut}.`,
  );
}
