/** What the data tables of a run are like, before anybody can see them. */
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { printable } from "../../common/printable.ts";
import type { WarehouseBuild } from "../../load/build-warehouse.ts";
import type { LoadedTable } from "../../load/load-table.ts";
import type { Pipeline } from "../../pipeline.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { ExtractRecord } from "../../raw/extract-record.ts";
import { all, scalar, toSafeInteger } from "../../storage/duckdb.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import type { Table } from "../../tables/declare.ts";
import { type Check, type Judged, keyChecks, noneExpected, noneNamed, referenceChecks } from "./checks.ts";
import { type ColumnValues, misfitsIn } from "./contract.ts";
import { examplesIn, failingRows } from "./failing-rows.ts";
import { judgePersonalFields } from "./personal.ts";

/** What is known when the data tables are loaded. */
export type Loaded = Awaited<ReturnType<typeof inspect>>;

interface Inspected {
  readonly tables: readonly Table[];
  readonly loaded: readonly LoadedTable[];
  readonly directory: string;
  readonly drift: readonly DriftEntry[];
  /** Whether the first items alone were read. */
  readonly isLimited: boolean;
  readonly personalData: ExtractRecord["personalData"];
}

export async function inspect(
  build: WarehouseBuild,
  { tables, loaded, directory, drift, isLimited, personalData }: Inspected,
) {
  const [connection] = build.connections;
  const checks = [
    ...keyChecks(loaded),
    ...(isLimited ? [] : await referenceChecks(build.connections, tables, build.boundsOfChecks)),
    ...(await valueChecks(connection, tables)),
    ...(await slugChecks(connection, tables)),
  ];
  const values = await columnValues(connection, loaded, directory);
  const columns = columnsOf(tables, values);
  return {
    tables: loaded,
    parquetBytes: await build.parquetBytes(loaded),
    checks,
    personal: await judgePersonalFields(connection, tables, personalData),
    /** Columns of tables with rows. */
    columns,
    /** Those of them that have no value. */
    emptyColumns: columns.filter((place) => values.get(place) === 0),
    /** Columns of which some values are not of their type. */
    misfits: await misfitsIn(connection, tables, values, drift),
  };
}

/** Tables of the user's own: where one is empty, or a column of it, its functions may misspell a field. */
export function judgeCustomTables(
  { rows, queries }: Pick<Pipeline, "rows" | "queries">,
  { tables, emptyColumns }: Loaded,
): Judged {
  const own = new Set([...Object.keys(rows), ...Object.keys(queries)]);
  if (own.size === 0) return { checks: [], warnings: [] };
  const emptyTables = tables
    .filter((each) => own.has(each.table) && each.rows === 0)
    .map(({ table }) => table);
  const empty = emptyColumns.filter((place) => own.has(place.replace(/\..*/, "")));
  const checks = [
    noneNamed("custom tables without rows", emptyTables),
    noneNamed("columns of custom tables without a value", empty),
  ];
  const warnings = checks
    .filter(({ figure }) => figure > 0)
    .map(({ name, detail }) => {
      const text = `The pipeline has ${name}: ${detail}. Look for a misspelled field in what fills them.`;
      return { text, check: name };
    });
  return { checks, warnings };
}

/** Read from what the Parquet files say of themselves, so that no value is looked at. */
async function columnValues(
  connection: DuckDBConnection,
  loaded: readonly LoadedTable[],
  directory: string,
): Promise<ColumnValues> {
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

/** In the order of the tables. Without those that the personal-data policy empties, and `extra`. */
function columnsOf(tables: readonly Table[], values: ColumnValues): string[] {
  return tables.flatMap((table) =>
    table.columns
      .filter((column) => !column.personal && column.name !== "extra")
      .map((column) => `${table.name}.${column.name}`)
      .filter((place) => values.has(place)),
  );
}

const VIEWERS = ["none", "pdf", "doc_provider", "photo", "video", "audio"];

/** Columns for which the specification lists values. */
export const LISTED_VALUES = [
  { table: "content", column: "state", values: ["production", "promotion", "completed"] },
  { table: "content", column: "progress_stage", values: ["planned", "in_progress", "complete"] },
  { table: "content", column: "viewer_compatibility", values: VIEWERS },
  { table: "content_gallery", column: "gallery_viewer_compatibility", values: VIEWERS },
];

export function listedValuesCheck({ table, column }: (typeof LISTED_VALUES)[number]): string {
  return `${table}.${column} has only values that the specification lists`;
}

const EXAMPLES = 5;

/**
 * One check for each listed column: how many rows have another value, and which. Others are kept as they come, and told.
 */
async function valueChecks(connection: DuckDBConnection, tables: readonly Table[]): Promise<Check[]> {
  const names = new Set(tables.map(({ name }) => name));
  const checks: Check[] = [];
  for (const listing of LISTED_VALUES.filter(({ table }) => names.has(table))) {
    const { table, column, values } = listing;
    const name = quoteIdentifier(column);
    const listed = values.map((_, i) => `$${i + 1}`).join(", ");
    const rows = `FROM ${quoteIdentifier(table)} WHERE ${name} NOT IN (${listed})`;
    const others = await all(
      connection,
      `SELECT value, (sum(n) OVER ())::BIGINT AS total
       FROM (SELECT ${name} AS value, count(*) AS n ${rows} GROUP BY ALL)
       ORDER BY n DESC, value LIMIT ${EXAMPLES}`,
      values,
    );
    const named = others.map(({ value }) => printable(String(value), 60)).join(", ");
    const shown = [...keyOf(tables, table), column].map(quoteIdentifier).join(", ");
    const failing =
      others.length === 0 ? [] : await failingRows(connection, `(SELECT ${shown} ${rows})`, values);
    const check = noneExpected(listedValuesCheck(listing), toSafeInteger(others[0]?.total ?? 0), named);
    checks.push({ ...check, examples: examplesIn(failing) });
  }
  return checks;
}

/** Items that share a slug, which the specification calls unique. Hashes are counted, so that few texts are in memory. */
async function slugChecks(connection: DuckDBConnection, tables: readonly Table[]): Promise<Check[]> {
  if (!tables.some(({ name }) => name === "content")) return [];
  const shared = `(SELECT content_id, slug FROM content WHERE hash(slug) IN (
    SELECT hash(slug) FROM content WHERE slug IS NOT NULL GROUP BY hash(slug) HAVING count(*) > 1
  ) QUALIFY count(*) OVER (PARTITION BY slug) > 1)`;
  const figure = await scalar(connection, `SELECT count(*) FROM ${shared}`);
  const rows = figure === 0 ? [] : await failingRows(connection, shared);
  const check = noneExpected("items that share a slug", figure, "join items by content_id");
  return [{ ...check, examples: examplesIn(rows) }];
}

function keyOf(tables: readonly Table[], name: string): readonly string[] {
  return tables.find((table) => table.name === name)?.key ?? [];
}
