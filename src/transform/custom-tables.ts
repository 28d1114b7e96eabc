/** The functions of custom tables, watched: what they give is checked before it becomes a column. */
import { fileURLToPath } from "node:url";
import { WarehouseError } from "../common/errors.ts";
import { hint } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";
import { shown } from "../common/shown.ts";
import type { ItemDocuments, Pipeline, Row } from "../pipeline.ts";
import { deeplyFrozen } from "../raw/document.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { Column, ColumnType, Table } from "../tables/declare.ts";
import type { RowsOfItem } from "./item.ts";

/** The same with `content_id`; one that throws or gives what does not fit is `config.invalid`, with table and item. */
export function watchedRows({
  tables,
  rows: functions,
}: Pick<Pipeline, "tables" | "rows">): Record<string, RowsOfItem> {
  const watched = tables.flatMap((table): [string, RowsOfItem][] => {
    const rows = functions[table.name];
    return rows === undefined ? [] : [[table.name, watch(table, rows)]];
  });
  return Object.fromEntries(watched);
}

function watch(table: Table, rows: RowsOfItem): RowsOfItem {
  const names = new Set(table.columns.map(({ name }) => name));
  return function* watchedRows(item) {
    for (const row of rowsFor(table, rows, item)) {
      if (!isRow(row))
        throw failed(
          table,
          item,
          `a row is an object with columns by name, not ${printable(shown(row), 60)}`,
        );
      const own = row.content_id ?? item.contentId;
      if (own !== item.contentId)
        throw failed(table, item, `content_id is filled in, and cannot be ${printable(shown(own), 60)}`);
      const whole: Row = { ...row, content_id: item.contentId };
      const stranger = Object.keys(whole).find((name) => !names.has(name));
      if (stranger !== undefined)
        throw failed(table, item, `it has no column ${printable(stranger)}${hint(stranger, names)}`);
      for (const column of table.columns) check(table, item, column, whole[column.name] ?? null);
      yield whole;
    }
  };
}

/** What has no columns must be `{}` itself: a Date, a Map or a promise would pass for a row of NULLs. */
function isRow(row: unknown): row is Row {
  if (typeof row !== "object" || row === null || Array.isArray(row)) return false;
  return Object.keys(row).length > 0 || [Object.prototype, null].includes(Object.getPrototypeOf(row));
}

function* rowsFor(table: Table, rows: RowsOfItem, item: ItemDocuments): Generator<Row> {
  try {
    const given: Iterable<Row> | undefined = rows(unchangeable(item));
    if (typeof given !== "object" || given === null || !(Symbol.iterator in given)) {
      throw new TypeError("`rows` must return a list of rows, or be a generator; it cannot be async");
    }
    yield* given;
  } catch (thrown) {
    throw failed(table, item, `its function failed: ${messageOf(thrown)}${placeOf(thrown)}`, thrown);
  }
}

/** Anything can be thrown, and a message can be anything. */
function messageOf(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : thrown;
  return printable(typeof message === "string" ? message : shown(message));
}

/** A function that changed a document would change rows of other tables, and of other items. */
function unchangeable(item: ItemDocuments): ItemDocuments {
  for (const document of [item.dynamic, item.full]) if (document !== undefined) deeplyFrozen(document);
  return item;
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

function check(table: Table, item: ItemDocuments, column: Column, cell: Cell): void {
  const [what, fits] = FITTING[column.type];
  if (cell === null ? column.nullable : fits(cell)) return;
  throw failed(table, item, `column ${column.name} takes ${what}, not ${printable(shown(cell), 60)}`);
}

function failed(table: Table, item: ItemDocuments, what: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "config.invalid",
    `The table ${table.name} of the pipeline cannot be made from item ${printable(item.contentId)}: ${what}.`,
    { cause },
  );
}
