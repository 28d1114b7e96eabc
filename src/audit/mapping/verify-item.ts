/** Whether what a run published of an item is what the service's answers of now give, and if not, why. */
import { compareLedgers, type LedgerDifference } from "./compare.ts";
import type { Definitions } from "./definitions.ts";
import { type MappedValue, placeKey } from "./mapped-value.ts";
import { type Item, mapItem } from "./procedure.ts";

/**
 * - `agrees`: the ledger is the same.
 * - `changed`: it differs, and what the service has changed since the run explains every row that does.
 * - `gone`: the service has the item no longer.
 * - `differs`: some row differs and nothing explains it.
 */
export type ItemVerdict = "agrees" | "changed" | "gone" | "differs";

export interface ExplainedDifference extends LedgerDifference {
  /** Undefined: nothing explains it. */
  readonly cause: "item_changed" | "definition_changed" | undefined;
}

export interface VerifiedItem {
  readonly contentId: string;
  readonly verdict: ItemVerdict;
  readonly differences: readonly ExplainedDifference[];
}

export interface PublishedItem {
  readonly ledger: readonly MappedValue[];
  readonly definitions: Definitions;
  /** Whole seconds since 1970; null where the item has no time. */
  readonly updatedAt: number | null;
}

export interface LiveItem {
  /** Undefined: the service has it no longer. */
  readonly item: Item | undefined;
  readonly definitions: Definitions;
  readonly updatedAt: number | null;
}

const PLAIN = { passthrough: false } as const;

/**
 * A row that the published definitions, too, make of the item's present values was right, so that the definitions have
 * changed. Any other row is explained only where the item says that it has changed.
 */
export function verifyItem(contentId: string, published: PublishedItem, live: LiveItem): VerifiedItem {
  if (live.item === undefined) return { contentId, verdict: "gone", differences: [] };
  const now = mapItem(live.item, live.definitions, PLAIN).ledger;
  const found = compareLedgers(published.ledger, now).filter(matters);
  if (found.length === 0) return { contentId, verdict: "agrees", differences: [] };
  const byOldRules = mapItem(live.item, published.definitions, PLAIN).ledger;
  const unexplained = new Set(compareLedgers(published.ledger, byOldRules).filter(matters).map(placeKey));
  const moved = published.updatedAt !== live.updatedAt;
  const differences = found.map((difference): ExplainedDifference => {
    if (!unexplained.has(placeKey(difference))) return { ...difference, cause: "definition_changed" };
    return { ...difference, cause: moved ? "item_changed" : undefined };
  });
  const isExplained = differences.every(({ cause }) => cause !== undefined);
  return { contentId, verdict: isExplained ? "changed" : "differs", differences };
}

/** The text of a value that the field does not offer may come from a view that is not asked again. */
function matters({ columns, published }: LedgerDifference): boolean {
  return !(columns.length === 1 && columns[0] === "value" && published?.valueUnknown === true);
}
