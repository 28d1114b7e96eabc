/** ID ranges, by which large tables are loaded and checked. */
import { WarehouseError } from "../common/errors.ts";
import { compareUtf8 } from "../common/utf8-order.ts";
import type { Table } from "../tables/declare.ts";
import { quoteIdentifier } from "./sql-text.ts";

/** First key column of the tables that are loaded by ID ranges. */
const CONTENT_ID = "content_id";

/** Bounds between ID ranges, ascending by UTF-8 bytes. */
export type RangeBounds = readonly string[];

/** A range of keys in a text column. */
export interface IdRange {
  /** Inclusive; `undefined`: no lower bound. */
  readonly lower: string | undefined;
  /** Exclusive; `undefined`: no upper bound. */
  readonly upper: string | undefined;
}

/** Bounds for a table: those of the items if the table is keyed by item, else none. */
export function boundsFor(table: Table, itemBounds: RangeBounds): RangeBounds {
  return table.key[0] === CONTENT_ID ? itemBounds : [];
}

/** One range from each bound to the next: `["a", "m"]` gives everything below m, then m and above. */
export function rangesOf(bounds: RangeBounds): IdRange[] {
  for (const [index, bound] of bounds.entries()) {
    const before = bounds[index - 1];
    if (before === undefined || compareUtf8(before, bound) < 0) continue;
    throw new WarehouseError("internal", "The bounds of the ID ranges do not ascend.");
  }
  if (bounds.length === 0) return [{ lower: undefined, upper: undefined }];
  return bounds.map((bound, index) => ({ lower: index === 0 ? undefined : bound, upper: bounds[index + 1] }));
}

/** Conditions on `column` for a range, with the values of their `$1`, `$2`. */
export function rangeConditions(
  table: Table,
  range: IdRange,
  column = table.key[0] ?? "",
): { conditions: string[]; params: string[] } {
  const conditions: string[] = [];
  const params: string[] = [];
  if (range.lower !== undefined)
    conditions.push(`${quoteIdentifier(column)} >= $${params.push(range.lower)}`);
  if (range.upper !== undefined) conditions.push(`${quoteIdentifier(column)} < $${params.push(range.upper)}`);
  return { conditions, params };
}

/** ` WHERE a AND b`; empty without conditions. */
export function whereClause(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
}
