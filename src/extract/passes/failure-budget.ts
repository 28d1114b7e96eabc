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

/** How many of `total` single-item requests may fail. `limits`: the setting `maxRejects`. */
export function singlesLimit(total: number, limits: RejectLimits | null): number {
  return rejectLimit(total, limits ?? { share: 0.01, items: 5 });
}

/** Rejected items and removed ones (404, 410) count apart, each against the limit. */
export class FailureBudget {
  readonly #total: number;
  /** Inclusive. */
  readonly #limit: number;
  #rejected = 0;
  #gone = 0;

  /** `total`: all items, whether they are requested or reused. `limits`: the setting `maxRejects`. */
  constructor(total: number, limits: RejectLimits | null) {
    this.#total = total;
    this.#limit = singlesLimit(total, limits);
  }

  /** Counts a failed request. Throws `failure` if the limit is exceeded. */
  addFailure(failure: unknown): void {
    this.#rejected += 1;
    if (this.#rejected > this.#limit) throw failure;
  }

  /** Counts a response that holds another item, or none. Throws `source.rejects` if the limit is exceeded. */
  addMismatch(): void {
    this.addFailure(
      this.#tooMany(this.#rejected + 1, "single-item requests were not answered with the item"),
    );
  }

  /** Counts a listed item that returned 404 or 410. Throws `source.rejects` if the limit is exceeded. */
  addGone(): void {
    this.#gone += 1;
    if (this.#gone > this.#limit)
      throw this.#tooMany(this.#gone, "listed items returned 404 or 410 when requested singly");
  }

  #tooMany(count: number, what: string): WarehouseError {
    const wayOut = "ask the service's operator, or set `maxRejects`";
    const sentence = `${count} of ${this.#total} ${what}, limit: ${this.#limit}; ${wayOut}.`;
    return new WarehouseError("source.rejects", sentence);
  }
}
