/** Writes tables as sources of a dbt project, with descriptions, types, and tests of keys and references. */
import { jsonText } from "../common/printable.ts";
import { VERSION } from "../common/version.ts";
import { DUCKDB_TYPES } from "../storage/ddl.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import {
  COLUMN_TYPES,
  isView,
  type Reference,
  type SchemaColumn,
  type SchemaTable,
} from "../tables/declare.ts";

const SOURCE = "content_warehouse";
/** Name under which a dbt profile attaches the file, see docs/tables.md. */
const DATABASE = "warehouse";

/** Text of a `sources.yml`. Views get no tests: their tables have them. Tests need no dbt package. */
export function schemaDbt(tables: readonly SchemaTable[]): string {
  const lines = [
    `# Written by content-warehouse ${VERSION}: content-warehouse schema --format dbt > models/sources.yml`,
    "version: 2",
    "sources:",
    `  - name: ${SOURCE}`,
    `    database: ${DATABASE}`,
    "    schema: main",
    "    tables:",
    ...tables.flatMap((table) => tableLines(table, tables)),
  ];
  return `${lines.join("\n")}\n`;
}

function tableLines(table: SchemaTable, all: readonly SchemaTable[]): string[] {
  const isTested = !isView(table);
  return [
    `      - name: ${table.name}`,
    `        description: ${quoted(table.comment)}`,
    ...(isTested && table.key.length > 1 ? keyTest(table) : []),
    "        columns:",
    ...table.columns.flatMap((column) => columnLines(column, isTested ? testsOf(table, column, all) : [])),
  ];
}

/** A test of a key with several columns: `unique` of dbt takes an expression, here a row of them. */
function keyTest({ name, key }: SchemaTable): string[] {
  return [
    "        data_tests:",
    "          - unique:",
    `              name: unique_key_of_${name}`,
    "              arguments:",
    `                column_name: ${quoted(`(${key.map(quoteIdentifier).join(", ")})`)}`,
  ];
}

function testsOf(table: SchemaTable, column: SchemaColumn, all: readonly SchemaTable[]): string[] {
  return [
    ...(table.key.length === 1 && table.key[0] === column.name ? ["            - unique"] : []),
    ...(column.nullable ? [] : ["            - not_null"]),
    ...table.references.flatMap((reference) => relationship(reference, column, all)),
  ];
}

function columnLines(column: SchemaColumn, tests: readonly string[]): string[] {
  return [
    `          - name: ${quoted(column.name)}`,
    `            description: ${quoted(column.comment)}`,
    `            data_type: ${duckdbTypeOf(column.type).toLowerCase()}`,
    ...(tests.length === 0 ? [] : ["            data_tests:", ...tests.map((line) => `  ${line}`)]),
  ];
}

/** A test of a reference. It only warns, because the service has IDs of users and items that it no longer describes. */
function relationship(
  { columns, table, to }: Reference,
  { name }: SchemaColumn,
  all: readonly SchemaTable[],
): string[] {
  const isThere = all.some((each) => each.name === table);
  if (columns.length !== 1 || columns[0] !== name || !isThere) return [];
  return [
    "            - relationships:",
    "                arguments:",
    `                  to: source('${SOURCE}', '${table}')`,
    `                  field: ${to[0]}`,
    "                config:",
    "                  severity: warn",
  ];
}

/** A double-quoted YAML scalar, which has the same escapes as JSON. */
function quoted(text: string): string {
  return jsonText(text);
}

/** `VARCHAR[]` for `text[]`. */
function duckdbTypeOf(shown: string): string {
  const scalar = shown.replace(/\[\]$/, "");
  const type = COLUMN_TYPES.find((each) => each === scalar);
  return `${type === undefined ? scalar : DUCKDB_TYPES[type]}${shown.slice(scalar.length)}`;
}
