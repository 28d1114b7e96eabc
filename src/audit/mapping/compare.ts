/** Compares what the procedure gives for an item with what a run published, and says what explains a difference. */
import { compareUtf8 } from "../../common/utf8-order.ts";
import type { Definitions } from "./definitions.ts";
import {
  type MappedValue,
  type Members,
  mappedValueRow,
  type Payloads,
  placeKey,
  type ValuePlace,
} from "./mapped-value.ts";
import { type Item, mapItem } from "./procedure.ts";

interface LedgerDifference extends ValuePlace {
  /** Columns of the row that differ; empty where one side has no such row. */
  readonly columns: readonly (keyof MappedValue)[];
  readonly published: MappedValue | undefined;
  readonly computed: MappedValue | undefined;
}

const COLUMNS = mappedValueRow.keyof().options;

/** Rows that differ or that one side alone has, in the order of the ledger. */
export function compareLedgers(
  publishedRows: readonly MappedValue[],
  computedRows: readonly MappedValue[],
): LedgerDifference[] {
  const there = new Map(publishedRows.map((row) => [placeKey(row), row]));
  const here = new Map(computedRows.map((row) => [placeKey(row), row]));
  return [...new Map([...there, ...here])]
    .flatMap(([key, { destinationId, customFieldId, ordinal }]): LedgerDifference[] => {
      const at = { destinationId, customFieldId, ordinal };
      const [published, computed] = [there.get(key), here.get(key)];
      if (published === undefined || computed === undefined) {
        return [{ ...at, columns: [], published, computed }];
      }
      const columns = COLUMNS.filter((column) => published[column] !== computed[column]);
      return columns.length === 0 ? [] : [{ ...at, columns, published, computed }];
    })
    .sort(
      (a, b) =>
        compareUtf8(a.destinationId, b.destinationId) ||
        compareUtf8(a.customFieldId, b.customFieldId) ||
        a.ordinal - b.ordinal,
    );
}

/** IDs of the destinations whose payloads differ, or that one side alone has a payload for. */
export function comparePayloads(published: Payloads, computed: Payloads): string[] {
  return [...new Set([...published.keys(), ...computed.keys()])]
    .filter((id) => !sameMembers(published.get(id), computed.get(id)))
    .sort(compareUtf8);
}

/** The order of a JSON object's keys does not matter; that of its values does. */
function sameMembers(a: Members = new Map(), b: Members = new Map()): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, values]) => JSON.stringify(values) === JSON.stringify(b.get(name)));
}

export interface ExplainedDifference extends LedgerDifference {
  /** Undefined: nothing explains it. */
  readonly cause: "item_changed" | "definition_changed" | undefined;
}

export interface VerifiedItem {
  readonly contentId: string;
  /**
   * - `agrees`: the ledger is the same.
   * - `changed`: it differs, and what the service has changed since the run explains every row that does.
   * - `gone`: the service has the item no longer.
   * - `differs`: some row differs and nothing explains it.
   */
  readonly verdict: "agrees" | "changed" | "gone" | "differs";
  readonly differences: readonly ExplainedDifference[];
}

interface ItemState {
  readonly definitions: Definitions;
  /** Whole seconds since 1970; null where the item has no time. */
  readonly updatedAt: number | null;
}

const PLAIN = { passthrough: false } as const;

/**
 * A row that the published definitions, too, make of the item's present values was right, so that the definitions have
 * changed. Any other row is explained only where the item says that it has changed.
 */
export function verifyItem(
  contentId: string,
  published: ItemState & { readonly ledger: readonly MappedValue[] },
  /** `item` undefined: the service has it no longer. */
  live: ItemState & { readonly item: Item | undefined },
): VerifiedItem {
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
