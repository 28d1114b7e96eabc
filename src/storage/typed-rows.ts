/** Reads rows of a query as declared columns, and checks names and types. */
import {
  type DuckDBConnection,
  DuckDBListValue,
  DuckDBTimestampTZValue,
  type DuckDBValue,
} from "@duckdb/node-api";
import type { AnswerCell, AnswerColumn, AnswerColumns, AnswerRow, CellKind } from "../common/answer.ts";
import { all, type QueryParams, stream, toSafeInteger } from "./duckdb.ts";

/**
 * All rows of a query; `contentId` reads the column `content_id`. Throws a TypeError if the query lacks a column or has a
 * value of another kind in it.
 */
export async function readRows<const C extends AnswerColumns>(
  connection: DuckDBConnection,
  columns: C,
  sql: string,
  params: QueryParams = [],
): Promise<AnswerRow<C>[]> {
  const rows = await all(connection, sql, params);
  return rows.map((row) =>
    rowBy(columns, (name) => (row[name] === undefined ? row[snakeCase(name)] : row[name])),
  );
}

/** Rows of a query in batches, as they arrive. */
export async function* streamRows<const C extends AnswerColumns>(
  connection: DuckDBConnection,
  columns: C,
  sql: string,
): AsyncIterable<AnswerRow<C>[]> {
  const result = await stream(connection, sql);
  const places = new Map(result.deduplicatedColumnNames().map((name, index) => [name, index]));
  for await (const rows of result.yieldRows()) {
    yield rows.map((row) =>
      rowBy(columns, (name) => row[places.get(name) ?? places.get(snakeCase(name)) ?? -1]),
    );
  }
}

function rowBy<C extends AnswerColumns>(
  columns: C,
  valueIn: (name: string) => DuckDBValue | undefined,
): AnswerRow<C> {
  const cells = Object.entries(columns).map(([name, column]) => [name, cellBy(name, column, valueIn(name))]);
  return Object.fromEntries(cells);
}

function cellBy(
  name: string,
  { kind, required, of }: AnswerColumn,
  value: DuckDBValue | undefined,
): AnswerCell {
  if (value === undefined) throw new TypeError(`the query has no column ${name}`);
  const cell = value === null ? null : CELLS[kind](value);
  const isAllowed = of === undefined || cell === null || of.some((text) => text === cell);
  if (cell === undefined || !isAllowed) throw new TypeError(`${name} is no ${kind}: ${String(value)}`);
  if (cell !== null || required !== true) return cell;
  // A required flag is false for NULL.
  if (kind === "flag") return false;
  throw new TypeError(`${name} is empty`);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type Given = Exclude<DuckDBValue, null>;

const text = (value: Given) => (typeof value === "string" ? value : undefined);
const number = (value: Given) => (typeof value === "number" ? value : toSafeInteger(value));

/** Converts values by kind; `undefined` if a value is of another kind. */
const CELLS: Readonly<Record<CellKind, (value: Given) => AnswerCell | undefined>> = {
  text,
  name: text,
  count: toSafeInteger,
  bytes: toSafeInteger,
  milliseconds: number,
  flag: (value) => (typeof value === "boolean" ? value : undefined),
  instant: (value) =>
    value instanceof DuckDBTimestampTZValue ? new Date(Number(value.micros / 1000n)) : undefined,
  list: (value) => (value instanceof DuckDBListValue ? value.items.map(String) : undefined),
};
