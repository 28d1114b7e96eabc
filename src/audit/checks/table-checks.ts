/** Checks of the loaded tables: keys, references, listed values, slugs, values of other types, personal fields. */
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { printable } from "../../common/printable.ts";
import type { WarehouseBuild } from "../../load/build-warehouse.ts";
import type { TableFiles } from "../../load/load-table.ts";
import type { Pipeline } from "../../pipeline.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { RunAsked } from "../../raw/extract-record.ts";
import { all, scalar, toSafeInteger } from "../../storage/duckdb.ts";
import {
  boundsFor,
  type IdRange,
  type RangeBounds,
  rangeConditions,
  rangesOf,
  whereClause,
} from "../../storage/id-ranges.ts";
import { type DatabaseConnections, mapParallel } from "../../storage/parallel.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import type { Reference, Table } from "../../tables/declare.ts";
import {
  type Check,
  type CheckResults,
  checkWithWarning,
  joinResults,
  NO_CHECKS,
  noneExpected,
  noneNamed,
} from "./checks.ts";
import { countMisfits } from "./contract.ts";
import { examplesOf, failingRows, readExamples } from "./failing-rows.ts";
import { checkPersonalFields, checkUrlCredentials } from "./personal-fields.ts";

/** What is known of the data tables before the tables of the run itself are made. */
export type TableFacts = Awaited<ReturnType<typeof checkTables>>;

/** `directory`: folder of the Parquet files. References of a limited run are not checked. */
export async function checkTables(
  build: WarehouseBuild,
  run: {
    readonly tables: readonly Table[];
    readonly loaded: readonly TableFiles[];
    readonly directory: string;
    readonly drift: readonly DriftEntry[];
    readonly isLimited: boolean;
    readonly personalData: RunAsked["personalData"];
  },
) {
  const { tables, loaded } = run;
  const [connection] = build.connections;
  const checks = [
    ...keyChecks(loaded),
    ...(run.isLimited ? [] : await referenceChecks(build.connections, tables, build.boundsOfChecks)),
    ...(await listedValueChecks(connection, tables)),
    ...(await slugChecks(connection, tables)),
    ...(await checkUrlCredentials(connection, tables, run.personalData)),
  ];
  const values = await countValues(connection, loaded, run.directory);
  // `extra` and the columns that the personal-data policy empties may be empty.
  const columns = tables.flatMap((table) =>
    table.columns
      .filter((column) => !column.personal && column.name !== "extra")
      .map((column) => `${table.name}.${column.name}`)
      .filter((place) => values.has(place)),
  );
  return {
    tables: loaded,
    checks,
    personal: await checkPersonalFields(connection, tables, run.personalData),
    /** `table.column` of the tables that have rows. */
    columns,
    /** Those of `columns` that are NULL in all rows. */
    emptyColumns: columns.filter((place) => values.get(place) === 0),
    misfits: await countMisfits(connection, tables, values, run.drift),
  };
}

function keyChecks(loaded: readonly TableFiles[]): Check[] {
  return loaded.map(({ table, files }) => {
    const figure = files.reduce((sum, { duplicateKeys }) => sum + duplicateKeys, 0);
    const verdict = figure === 0 ? "passed" : "failed";
    const detail = "keys that more than one row has";
    return { name: `unique key of ${table}`, verdict, figure, expected: 0, detail };
  });
}

interface TableReference {
  readonly table: Table;
  readonly reference: Reference;
  readonly target: Table;
}

/**
 * Counts rows without a matching parent. They are warnings, because the service itself has dangling IDs. `bounds`: ID
 * ranges of the items, which are looked up one range after another so that memory holds one.
 */
export async function referenceChecks(
  connections: DatabaseConnections,
  tables: readonly Table[],
  bounds: RangeBounds,
): Promise<Check[]> {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const references = tables.flatMap((table) =>
    table.references.flatMap((reference): TableReference[] => {
      const target = byName.get(reference.table);
      return target === undefined ? [] : [{ table, reference, target }];
    }),
  );
  return mapParallel(connections, references, async (connection, { table, reference, target }) => {
    let dangling = 0;
    const rows: string[] = [];
    for (const range of rangesOf(boundsFor(target, bounds))) {
      const found = await danglingIn(connection, { table, reference, target }, range);
      dangling += found.count;
      rows.push(...found.rows);
    }
    const name = `foreign key ${table.name}.${reference.columns.join("+")} → ${reference.table}`;
    return noneExpected(name, dangling, "rows without a matching parent", examplesOf(rows));
  });
}

async function danglingIn(
  connection: DuckDBConnection,
  { table, reference, target }: TableReference,
  range: IdRange,
) {
  const columns = reference.columns.map(quoteIdentifier);
  const present = columns.map((column) => `${column} IS NOT NULL`);
  const keys = reference.to.map((column) => `target.${quoteIdentifier(column)}`);
  const from = rangeConditions(table, range, reference.columns[0]);
  const to = rangeConditions(target, range);
  const shown = [...new Set([...table.key, ...reference.columns])].map(quoteIdentifier);
  // With the range on both sides DuckDB reads only that range of each.
  const dangling = `
    FROM (FROM ${quoteIdentifier(table.name)} ${whereClause([...present, ...from.conditions])}) source
    ANTI JOIN (FROM ${quoteIdentifier(target.name)} ${whereClause(to.conditions)}) target
      ON (${columns.map((column, i) => `source.${column} = ${keys[i]}`).join(" AND ")})`;
  const count = await scalar(connection, `SELECT count(*) ${dangling}`, from.params);
  const select = `(SELECT ${shown.join(", ")} ${dangling})`;
  return { count, rows: count === 0 ? [] : await failingRows(connection, select, from.params) };
}

