/** Holds what the procedure gives for an item against what a run published. */
import { compareText } from "./definitions.ts";
import type { MappedValue } from "./mapped-value.ts";
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

const KEY = (row: MappedValue): string => JSON.stringify([row.destinationId, row.customFieldId, row.ordinal]);

/** Rows that differ or that one side alone has, in the order of the ledger. */
export function compareLedgers(
  published: readonly MappedValue[],
  computed: readonly MappedValue[],
): LedgerDifference[] {
  const there = new Map(published.map((row) => [KEY(row), row]));
  const here = new Map(computed.map((row) => [KEY(row), row]));
  const differences = [...new Set([...there.keys(), ...here.keys()])].flatMap((key) =>
    difference(there.get(key), here.get(key)),
  );
  return differences.sort(
    (a, b) =>
      compareText(a.destinationId, b.destinationId) ||
      compareText(a.customFieldId, b.customFieldId) ||
      a.ordinal - b.ordinal,
  );
}

function difference(
  published: MappedValue | undefined,
  computed: MappedValue | undefined,
): LedgerDifference[] {
  const row = published ?? computed;
  if (row === undefined) return [];
  const { destinationId, customFieldId, ordinal } = row;
  const at = { destinationId, customFieldId, ordinal, published, computed };
  if (published === undefined || computed === undefined) return [{ ...at, columns: [] }];
  const columns = COLUMNS.filter((column) => published[column] !== computed[column]);
  return columns.length === 0 ? [] : [{ ...at, columns }];
}

const COLUMNS: readonly (keyof MappedValue)[] = [
  "externalFieldName",
  "valueId",
  "value",
  "mappingId",
  "mappingValueId",
  "externalValue",
  "status",
  "valueArchived",
  "valueUnknown",
  "ambiguous",
  "matchedByText",
  "destinationUnsupported",
  "collision",
];

/** Members of payloads by destination ID. */
export type Payloads = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** IDs of the destinations whose payloads differ, or that one side alone has a payload for. */
export function comparePayloads(published: Payloads, { payloads }: MappedItem): string[] {
  const computed = new Map(payloads.map(({ destinationId, members }) => [destinationId, members]));
  return [...new Set([...published.keys(), ...computed.keys()])]
    .filter((id) => !sameMembers(published.get(id), computed.get(id)))
    .sort(compareText);
}

type Members = ReadonlyMap<string, readonly string[]>;

/** The order of keys is no content of a JSON object; that of values is. */
function sameMembers(a: Members = new Map(), b: Members = new Map()): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, values]) => JSON.stringify(values) === JSON.stringify(b.get(name)));
}
