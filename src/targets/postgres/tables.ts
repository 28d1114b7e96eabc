/** A table as PostgreSQL takes it: its declaration as DDL, its rows as the text of COPY. */
import { pluralize } from "../../common/figures.ts";
import { printable } from "../../common/printable.ts";
import type { LoadTable } from "../../pipeline.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import type { Cell } from "../../storage/table-builder.ts";
import type { Column, Table } from "../../tables/declare.ts";
import type { PostgresConnection, Refusal } from "./connect.ts";

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

/** What PostgreSQL refuses of JSON that DuckDB takes: its form, or its depth. */
const NOT_JSON = /^(?:22P02|54001)$/;
/** What it refuses of a key or an index: its size, or a type that it cannot sort. */
const NOT_INDEXED = /^(?:54...|42704|23505)$/;

/** A table that has its rows, and neither keys nor indexes. */
export interface CopiedTable {
  readonly table: Table;
  /** What is not as it is in the run, as parts of a sentence. */
  readonly notes: readonly string[];
}

/** Makes a table with all its rows. FREEZE: whoever sees it sees them, even in a transaction that is older than they are. */
export async function copyTable(
  connection: PostgresConnection,
  { table, cells }: LoadTable,
): Promise<CopiedTable> {
  const copied = (types: Types) => async () => {
    const counts = { nul: 0, far: 0 };
    await connection.ask(tableText(table, types));
    const into = `COPY ${quoteIdentifier(table.name)} FROM STDIN (FREEZE)`;
    await connection.copy(into, lines(table, cells(), counts));
    return counts;
  };
  const first = await connection.trying(NOT_JSON, copied(TYPES));
  const second = "refusal" in first ? await copied({ ...TYPES, json: "text" })() : first.result;
  const json = "refusal" in first ? [`its JSON columns as text (${refusalText(first.refusal)})`] : [];
  return { table, notes: [...json, ...changed(second)] };
}

/** Adds primary key and index to a table that has its rows, which is faster, and its comments. Gives further notes. */
export async function completeTable(
  connection: PostgresConnection,
  { table }: CopiedTable,
): Promise<readonly string[]> {
  const name = quoteIdentifier(table.name);
  const key = table.key.map(quoteIdentifier).join(", ");
  const wanted = { "primary key": `ALTER TABLE ${name} ADD PRIMARY KEY (${key})` };
  const index = { "index on content_id": `CREATE INDEX ON ${name} (content_id)` };
  const notes: string[] = [];
  for (const [what, text] of Object.entries({ ...wanted, ...(isIndexed(table) && index) })) {
    const outcome = await connection.trying(NOT_INDEXED, () => connection.perform(text));
    if ("refusal" in outcome) notes.push(`no ${what} (${refusalText(outcome.refusal)})`);
  }
  const comments = table.columns.map(
    (column) =>
      `COMMENT ON COLUMN ${name}.${quoteIdentifier(column.name)} IS ${quoteLiteral(column.comment)}`,
  );
  await connection.perform(
    [`COMMENT ON TABLE ${name} IS ${quoteLiteral(table.comment)}`, ...comments].join("; "),
  );
  return notes;
}

/** A key that begins with `content_id` serves as its index. */
function isIndexed({ key, columns }: Table): boolean {
  return key[0] !== "content_id" && columns.some(({ name }) => name === "content_id");
}

function refusalText({ message }: Refusal): string {
  return printable(message, 200);
}

type Types = Readonly<Record<Column["type"], string>>;

function tableText({ name, columns }: Table, types: Types): string {
  const texts = columns.map(
    (column) =>
      `${quoteIdentifier(column.name)} ${types[column.type]} ${column.nullable ? "NULL" : "NOT NULL"}`,
  );
  return `CREATE TABLE ${quoteIdentifier(name)} (${texts.join(", ")})`;
}

/** Values that PostgreSQL has not. */
interface ReplacementCounts {
  /** Texts with U+0000: U+FFFD stands for it. */
  nul: number;
  /** Instants and dates that are out of its range: infinity stands for them. */
  far: number;
}

function changed({ nul, far }: ReplacementCounts): string[] {
  return [
    ...(nul === 0 ? [] : [`${pluralize(nul, "text")} with U+FFFD in the place of U+0000, which it has not`]),
    ...(far === 0 ? [] : [`${pluralize(far, "time")} out of its range, infinity in the place of each`]),
  ];
}

async function* lines(
  { columns }: Table,
  rows: AsyncIterable<readonly Cell[]>,
  counts: ReplacementCounts,
): AsyncGenerator<string> {
  for await (const row of rows)
    yield `${columns.map(({ type }, at) => field(row[at] ?? null, type, counts)).join("\t")}\n`;
}

function field(cell: Cell, type: Column["type"], counts: ReplacementCounts): string {
  if (cell === null) return "\\N";
  if (type === "timestamp") return instant(BigInt(cell), counts);
  if (type === "date") return day(Number(cell), counts);
  if (Object.is(cell, -0)) return "-0";
  const text = String(cell);
  if (text.includes("\0")) counts.nul += 1;
  const whole = text.replaceAll("\0", "\uFFFD");
  return whole.replace(/[\\\t\n\r]/g, (found) => `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

const DAY = 86_400_000_000n;
const JULIAN_DAY_OF_1970 = 2_440_588;
/** As DuckDB has them: of instants in microseconds, of dates in days. */
const INFINITE_MICROS = 2n ** 63n - 1n;
const INFINITE_DAYS = 2 ** 31 - 1;
/** The last date of PostgreSQL, in the year 5,874,897. Its last instant is after all of DuckDB's. */
const LAST_JULIAN_DAY = 2_147_483_493;

/** By Julian days, which have no years: the year 0 is 1 BC in PostgreSQL, and the day 0 its first one, in 4714 BC. */
function instant(micros: bigint, counts: ReplacementCounts): string {
  if (micros === INFINITE_MICROS) return "infinity";
  if (micros === -INFINITE_MICROS) return "-infinity";
  const julian = micros + BigInt(JULIAN_DAY_OF_1970) * DAY;
  if (julian < 0n) return infinity("-", counts);
  const time = new Date(Number((julian % DAY) / 1000n)).toISOString().slice(11, 23);
  return `J${julian / DAY} ${time}${String(julian % 1000n).padStart(3, "0")}Z`;
}

function day(days: number, counts: ReplacementCounts): string {
  if (days === INFINITE_DAYS) return "infinity";
  if (days === -INFINITE_DAYS) return "-infinity";
  const julian = days + JULIAN_DAY_OF_1970;
  if (julian < 0) return infinity("-", counts);
  return julian > LAST_JULIAN_DAY ? infinity("", counts) : `J${julian}`;
}

function infinity(sign: "" | "-", counts: ReplacementCounts): string {
  counts.far += 1;
  return `${sign}infinity`;
}
