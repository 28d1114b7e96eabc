/** Checks what the functions of custom tables give, before it becomes cells. */
import { fileURLToPath } from "node:url";
import { describeValue } from "../common/describe-value.ts";
import { WarehouseError } from "../common/errors.ts";
import { printable } from "../common/printable.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Column, ColumnType, Table } from "../tables/declare.ts";

const FITTING: Readonly<Record<ColumnType, readonly [what: string, fits: (cell: Cell) => boolean]>> = {
  text: ["a text of whole characters", isText],
  json: ["JSON as text", isJson],
  boolean: ["true or false", (cell) => typeof cell === "boolean"],
  double: ["a number", (cell) => typeof cell === "number"],
  integer: ["a whole number of 32 bits", (cell) => typeof cell === "number" && (cell | 0) === cell],
  bigint: ["a whole number of 64 bits", isBigint],
  timestamp: ["microseconds since 1970 as a whole number", Number.isSafeInteger],
  date: ["days since 1970 as a whole number", isDay],
};

function isBigint(cell: Cell): boolean {
  return typeof cell === "bigint" ? BigInt.asIntN(64, cell) === cell : Number.isSafeInteger(cell);
}

const HALF = /(?<!\\)(?:\\\\)*\\ud[89a-f]/i;

/** Half of a character is no text: Parquet and DuckDB would have another character in its place. */
function isText(cell: Cell): cell is string {
  return typeof cell === "string" && cell.isWellFormed();
}

function isJson(cell: Cell): boolean {
  if (!isText(cell)) return false;
  try {
    const value: unknown = JSON.parse(cell);
    // Half of a character, escaped: DuckDB takes no such text. That is how JSON.stringify writes it.
    return !HALF.test(cell) || !HALF.test(JSON.stringify(value));
  } catch {
    return false;
  }
}

/** Days that a DATE has, five million years before and after: the two at either end stand for infinity. */
function isDay(cell: Cell): boolean {
  return Number.isSafeInteger(cell) && Math.abs(Number(cell)) < 2 ** 31 - 1;
}

/** Errors: `config.invalid`, with table, item and column. */
export function assertFits(
  table: Table,
  column: Column,
  { contentId, cell }: { readonly contentId: string; readonly cell: Cell },
): void {
  const [what, fits] = FITTING[column.type];
  if (cell === null ? column.nullable : fits(cell)) return;
  throw failed(
    table,
    contentId,
    `column ${column.name} takes ${what}, not ${printable(describeValue(cell), 60)}`,
  );
}

export function failed(table: Table, contentId: string, what: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "config.invalid",
    `The table ${table.name} of the pipeline cannot be made from item ${printable(contentId)}: ${what}.`,
    { cause },
  );
}

/** The same of a function that has thrown, with the place in the user's own files. */
export function failedBy(
  thrown: unknown,
  table: Table,
  { contentId, what }: { readonly contentId: string; readonly what: string },
): WarehouseError {
  return failed(table, contentId, `${what} failed: ${messageOf(thrown)}${placeOf(thrown)}`, thrown);
}

/** Anything can be thrown, and a message can be anything. */
function messageOf(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : thrown;
  return printable(typeof message === "string" ? message : describeValue(message));
}

/** Where in the user's own files an error was thrown: `, at titles.ts:17`. What they call in packages is not theirs. */
export function placeOf(thrown: unknown): string {
  const stack = thrown instanceof Error && typeof thrown.stack === "string" ? thrown.stack : "";
  const places = stack.split("\n").flatMap((frame) => {
    const [, file = "", line = ""] = FRAME.exec(frame) ?? [];
    if (file === "" || file.startsWith(OWN_SOURCES)) return [];
    return [{ path: file.startsWith("file:") ? fileURLToPath(file) : file, line }];
  });
  const place = places.find(({ path }) => !path.includes("/node_modules/")) ?? places[0];
  return place === undefined ? "" : `, at ${printable(place.path, 1000)}:${place.line}`;
}

/** Of an ES module by its URL, of a CommonJS module by its path. */
const FRAME = /^\s+at (?:.* \()?((?:file:\/\/|\/).*):(\d+):\d+\)?$/;
const OWN_SOURCES = new URL("../", import.meta.url).href;
