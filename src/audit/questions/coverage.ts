/** Answers `audit`: how many values the mappings of a run cover. Counts range by range of items. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col, type Section, section } from "../../common/answer.ts";
import { noAnswer } from "../../common/errors.ts";
import { nearestSentence } from "../../common/nearest.ts";
import { MAPPED_VALUES_PER_RANGE, prepareMappings, rangeParams } from "../../load/mapped-values.ts";
import { all } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { fillMarks } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import { MAPPING_STATUSES, type MappingStatus, VALUE_KINDS } from "../mapped-value.ts";
import { FIELD, RECEIVER, VALUE } from "../mapping/columns.ts";
import {
  type DestinationCounts,
  missingIn,
  prepareReceptions,
  RECEPTION_TEXT,
  readPassthrough,
  sumCounts,
} from "../mapping/value-counts.ts";
import { createTempTable, fillTempTable, itemBounds, loadSql } from "../queries.ts";
import { type AuditScope, isAmong, scopeCondition } from "../scope.ts";

export interface CoverageFilter extends AuditScope {
  readonly status?: MappingStatus | undefined;
  /** Value ID, text of the value, or external value. */
  readonly value?: string | undefined;
}

const some = { required: true } as const;

const COVERAGE = {
  ...RECEIVER,
  ...FIELD,
  field_type: col.text(),
  external_field_name: col.text({ head: "external name" }),
  values: col.count(some),
  mapped: col.count(some),
  unmapped: col.count(some),
  unknown_value: col.count({ ...some, head: "unknown" }),
  empty: col.count(some),
  no_value_mapping: col.count(some),
  archived: col.count(some),
  ambiguous: col.count(some),
  matched_by_text: col.count(some),
  collision: col.count(some),
  entries: col.count(some),
  entries_unused: col.count({ ...some, head: "unused" }),
} as const;

const DESTINATIONS_COVERED = {
  ...RECEIVER,
  why: col.text(some),
  mapped: col.count(some),
  without_external_value: col.count({ ...some, head: "missing" }),
  unmapped: col.count(some),
  unknown_value: col.count({ ...some, head: "unknown" }),
  empty: col.count(some),
  ambiguous: col.count(some),
  collision: col.count(some),
} as const;

const VALUES = {
  ...RECEIVER,
  ...FIELD,
  external_field_name: col.text(),
  value_id: col.text(),
  ...VALUE,
  status: col.text({ ...some, of: MAPPING_STATUSES }),
  kind: col.text({ ...some, of: VALUE_KINDS, head: "status" }),
  external_value: col.text(),
  archived: col.flag(some),
  items: col.count(some),
  uses: col.count(some),
  ambiguous: col.count(some),
  matched_by_text: col.count(some),
  collision: col.count(some),
} as const;

type DefinitionTable = Pick<Section, "title" | "columns" | "shows" | "isGrouped">;

/** Sections about definitions, each read by the SQL file of its name. */
const DEFINITIONS: Readonly<Record<string, DefinitionTable>> = {
  unused_entries: {
    title: "Mapping entries that no item uses",
    shows: ["destination", "custom_field", "value", "external_value", "reason"],
    isGrouped: true,
    columns: {
      ...RECEIVER,
      ...FIELD,
      external_field_name: col.text(),
      mapping_id: col.text(),
      mapping_value_id: col.text(),
      value_id: col.text(),
      ...VALUE,
      external_value: col.text(),
      reason: col.text(some),
    },
  },
  collisions: {
    title: "Name collisions",
    shows: ["destination", "external_field_name", "custom_fields", "uses"],
    isGrouped: true,
    columns: {
      ...RECEIVER,
      external_field_name: col.text({ head: "external name" }),
      custom_fields: col.text({ ...some, head: "fields" }),
      uses: col.count(some),
    },
  },
};

export type Coverage = Awaited<ReturnType<typeof readCoverage>>;

