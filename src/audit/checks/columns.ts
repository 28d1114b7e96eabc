/** How full the columns are. */
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import type { LoadedTable } from "../../load/load-table.ts";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import { exactPattern, quoteLiteral } from "../../storage/sql-text.ts";
import type { Table } from "../../tables/declare.ts";
import type { Check } from "./checks.ts";
import type { RowCounts } from "./mass-change.ts";

/** Values that are not NULL, by table and column: `content.title`. A table without rows has none. */
export type ColumnValues = ReadonlyMap<string, number>;

/** Read from what the Parquet files say of themselves, so that no value is looked at. */
export async function columnValues(
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

/**
 * Columns of tables with rows that have no value in any of them, in the order of the tables. Without those that the
 * personal-data policy empties, and `extra`.
 */
export function emptyColumns(tables: readonly Table[], values: ColumnValues): string[] {
  return tables.flatMap((table) =>
    table.columns
      .filter((column) => !column.personal && column.name !== "extra")
      .map((column) => `${table.name}.${column.name}`)
      .filter((place) => values.get(place) === 0),
  );
}

/** What a run states of how full its tables are. */
export interface Fullness {
  readonly rows: RowCounts;
  readonly emptyColumns: readonly string[];
}

/**
 * Columns, and tables of lists, that had values in the run before and have none in this one: a field may have vanished
 * from all items. Not those of the history, which tell of runs.
 */
export function vanished(tables: readonly Table[], before: Fullness, now: Fullness): string[] {
  const emptyBefore = new Set(before.emptyColumns);
  const ofContent = new Set(tables.filter(({ stage }) => stage !== "history").map(({ name }) => name));
  const hadRows = (table: string) => ofContent.has(table) && (before.rows[table] ?? 0) > 0;
  const emptied = [...ofContent].filter(
    (name) => name !== "content" && hadRows(name) && now.rows[name] === 0,
  );
  const columns = now.emptyColumns.filter(
    (place) => hadRows(place.slice(0, place.indexOf("."))) && !emptyBefore.has(place),
  );
  return [...emptied, ...columns];
}

export function vanishedCheck(places: readonly string[]): Check {
  return {
    name: "columns and tables that had values in the run before and have none",
    verdict: places.length === 0 ? "passed" : "warning",
    figure: places.length,
    expected: 0,
    detail: places.join(", "),
  };
}
