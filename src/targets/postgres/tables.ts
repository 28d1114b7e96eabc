/** Tables in PostgreSQL: their declarations as DDL, their rows as the text of COPY, and what does not fit. */
import { WarehouseError } from "../../common/errors.ts";
import { pluralize } from "../../common/figures.ts";
import { printable } from "../../common/printable.ts";
import type { DeliveredRun, LoadTable } from "../../pipeline.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import type { Cell } from "../../storage/table-builder.ts";
import type { Column, Table } from "../../tables/declare.ts";
import { isDatabaseError, type PostgresConnection } from "./connect.ts";

const MAX_COLUMNS = 1600;
const MAX_NAME_BYTES = 63;
/** Columns that every table of PostgreSQL has. */
const SYSTEM_COLUMNS: ReadonlySet<string> = new Set(["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]);

/** Throws `target.refused` for a table that PostgreSQL cannot have. It would cut long names without a message. */
export function assertFitsPostgres({ name, columns }: Table): void {
  const names = columns.map((each) => each.name);
  const long = [name, ...names].find((each) => Buffer.byteLength(each) > MAX_NAME_BYTES);
  const taken = names.find((each) => SYSTEM_COLUMNS.has(each));
  const refuse = (problem: string) => {
    const what = `The table ${printable(name)} cannot be delivered to PostgreSQL`;
    return new WarehouseError("target.refused", `${what}: ${problem} in the pipeline.`);
  };
  if (long !== undefined)
    throw refuse(
      `names have at most ${MAX_NAME_BYTES} bytes there, and ${printable(long)} has more; shorten it`,
    );
  if (taken !== undefined) throw refuse(`every table has a column ${taken} there; give it another name`);
  if (columns.length > MAX_COLUMNS)
    throw refuse(
      `tables have at most ${MAX_COLUMNS} columns there, and it has ${columns.length}; leave some out`,
    );
}

/** `json` rather than `jsonb`: it keeps the text, with the order of keys and `\u0000`. */
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

/** SQLSTATEs of a key or index that PostgreSQL refuses, for its size or for a type without an order. */
const NOT_INDEXED = /^(?:54...|42704|23505)$/;

/**
 * Creates a table with all its rows, without keys and indexes. FREEZE shows the rows also to transactions that are older.
 * Gives what differs from the run, as parts of a sentence.
 */
async function copyTable(connection: PostgresConnection, { table, cells }: LoadTable): Promise<string[]> {
  const name = quoteIdentifier(table.name);
  const columns = table.columns.map(
    (each) => `${quoteIdentifier(each.name)} ${TYPES[each.type]} ${each.nullable ? "NULL" : "NOT NULL"}`,
  );
  await connection.ask(`CREATE TABLE ${name} (${columns.join(", ")})`);
  const counts = { nul: 0, far: 0 };
  await connection.copy(`COPY ${name} FROM STDIN (FREEZE)`, copyLines(table, cells(), counts));
  const { nul, far } = counts;
  return [
    ...(nul === 0
      ? []
      : [`${pluralize(nul, "text")} with U+FFFD instead of U+0000, which PostgreSQL cannot store`]),
    ...(far === 0 ? [] : [`${pluralize(far, "time")} outside its range, stored as infinity`]),
  ];
}

/** Adds key, index and comments to a table that has its rows, which is faster. Gives what differs from the run. */
async function completeTable(connection: PostgresConnection, table: Table): Promise<string[]> {
  const name = quoteIdentifier(table.name);
  const key = table.key.map(quoteIdentifier).join(", ");
  const additions = [["primary key", `ALTER TABLE ${name} ADD PRIMARY KEY (${key})`]];
  // A key that begins with `content_id` serves as its index.
  if (table.key[0] !== "content_id" && table.columns.some((column) => column.name === "content_id"))
    additions.push(["index on content_id", `CREATE INDEX ON ${name} (content_id)`]);
  const notes: string[] = [];
  for (const [what, text = ""] of additions) {
    await connection.ask("SAVEPOINT adding");
    try {
      await connection.perform(text);
    } catch (thrown) {
      if (!isDatabaseError(thrown) || !NOT_INDEXED.test(thrown.code ?? "")) throw thrown;
      await connection.ask("ROLLBACK TO adding");
      notes.push(`no ${what} (${printable(thrown.message, 200)})`);
    }
    await connection.ask("RELEASE adding");
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

/** Numbers of replaced values. */
interface ReplacementCounts {
  /** Texts with U+0000, which is replaced by U+FFFD. */
  nul: number;
  /** Instants and dates outside of PostgreSQL's range, which are replaced by infinity. */
  far: number;
}

async function* copyLines(
  { columns }: Table,
  rows: AsyncIterable<readonly Cell[]>,
  counts: ReplacementCounts,
): AsyncGenerator<string> {
  for await (const row of rows)
    yield `${columns.map(({ type }, index) => cellText(row[index] ?? null, type, counts)).join("\t")}\n`;
}

function cellText(cell: Cell, type: Column["type"], counts: ReplacementCounts): string {
  if (cell === null) return "\\N";
  if (type === "timestamp") return instantText(BigInt(cell), counts);
  if (type === "date") return dateText(Number(cell), counts);
  if (Object.is(cell, -0)) return "-0";
  const text = String(cell);
  if (text.includes("\0")) counts.nul += 1;
  const whole = text.replaceAll("\0", "\uFFFD");
  return whole.replace(/[\\\t\n\r]/g, (found) => `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

const DAY_MICROS = 86_400_000_000n;
const JULIAN_DAY_OF_1970 = 2_440_588;
/** DuckDB's infinity: of instants in microseconds, of dates in days. */
const INFINITE_MICROS = 2n ** 63n - 1n;
const INFINITE_DAYS = 2 ** 31 - 1;
/** PostgreSQL's last date, in the year 5,874,897. Its last instant is later than all of DuckDB's. */
const LAST_JULIAN_DAY = 2_147_483_493;

/** Julian days need no years: PostgreSQL has 1 BC for the year 0. Day 0 is its first one, in 4714 BC. */
function instantText(micros: bigint, counts: ReplacementCounts): string {
  if (micros === INFINITE_MICROS) return "infinity";
  if (micros === -INFINITE_MICROS) return "-infinity";
  const julian = micros + BigInt(JULIAN_DAY_OF_1970) * DAY_MICROS;
  if (julian < 0n) return infinityText("-", counts);
  const time = new Date(Number((julian % DAY_MICROS) / 1000n)).toISOString().slice(11, 23);
  return `J${julian / DAY_MICROS} ${time}${String(julian % 1000n).padStart(3, "0")}Z`;
}

function dateText(days: number, counts: ReplacementCounts): string {
  if (days === INFINITE_DAYS) return "infinity";
  if (days === -INFINITE_DAYS) return "-infinity";
  const julian = days + JULIAN_DAY_OF_1970;
  if (julian < 0) return infinityText("-", counts);
  return julian > LAST_JULIAN_DAY ? infinityText("", counts) : `J${julian}`;
}

function infinityText(sign: "" | "-", counts: ReplacementCounts): string {
  counts.far += 1;
  return `${sign}infinity`;
}

/**
 * Creates a schema and all tables with their rows, then all keys and indexes: PostgreSQL names an index so that it differs
 * from all tables. Gives a sentence for each table that differs from the run.
 */
export async function makeSchema(
  connection: PostgresConnection,
  schema: string,
  run: DeliveredRun,
): Promise<readonly string[]> {
  await connection.ask(`CREATE SCHEMA ${quoteIdentifier(schema)}`);
  const { tables, signal } = run;
  const notes: string[][] = [];
  for (const [index, table] of tables.entries()) {
    signal.throwIfAborted();
    run.onProgress(index, tables.length);
    notes.push(await copyTable(connection, table));
  }
  const warnings: string[] = [];
  for (const [index, { table }] of tables.entries()) {
    signal.throwIfAborted();
    const all = [...(notes[index] ?? []), ...(await completeTable(connection, table))];
    if (all.length > 0)
      warnings.push(
        `In PostgreSQL the table ${printable(table.name)} has ${printable(all.join("; "), 2000)}.`,
      );
  }
  run.onProgress(tables.length, tables.length);
  return warnings;
}
