/** Compares what the procedure gives for an item with what a run published. */
import { compareUtf8 } from "../../common/utf8-order.ts";
import {
  MAPPED_VALUE,
  type MappedValue,
  type Members,
  type Payloads,
  placeKey,
  type ValuePlace,
} from "./mapped-value.ts";

interface LedgerDifference extends ValuePlace {
  /** Columns of the row that differ; empty where one side has no such row. */
  readonly columns: readonly (keyof MappedValue)[];
  readonly published: MappedValue | undefined;
  readonly computed: MappedValue | undefined;
}

const COLUMNS = Object.keys(MAPPED_VALUE) as (keyof MappedValue)[];

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
