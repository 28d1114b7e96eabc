/**
 * Counts mapped values by destination and status, and finds which destinations receive values. The summary, the
 * report, `runs` and metrics take their figures from here.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { count } from "../../common/figures.ts";
import { all } from "../../storage/duckdb.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { type Manifest, RECEPTIONS, type Reception } from "../../warehouse/manifest.ts";
import { VALUE_KIND, WITHOUT_EXTERNAL_VALUE } from "../mapped-value.ts";
import { createTempTable, loadSql } from "../queries.ts";

/** Kinds of values that can be limited. A value is a row of `content_mapped_values`. */
export const LIMIT_KINDS = [...WITHOUT_EXTERNAL_VALUE, "ambiguous", "collision"] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

export const LIMIT_TEXTS: Readonly<Record<LimitKind, string>> = {
  unmapped: "unmapped values",
  unknown_value: "unknown values",
  empty: "empty values",
  ambiguous: "ambiguous values",
  collision: "values sent under a name shared by several fields",
};

const required = { required: true } as const;
const some = col.count(required);

export const RECEPTION = col.text({ ...required, of: RECEPTIONS });
const OF_DESTINATION = {
  destination_id: col.text(required),
  destination: col.text(),
  reception: RECEPTION,
  mapped: some,
  unmapped: some,
  unknown_value: some,
  empty: some,
  ambiguous: some,
  collision: some,
} as const;

/** Counts of values at one destination. */
export type DestinationCounts = AnswerRow<typeof OF_DESTINATION>;
type ValueCounts = Pick<DestinationCounts, "mapped" | LimitKind>;

const PER_DESTINATION = `
  SELECT destination_id, destination, reception,
    mapped, unmapped, unknown_value, empty, ambiguous, collision
  FROM (
    SELECT destination_id,
      count(*) FILTER (WHERE kind = 'mapped') AS mapped,
      count(*) FILTER (WHERE kind = 'unmapped') AS unmapped,
      count(*) FILTER (WHERE kind = 'unknown_value') AS unknown_value,
      count(*) FILTER (WHERE kind = 'empty') AS empty,
      count(*) FILTER (WHERE ambiguous) AS ambiguous,
      count(*) FILTER (WHERE collision) AS collision
    FROM (SELECT *, ${VALUE_KIND} AS kind FROM content_mapped_values)
    GROUP BY destination_id
  )
  JOIN audit_receptions USING (destination_id)
  ORDER BY reception <> 'receiving', destination NULLS LAST, destination_id`;

/** Counts the values of each destination. */
export async function readDestinationCounts(connection: DuckDBConnection): Promise<DestinationCounts[]> {
  await prepareReceptions(connection);
  return readRows(connection, OF_DESTINATION, PER_DESTINATION);
}

/** Creates the table `audit_receptions`: whether each destination receives values. */
export async function prepareReceptions(connection: DuckDBConnection): Promise<void> {
  await createTempTable(connection, "audit_receptions", loadSql("audit_receptions"));
}

/** Whether the run sends values of fields without value mappings as they are. */
export async function readPassthrough(connection: DuckDBConnection): Promise<boolean> {
  const [run] = await all(connection, "FROM run");
  return run?.passthrough === true;
}

export function sumCounts(counts: readonly ValueCounts[]): ValueCounts {
  const sum = (kind: keyof ValueCounts) => counts.reduce((total, each) => total + each[kind], 0);
  return {
    mapped: sum("mapped"),
    unmapped: sum("unmapped"),
    unknown_value: sum("unknown_value"),
    empty: sum("empty"),
    ambiguous: sum("ambiguous"),
    collision: sum("collision"),
  };
}

/** Destinations that receive values: coverage and limits count only these. */
export function receivingDestinations<D extends Pick<DestinationCounts, "reception">>(
  destinations: readonly D[],
): D[] {
  return destinations.filter(({ reception }) => reception === "receiving");
}

/** Counts of mapped values as the manifest has them. */
export type MappedCounts = NonNullable<Manifest["mappedValues"]>;

export function mappedCounts(destinations: readonly DestinationCounts[]): MappedCounts {
  const { mapped, unmapped, unknown_value: unknown, empty } = sumCounts(destinations);
  const stated = destinations.map((each) => ({
    id: each.destination_id,
    name: each.destination,
    reception: each.reception,
    mapped: each.mapped,
    unmapped: each.unmapped,
    unknown: each.unknown_value,
    empty: each.empty,
  }));
  return { mapped, unmapped, unknown, empty, destinations: stated };
}

type MissingCounts = Pick<MappedCounts, "unmapped" | "unknown" | "empty">;

/** Missing values. */
export function countWithoutValue({ unmapped, unknown, empty }: MissingCounts): number {
  return unmapped + unknown + empty;
}

/** Missing values of a row of an answer. */
export function missingIn(row: Pick<ValueCounts, (typeof WITHOUT_EXTERNAL_VALUE)[number]>): number {
  return WITHOUT_EXTERNAL_VALUE.reduce((sum, kind) => sum + row[kind], 0);
}

/** SQL condition on rows of `content_mapped_values`. */
export function limitCondition(kind: LimitKind): string {
  return WITHOUT_EXTERNAL_VALUE.some((each) => each === kind) ? `${VALUE_KIND} = '${kind}'` : kind;
}

/** Numbers of values at destinations that receive values. */
export function sumReceivers({ destinations }: MappedCounts) {
  const receivers = receivingDestinations(destinations);
  const sum = (kind: "mapped" | keyof MissingCounts) =>
    receivers.reduce((total, each) => total + each[kind], 0);
  return { mapped: sum("mapped"), unmapped: sum("unmapped"), unknown: sum("unknown"), empty: sum("empty") };
}

/** Missing values at destinations that receive values. */
export function countWithoutAtReceivers(counts: MappedCounts): number {
  return countWithoutValue(sumReceivers(counts));
}

export const RECEPTION_TEXT: Readonly<Record<Reception, string>> = {
  receiving: "receives values",
  ignored: "ignored",
  unsupported: "supports no mappings",
};

/** `5,225 mapped, 450 missing (442 unmapped, 8 unknown)`, at destinations that receive values. */
export function valuesText(counts: MappedCounts): string {
  const received = sumReceivers(counts);
  const missing = countWithoutValue(received);
  return `${count(received.mapped)} mapped, ${count(missing)} missing${missing === 0 ? "" : ` (${kindsText(received)})`}`;
}

export function kindsText({ unmapped, unknown, empty }: MissingCounts) {
  const last = empty === 0 ? "" : `, ${count(empty)} empty`;
  return `${count(unmapped)} unmapped, ${count(unknown)} unknown${last}`;
}