/** Values that are not NULL by `table.column`, from the statistics of the Parquet files. */
async function countValues(
  connection: DuckDBConnection,
  loaded: readonly TableFiles[],
  directory: string,
): Promise<ReadonlyMap<string, number>> {
  const tableOf = new Map(
    loaded.flatMap(({ table, files }) => files.map(({ path }) => [join(directory, path), table])),
  );
  const files = [...tableOf.keys()].map((file) => quoteLiteral(exactPattern(file))).join(", ");
  const rows = await all(
    connection,
    "SELECT file_name, path_in_schema, sum(num_values - stats_null_count)::BIGINT AS filled " +
      `FROM parquet_metadata([${files}]) GROUP BY ALL`,
  );
  const values = new Map<string, number>();
  for (const { file_name, path_in_schema, filled } of rows) {
    const place = `${tableOf.get(String(file_name))}.${path_in_schema}`;
    values.set(place, (values.get(place) ?? 0) + toSafeInteger(filled ?? null));
  }
  return values;
}

const VIEWERS = ["none", "pdf", "doc_provider", "photo", "video", "audio"];

/** Columns for which the specification lists values. */
const LISTED_VALUES = [
  { table: "content", column: "state", values: ["production", "promotion", "completed"] },
  { table: "content", column: "progress_stage", values: ["planned", "in_progress", "complete"] },
  { table: "content", column: "viewer_compatibility", values: VIEWERS },
  { table: "content_gallery", column: "gallery_viewer_compatibility", values: VIEWERS },
];

/** Ends the names of the checks of listed values; the column is before it. */
export const LISTED_VALUES_CHECK = " has only values that the specification lists";

/** Counts other values of each listed column. The rows keep them. */
async function listedValueChecks(connection: DuckDBConnection, tables: readonly Table[]): Promise<Check[]> {
  const checks: Check[] = [];
  for (const listing of LISTED_VALUES) {
    const { column, values } = listing;
    const table = tables.find(({ name }) => name === listing.table);
    if (table === undefined) continue;
    const name = quoteIdentifier(column);
    const listed = values.map((_, i) => `$${i + 1}`).join(", ");
    const rows = `FROM ${quoteIdentifier(table.name)} WHERE ${name} NOT IN (${listed})`;
    const others = await all(
      connection,
      `SELECT value, (sum(n) OVER ())::BIGINT AS total
       FROM (SELECT ${name} AS value, count(*) AS n ${rows} GROUP BY ALL)
       ORDER BY n DESC, value LIMIT 5`,
      values,
    );
    const total = toSafeInteger(others[0]?.total ?? 0);
    const named = others.map(({ value }) => printable(String(value), 60)).join(", ");
    const shown = [...table.key, column].map(quoteIdentifier).join(", ");
    const examples =
      total === 0 ? undefined : await readExamples(connection, `(SELECT ${shown} ${rows})`, values);
    checks.push(noneExpected(`${table.name}.${column}${LISTED_VALUES_CHECK}`, total, named, examples));
  }
  return checks;
}

/** Counts items that share a slug, which the specification calls unique. Hashes are grouped to save memory. */
async function slugChecks(connection: DuckDBConnection, tables: readonly Table[]): Promise<Check[]> {
  if (!tables.some(({ name }) => name === "content")) return [];
  const shared = `(SELECT content_id, slug FROM content WHERE hash(slug) IN (
    SELECT hash(slug) FROM content WHERE slug IS NOT NULL GROUP BY hash(slug) HAVING count(*) > 1
  ) QUALIFY count(*) OVER (PARTITION BY slug) > 1)`;
  const figure = await scalar(connection, `SELECT count(*) FROM ${shared}`);
  const examples = figure === 0 ? undefined : await readExamples(connection, shared);
  return [noneExpected("items that share a slug", figure, "join items by content_id", examples)];
}

/** Warns of custom tables that are empty or have an empty column: their functions may misspell a field. */
export function checkCustomTables(
  { rows, queries }: Pick<Pipeline, "rows" | "queries">,
  { tables, emptyColumns }: TableFacts,
): CheckResults {
  const custom = new Set([...Object.keys(rows), ...Object.keys(queries)]);
  if (custom.size === 0) return NO_CHECKS;
  const emptyTables = tables.filter((each) => custom.has(each.table) && each.rows === 0);
  const emptyPlaces = emptyColumns.filter((place) => custom.has(place.replace(/\..*/, "")));
  const names = emptyTables.map(({ table }) => table);
  const checks = [
    noneNamed("custom tables without rows", names),
    noneNamed("columns of custom tables without a value", emptyPlaces),
  ];
  return joinResults(
    checks.map((check) =>
      checkWithWarning(
        check,
        `The pipeline has ${check.name}: ${check.detail}. Look for a misspelled field in the function or query that fills them.`,
      ),
    ),
  );
}
