/** Holds what the procedure gives for an item against what a run published. */
import { compareUtf8 } from "../../common/utf8-order.ts";
import { type MappedValue, mappedValueRow, placeKey } from "./mapped-value.ts";
import type { MappedItem } from "./procedure.ts";

export interface LedgerDifference {
  readonly destinationId: string;
  readonly customFieldId: string;
  readonly ordinal: number;
  /** Columns of the row that differ; empty where one side has no such row. */
  readonly columns: readonly (keyof MappedValue)[];
  readonly published: MappedValue | undefined;
  readonly computed: MappedValue | undefined;
}

const COLUMNS = mappedValueRow.keyof().options;

/** Rows that differ or that one side alone has, in the order of the ledger. */
export function compareLedgers(
  published: readonly MappedValue[],
  computed: readonly MappedValue[],
): LedgerDifference[] {
  const there = new Map(published.map((row) => [placeKey(row), row]));
  const here = new Map(computed.map((row) => [placeKey(row), row]));
  return [...new Map([...there, ...here])]
    .flatMap(([key, { destinationId, customFieldId, ordinal }]): LedgerDifference[] => {
      const at = { destinationId, customFieldId, ordinal };
      const [before, now] = [there.get(key), here.get(key)];
      if (before === undefined || now === undefined)
        return [{ ...at, columns: [], published: before, computed: now }];
      const columns = COLUMNS.filter((column) => before[column] !== now[column]);
      return columns.length === 0 ? [] : [{ ...at, columns, published: before, computed: now }];
    })
    .sort(
      (a, b) =>
        compareUtf8(a.destinationId, b.destinationId) ||
        compareUtf8(a.customFieldId, b.customFieldId) ||
        a.ordinal - b.ordinal,
    );
}

type Members = ReadonlyMap<string, readonly string[]>;
/** Members of payloads by destination ID. */
export type Payloads = ReadonlyMap<string, Members>;

/** IDs of the destinations whose payloads differ, or that one side alone has a payload for. */
export function comparePayloads(published: Payloads, { payloads }: MappedItem): string[] {
  const computed = new Map(payloads.map(({ destinationId, members }) => [destinationId, members]));
  return [...new Set([...published.keys(), ...computed.keys()])]
    .filter((id) => !sameMembers(published.get(id), computed.get(id)))
    .sort(compareUtf8);
}

/** The order of keys is no content of a JSON object; that of values is. */
function sameMembers(a: Members = new Map(), b: Members = new Map()): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, values]) => JSON.stringify(values) === JSON.stringify(b.get(name)));
}
