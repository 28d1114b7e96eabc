/**
 * SQL that reads and writes Parquet files. Their metadata have the declaration of the table, so that a run can be read without
 * its pipeline.
 */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { z } from "zod";
import { COLUMN_TYPES, column, defineTable, type Table } from "../tables/declare.ts";
import { all, type SqlQuery, scalar } from "./duckdb.ts";
import { exactPattern, quoteIdentifier, quoteLiteral } from "./sql-text.ts";

/** A quarter of the default: sorting and writing takes a third less memory, and two writers a quarter less time. */
const ROWS_PER_PARQUET_GROUP = 30_720;

const PARQUET_OPTIONS = `FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROWS_PER_PARQUET_GROUP}`;

/** Table names that may become file names. They are declared, never sent by a service. */
export const TABLE_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * A table function that reads exactly these files. Names are not patterns, and folders named `x=1` are not columns. `also`:
 * additional columns about the file.
 */
export function readParquet(
  files: readonly string[],
  also: readonly ("filename" | "file_row_number")[] = [],
): string {
  const list = files.map((file) => quoteLiteral(exactPattern(file)));
  const options = ["hive_partitioning = false", ...also.map((column) => `${column} = true`)];
  return `read_parquet([${list.join(", ")}], ${options.join(", ")})`;
}

/**
 * Writes the rows of a query, in its order, as a Parquet file and gives their number. The same rows give the same bytes.
 * `file`: absolute path; its folder is created.
 */
export async function writeParquet(
  connection: DuckDBConnection,
  { table, query, file }: { readonly table: Table; readonly query: SqlQuery; readonly file: string },
): Promise<number> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const options = `${PARQUET_OPTIONS}, KV_METADATA ${metadataLiteral(table)}`;
  return scalar(connection, `COPY (${query.text}) TO ${quoteLiteral(file)} (${options})`, query.params);
}

const NOT_NULL = " not null";
const columnType = z.enum(COLUMN_TYPES);
const written = z.string().regex(new RegExp(`^(${COLUMN_TYPES.join("|")})(${NOT_NULL})?$`));
const reference = z.object({ columns: z.array(z.string()), table: z.string(), to: z.array(z.string()) });

/** The `KV_METADATA` of a COPY, which declares the table and does not depend on the run. */
function metadataLiteral(table: Table): string {
  const { columns } = table;
  const comments = Object.fromEntries(columns.map(({ name, comment }) => [name, comment]));
  const types = Object.fromEntries(
    columns.map(({ name, type, nullable }) => [name, nullable ? type : `${type}${NOT_NULL}`]),
  );
  const entries: readonly (readonly [string, string])[] = [
    ["table", table.name],
    ["comment", table.comment],
    ["key", table.key.join(",")],
    ["columns", JSON.stringify(comments)],
    ["types", JSON.stringify(types)],
    ["personal", columns.flatMap(({ name, personal }) => (personal ? [name] : [])).join(",")],
    ["references", JSON.stringify(table.references)],
  ];
  return `{${entries.map(([key, value]) => `${quoteIdentifier(key)}: ${quoteLiteral(value)}`).join(", ")}}`;
}

/**
 * Reads the declarations of {@link metadataLiteral}, by path; `undefined` if a file has none, or one of another version.
 * Origins and sources of rows are not in them.
 */
export async function declarationsIn(
  connection: DuckDBConnection,
  files: readonly string[],
): Promise<ReadonlyMap<string, Table | undefined>> {
  const list = files.map((file) => quoteLiteral(exactPattern(file))).join(", ");
  const rows = await all(
    connection,
    `SELECT file_name, decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata([${list}])`,
  );
  const entries = new Map(files.map((file) => [file, new Map<string, string>()]));
  for (const { file_name, key, value } of rows)
    entries.get(String(file_name))?.set(String(key), String(value));
  return new Map([...entries].map(([file, found]) => [file, declarationOf(found)]));
}

function declarationOf(entries: ReadonlyMap<string, string>): Table | undefined {
  const { success, data } = metadata.safeParse(Object.fromEntries(entries));
  if (!success) return undefined;
  const { table: name, comment, key, columns: comments, types, personal, references } = data;
  const columns = Object.entries(types).map(([name, type]) =>
    column(name, columnType.parse(type.replace(NOT_NULL, "")), {
      required: type.endsWith(NOT_NULL),
      comment: comments[name] ?? "",
      personal: personal.includes(name),
    }),
  );
  return defineTable({ name, comment, stage: "query", key, columns, references });
}

const json = z.string().transform((text): unknown => JSON.parse(text));
const names = z.string().transform((text) => (text === "" ? [] : text.split(",")));

const metadata = z.object({
  table: z.string().regex(TABLE_NAME),
  comment: z.string(),
  key: names,
  columns: json.pipe(z.record(z.string(), z.string())),
  types: json.pipe(z.record(z.string(), written)),
  personal: names,
  references: json.pipe(z.array(reference)),
});