/** Counts coverage; the SQL files describe the columns. Throws `answer.nothing` for a value that no item has. */
export async function readCoverage(
  connection: DuckDBConnection,
  filter: CoverageFilter,
  rowsPerRange: number = MAPPED_VALUES_PER_RANGE,
) {
  await prepareMappings(connection);
  await prepareReceptions(connection);
  const sql = (step: string) =>
    fillMarks(loadSql(step), {
      scope: scopeCondition(filter),
      destinations: isAmong("destination_id", filter.destinationIds),
      fields: isAmong("custom_field_id", filter.fieldIds),
    });
  await createTempTable(connection, "audit_used_entries", USED_ENTRIES);
  if (filter.value !== undefined) await assertKnownValue(connection, filter.value);
  const given = [filter.status ?? null, filter.value ?? null];
  for (const [index, range] of rangesOf(await itemBounds(connection, rowsPerRange)).entries()) {
    const params = [...rangeParams(range), filter.value ?? null];
    await fillTempTable(connection, "audit_value_counts", sql("audit_value_counts"), { index, params });
  }
  const isNarrow = filter.status !== undefined || filter.value !== undefined;
  const coverage = await readRows(connection, COVERAGE, sql("audit_coverage"), given);
  return {
    /** Per destination and mapped custom field. */
    coverage,
    /** Per destination. */
    destinations: perDestination(coverage),
    /** Values that are missing, archived or ambiguous. With a filter by status or value: all that match. */
    values: await readRows(connection, VALUES, loadSql("audit_values"), [...given, !isNarrow]),
    /** Sections about definitions; undefined with a filter by status or value, which does not apply to them. */
    definitions: isNarrow ? undefined : await definitionSections(connection, sql),
    passthrough: await readPassthrough(connection),
  };
}

function perDestination(coverage: readonly AnswerRow<typeof COVERAGE>[]): DestinationCounts[] {
  const groups = Map.groupBy(coverage, ({ destination_id }) => destination_id);
  return [...groups.values()].flatMap((rows) =>
    rows.slice(0, 1).map(({ destination_id, destination, reception }) => ({
      destination_id,
      destination,
      reception,
      ...sumCounts(rows),
    })),
  );
}

export function coverageSections({ coverage, destinations, values, definitions, passthrough }: Coverage) {
  const head = passthrough ? "sent as is" : "not sent";
  const empty = coverage.some((row) => row.empty > 0) ? (["empty"] as const) : [];
  return [
    section({
      key: "coverage",
      title: "Coverage, in values",
      none:
        definitions === undefined
          ? "no mapped field has such a value"
          : "no destination receives values; see `destinations` in the configuration",
      shows: [
        "destination",
        "custom_field",
        "values",
        "mapped",
        "unmapped",
        "unknown_value",
        ...empty,
        "no_value_mapping",
        "ambiguous",
      ],
      isGrouped: true,
      columns: { ...COVERAGE, no_value_mapping: col.count({ ...some, head }) },
      rows: coverage,
      limit: 100,
    }),
    section({
      key: "destinations",
      title: "Destinations",
      lead: "Percentages, warnings and --fail-on count only destinations that receive values.",
      columns: DESTINATIONS_COVERED,
      shows: [
        "destination",
        "mapped",
        "without_external_value",
        "unmapped",
        "unknown_value",
        ...empty,
        "ambiguous",
      ],
      rows: destinations.map((each) => ({
        ...each,
        why: RECEPTION_TEXT[each.reception],
        without_external_value: missingIn(each),
      })),
      limit: 100,
    }),
    section({
      key: "values",
      title:
        definitions === undefined
          ? "Values"
          : `Values that are unmapped, unknown${empty.map((kind) => `, ${kind}`).join("")}, archived or ambiguous`,
      columns: VALUES,
      shows: ["destination", "custom_field", "value", "kind", "items", "external_value"],
      isGrouped: true,
      rows: values,
    }),
    ...(definitions ?? []),
  ];
}

async function definitionSections(
  connection: DuckDBConnection,
  sql: (step: string) => string,
): Promise<Section[]> {
  const sections: Section[] = [];
  for (const [key, table] of Object.entries(DEFINITIONS)) {
    const rows = await readRows(connection, table.columns, sql(`audit_${key}`));
    sections.push(section({ key, ...table, rows }));
  }
  return sections;
}

/** Of all items: the filter by content type does not apply. */
const USED_ENTRIES = `
  SELECT DISTINCT mapping_value_id FROM content_mapped_values WHERE mapping_value_id IS NOT NULL`;

const USED = "FROM content_mapped_values WHERE value_id = $1 OR value = $1 OR external_value = $1 LIMIT 1";

const KNOWN_VALUES = `
  SELECT unnest([value_id, value, display]) AS name FROM custom_field_select_values
  UNION SELECT unnest([value_id, external_value]) FROM custom_field_mapping_values
  ORDER BY name`;

async function assertKnownValue(connection: DuckDBConnection, value: string): Promise<void> {
  if ((await all(connection, USED, [value])).length > 0) return;
  const names = (await all(connection, KNOWN_VALUES)).map(({ name }) => String(name ?? ""));
  const near = nearestSentence(value, names, "Nothing in the run is similar.");
  throw noAnswer(`No item of the run has the value "${value}".${names.includes(value) ? "" : near}`);
}
