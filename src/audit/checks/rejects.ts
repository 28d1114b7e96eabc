/** How many listed documents may be no items that can be read, before nothing is published. */
import { WarehouseError } from "../../common/errors.ts";
import { type RejectLimits, rejectLimit } from "../../extract/reject-limits.ts";
import type { Check } from "./checks.ts";

/** Unless `maxRejects` says otherwise. */
export const REJECT_LIMITS: RejectLimits = { share: 0.005, items: 20 };

/** A rejected document, as far as its number counts. */
export interface Rejected {
  readonly mode: string;
  readonly reason: string;
}

export interface RejectCount {
  /** Items that were listed and can be read, by their IDs. */
  readonly items: number;
  /** Listed documents that are no items, the most that any pass listed, and items that could not be read, or not in both modes. */
  readonly rejected: number;
  /** Of all passes. */
  readonly rejects: readonly Rejected[];
  readonly limits: RejectLimits;
}

function limitOf({ items, rejected, limits }: RejectCount): number {
  return rejectLimit(items + rejected, limits);
}

const OTHER_TYPE_OF_ID = /^the item's id is a /;
const EXAMPLES = 2;

/**
 * Throws `source.rejects` where too many were rejected. Where the IDs themselves are of another type, or not one of all
 * that was listed can be read, what an item is has changed: `contract.drift`.
 */
export function assertFewRejects(count: RejectCount): void {
  const { items, rejected, rejects } = count;
  const none = items === 0 && rejected > 0;
  if (rejected <= limitOf(count) && !none) return;
  const listed = rejects.filter(({ mode }) => mode !== "item").map(({ reason }) => reason);
  const byType = listed.filter((reason) => OTHER_TYPE_OF_ID.test(reason)).length;
  const drifted = none || byType > listed.length / 2;
  throw new WarehouseError(
    drifted ? "contract.drift" : "source.rejects",
    `${rejected} of ${items + rejected} listed items could not be read, limit: ${limitOf(count)} ` +
      `(${[...new Set(listed)].slice(0, EXAMPLES).join("; ")}); nothing was published. ` +
      `Ask the operator of the service what changed${drifted ? "" : ", or set `maxRejects`"}.`,
  );
}

export function rejectCheck(count: RejectCount): Check {
  const { items, rejected } = count;
  return {
    name: "listed items that could not be read, or not in both modes",
    verdict: rejected === 0 ? "passed" : "warning",
    figure: rejected,
    expected: limitOf(count),
    detail: `of ${items + rejected}; see run_rejects`,
  };
}
