/** A table as PostgreSQL takes it: its declaration as DDL, its rows as the text of COPY. */
import type { LoadTable } from "../../pipeline.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import type { Cell } from "../../storage/table-builder.ts";
import type { Column, Table } from "../../tables/declare.ts";
import type { Connection } from "./connect.ts";

/** `json` and not `jsonb`: it keeps the text as it is, the order of keys and `\u0000` too. */
const TYPES: Record<Column["type"], string> = {
  text: "text",
  json: "json",
  boolean: "boolean",
  integer: "integer",
  bigint: "bigint",
  double: "double precision",
  timestamp: "timestamptz",
  date: "date",
};

/**
 * Makes a table with all its rows, its key, indexes and comments. The keys come after the rows, which is faster. FREEZE:
 * whoever sees the table sees its rows, even in a transaction that is older than they are.
 */
export async function copyTable(
  { ask, copy, perform }: Connection,
  { table, cells }: LoadTable,
): Promise<void> {
  await ask(tableText(table));
  await copy(`COPY ${quoteIdentifier(table.name)} FROM STDIN (FREEZE)`, lines(table, cells()));
  await perform(afterRows(table));
}

function tableText({ name, columns }: Table): string {
  const texts = columns.map(
    (column) =>
      `${quoteIdentifier(column.name)} ${TYPES[column.type]} ${column.nullable ? "NULL" : "NOT NULL"}`,
  );
  return `CREATE TABLE ${quoteIdentifier(name)} (${texts.join(", ")})`;
}

function afterRows(table: Table): string {
  const name = quoteIdentifier(table.name);
  const comments = table.columns.map((column) => {
    return `COMMENT ON COLUMN ${name}.${quoteIdentifier(column.name)} IS ${quoteLiteral(column.comment)}`;
  });
  return [
    `ALTER TABLE ${name} ADD PRIMARY KEY (${identifiers(table.key)})`,
    ...indexed(table).map((columns) => `CREATE INDEX ON ${name} (${identifiers(columns)})`),
    `COMMENT ON TABLE ${name} IS ${quoteLiteral(table.comment)}`,
    ...comments,
  ].join("; ");
}

const identifiers = (names: readonly string[]): string => names.map(quoteIdentifier).join(", ");

/** Columns that name rows of other tables, once each, without those that the key begins with: its index serves them. */
function indexed({ key, references }: Table): readonly (readonly string[])[] {
  const byNames = new Map(references.map(({ columns }) => [columns.join(), columns]));
  return [...byNames.values()].filter((columns) => columns.some((name, at) => key[at] !== name));
}

async function* lines({ columns }: Table, rows: AsyncIterable<readonly Cell[]>): AsyncGenerator<string> {
  for await (const row of rows)
    yield `${columns.map(({ type }, at) => field(row[at] ?? null, type)).join("\t")}\n`;
}

/** Text has no NUL in PostgreSQL: U+FFFD stands for it. */
function field(cell: Cell, type: Column["type"]): string {
  if (cell === null) return "\\N";
  if (type === "timestamp") return julian(BigInt(cell));
  if (type === "date") return julian(BigInt(cell) * DAY);
  const text = String(cell).replaceAll("\0", "\uFFFD");
  return text.replace(/[\\\t\n\r]/g, (found) => `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

const DAY = 86_400_000_000n;

/** Microseconds since 1970 by Julian days, which have no years: the year 0 is 1 BC in PostgreSQL. */
function julian(instant: bigint): string {
  const micros = instant + 2_440_588n * DAY;
  const time = new Date(Number((micros % DAY) / 1000n)).toISOString().slice(11, 23);
  return `J${micros / DAY} ${time}${String(micros % 1000n).padStart(3, "0")}Z`;
}
