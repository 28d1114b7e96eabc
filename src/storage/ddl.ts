/** Column types and statements for declared tables. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { ColumnType, Table } from "../tables/declare.ts";
import { execute } from "./duckdb.ts";
import { quoteIdentifier, quoteLiteral } from "./sql-text.ts";

/** DuckDB's names of the column types. */
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

/** Column types in Parquet. JSON is text: readers of the JSON type round large integers and lose the JSON null. */
const PARQUET_TYPES: Readonly<Record<ColumnType, string>> = { ...DUCKDB_TYPES, json: "VARCHAR" };

/**
 * Creates a table with its comments, in one transaction; after a failure the connection cannot be used. There is no PRIMARY
 * KEY, because its index would have to fit in memory; a query checks uniqueness. Columns in `bodies` are compressed with
 * Zstandard.
 */
export async function createTable(
  connection: DuckDBConnection,
  table: Table,
  bodies: readonly string[] = [],
): Promise<void> {
  const { name, columns } = table;
  const quoted = quoteIdentifier(name);
  const definitions = columns.map((column) => {
    const required = column.nullable ? "" : " NOT NULL";
    const compressed = bodies.includes(column.name) ? " USING COMPRESSION zstd" : "";
    return `${quoteIdentifier(column.name)} ${DUCKDB_TYPES[column.type]}${required}${compressed}`;
  });
  const comments = columns.map(
    (column) =>
      `COMMENT ON COLUMN ${quoted}.${quoteIdentifier(column.name)} IS ${quoteLiteral(column.comment)}`,
  );
  const statements = [
    "BEGIN",
    `CREATE TABLE ${quoted} (\n  ${definitions.join(",\n  ")}\n)`,
    `COMMENT ON TABLE ${quoted} IS ${quoteLiteral(tableComment(table))}`,
    ...comments,
    "COMMIT",
  ];
  await execute(connection, statements.join(";\n"));
}

/** The comment of a table or view in a database, with its key: there is no constraint that says it. */
export function tableComment({ comment, key }: Pick<Table, "comment" | "key">): string {
  return key.length === 0 ? comment : `${comment} Key: ${key.join(", ")}.`;
}

/** Select list from a staged part to the final Parquet file. */
export const parquetColumns = (table: Table): string => castList(table, PARQUET_TYPES);

/** Select list from the final Parquet file to the DuckDB table. */
export const duckdbColumns = (table: Table): string => castList(table, DUCKDB_TYPES);

/** Select list with the final types, for a table without rows. */
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
