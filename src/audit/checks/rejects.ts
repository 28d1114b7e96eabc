/** How many listed documents may be no items that can be read, before nothing is published. */
import { WarehouseError } from "../../common/errors.ts";
import type { Extraction } from "../../extract/extract.ts";
import { type RejectLimits, rejectLimit } from "../../extract/reject-limits.ts";
import type { Check } from "./checks.ts";

/** Unless `maxRejects` says otherwise. */
const REJECT_LIMITS: RejectLimits = { share: 0.005, items: 20 };

export interface RejectCount {
  /** Listed documents. */
  readonly listed: number;
  /** Listed documents that are no items, the most that any pass listed, and items that could not be read, or not in both modes. */
  readonly rejected: number;
  readonly limit: number;
}

/** `limits`: null where nobody said otherwise. */
export function rejectCount(
  { items, rejected, unread, inPart }: Extraction,
  limits: RejectLimits | null,
): RejectCount {
  const listed = items + rejected;
  return {
    listed,
    rejected: rejected + unread.rejected + inPart.length,
    limit: rejectLimit(listed, limits ?? REJECT_LIMITS),
  };
}

const OTHER_TYPE_OF_ID = /^the item's id is a /;
const EXAMPLES = 2;

/**
 * Throws `source.rejects` where too many were rejected. Where the IDs themselves are of another type, or not one of all
 * that was listed can be read, what an item is has changed: `contract.drift`. `rejects`: of all passes.
 */
export function assertFewRejects(
  { listed, rejected, limit }: RejectCount,
  rejects: readonly { readonly mode: string; readonly reason: string }[],
): void {
  const none = rejected > 0 && rejected === listed;
  if (rejected <= limit && !none) return;
  const reasons = rejects.filter(({ mode }) => mode !== "item").map(({ reason }) => reason);
  const byType = reasons.filter((reason) => OTHER_TYPE_OF_ID.test(reason)).length;
  const drifted = none || byType > reasons.length / 2;
  throw new WarehouseError(
    drifted ? "contract.drift" : "source.rejects",
    `${rejected} of ${listed} listed items could not be read, limit: ${limit} ` +
      `(${[...new Set(reasons)].slice(0, EXAMPLES).join("; ")}); nothing was published. ` +
      `Ask the operator of the service what changed${drifted ? "" : ", or set `maxRejects`"}.`,
  );
}

export function rejectCheck({ listed, rejected, limit }: RejectCount): Check {
  return {
    name: "listed items that could not be read, or not in both modes",
    verdict: rejected === 0 ? "passed" : "warning",
    figure: rejected,
    expected: limit,
    detail: `of ${listed}; see run_rejects`,
  };
}
