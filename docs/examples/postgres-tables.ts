/** Tables as PostgreSQL takes them, for postgres.ts: their declarations as DDL, their rows as the text of COPY. */
import { pipeline } from "node:stream/promises";
import type { Cell, Column, LoadTable, Table } from "content-warehouse";
import { type Client, escapeIdentifier, escapeLiteral } from "pg";
import { from } from "pg-copy-streams";

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

/** FREEZE: whoever sees the table sees its rows, even in a transaction that is older than they are. */
export async function copyTable(db: Client, { table, cells }: LoadTable, signal: AbortSignal): Promise<void> {
  await db.query(ddl(table));
  const copy = from(`COPY ${escapeIdentifier(table.name)} FROM STDIN (FREEZE)`);
  await pipeline(lines(table, cells()), db.query(copy), { signal });
}

function ddl(table: Table): string {
  const name = escapeIdentifier(table.name);
  const columns = table.columns.map((column) => {
    return `${escapeIdentifier(column.name)} ${TYPES[column.type]} ${column.nullable ? "NULL" : "NOT NULL"}`;
  });
  const comments = table.columns.map((column) => {
    return `COMMENT ON COLUMN ${name}.${escapeIdentifier(column.name)} IS ${escapeLiteral(column.comment)};`;
  });
  return `CREATE TABLE ${name} (${[...columns, `PRIMARY KEY (${table.key.map(escapeIdentifier)})`]});
    COMMENT ON TABLE ${name} IS ${escapeLiteral(table.comment)}; ${comments.join(" ")}`;
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
