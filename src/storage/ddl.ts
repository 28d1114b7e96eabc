import type { DuckDBConnection } from "@duckdb/node-api";
import { COLUMN_TYPES, type ColumnType, type Table } from "../tables/declare.ts";
import { execute } from "./duckdb.ts";
import { quoteIdentifier, quoteLiteral } from "./sql-text.ts";

/** Column types as DuckDB names them. */
export const DUCKDB_TYPES: Readonly<Record<ColumnType, string>> = {
  text: "VARCHAR",
  boolean: "BOOLEAN",
  integer: "INTEGER",
  bigint: "BIGINT",
  double: "DOUBLE",
  timestamp: "TIMESTAMPTZ",
  date: "DATE",
  json: "JSON",
};

/** `text[]` of `VARCHAR[]`; what no column is declared with keeps its name. */
export function shownTypeOf(duckdb: string): string {
  const scalar = duckdb.replace(/\[\]$/, "");
  const type = COLUMN_TYPES.find((each) => DUCKDB_TYPES[each] === scalar) ?? scalar;
  return `${type}${duckdb.slice(scalar.length)}`;
}

/** `VARCHAR[]` of `text[]`. */
export function duckdbTypeOf(shown: string): string {
  const scalar = shown.replace(/\[\]$/, "");
  const type = COLUMN_TYPES.find((each) => each === scalar);
  return `${type === undefined ? scalar : DUCKDB_TYPES[type]}${shown.slice(scalar.length)}`;
}

/** Column types in Parquet. JSON is text there: readers of its JSON type round large integers and lose the JSON null. */
export const PARQUET_TYPES: Readonly<Record<ColumnType, string>> = { ...DUCKDB_TYPES, json: "VARCHAR" };

/** Statements that create a table with its comments. */
function tableDdl(table: Table, longTexts: ReadonlySet<string>): readonly string[] {
  const name = quoteIdentifier(table.name);
  const definitions = table.columns.map((column) => {
    const required = column.nullable ? "" : " NOT NULL";
    const compressed = longTexts.has(column.name) ? " USING COMPRESSION zstd" : "";
    return `${quoteIdentifier(column.name)} ${DUCKDB_TYPES[column.type]}${required}${compressed}`;
  });
  const comments = table.columns.map(
    (column) =>
      `COMMENT ON COLUMN ${name}.${quoteIdentifier(column.name)} IS ${quoteLiteral(column.comment)}`,
  );
  return [
    `CREATE TABLE ${name} (\n  ${definitions.join(",\n  ")}\n)`,
    `COMMENT ON TABLE ${name} IS ${quoteLiteral(table.comment)}`,
    ...comments,
  ];
}

/**
 * Creates a table with its comments in one transaction: each would wait for the disk. No PRIMARY KEY: its index would have
 * to fit in memory, so uniqueness is checked by a query. The columns in `longTexts` are compressed with Zstandard: left
 * to choose, the engine takes several times the bytes.
 */
export async function createTable(
  connection: DuckDBConnection,
  table: Table,
  longTexts: ReadonlySet<string> = new Set(),
): Promise<void> {
  try {
    await execute(connection, ["BEGIN", ...tableDdl(table, longTexts), "COMMIT"].join(";\n"));
  } catch (thrown) {
    // The first failure is the one to report; the connection is not used after it.
    await execute(connection, "ROLLBACK").catch(() => undefined);
    throw thrown;
  }
}

/** Select list that turns what a staged part holds into what the final Parquet file holds. */
export const parquetColumns = (table: Table): string => castList(table, PARQUET_TYPES);

/** Select list that turns what the final Parquet file holds into what the DuckDB table holds. */
export const duckdbColumns = (table: Table): string => castList(table, DUCKDB_TYPES);

/** Select list of no rows with the final types, for a table without any. */
export const emptyColumns = (table: Table): string => castList(table, PARQUET_TYPES, () => "NULL");

function castList(
  { columns }: Table,
  types: Readonly<Record<ColumnType, string>>,
  cell = quoteIdentifier,
): string {
  return columns
    .map(({ name, type }) => `CAST(${cell(name)} AS ${types[type]}) AS ${quoteIdentifier(name)}`)
    .join(", ");
}

/** `"content_id", "ordinal"`: the key as an ORDER BY or GROUP BY list. */
export function keyColumns(table: Table): string {
  return table.key.map(quoteIdentifier).join(", ");
}
