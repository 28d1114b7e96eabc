/** Checks what the functions of custom tables return, before it becomes cells. */
import { fileURLToPath } from "node:url";
import { WarehouseError } from "../common/errors.ts";
import { didYouMean } from "../common/nearest.ts";
import { describeValue, printable } from "../common/printable.ts";
import type { ItemDocuments, Pipeline, Row } from "../pipeline.ts";
import { deeplyFrozen, type RawItem, type Shape } from "../raw/document.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { ColumnType, Table } from "../tables/declare.ts";
import type { RowMaker } from "./rows.ts";

type RowFunction = Pipeline["rows"][string];

/**
 * Rows of a custom table for an item, checked and with `content_id`. A function that throws, or returns a row that does not
 * fit, throws `config.invalid` with table and item.
 */
export function* checkedRows(table: Table, rows: RowFunction, item: ItemDocuments): Generator<Row> {
  const { contentId } = item;
  const names = new Set(table.columns.map(({ name }) => name));
  const fail = (what: string, cell?: unknown) =>
    failed(table, contentId, cell === undefined ? what : `${what} ${printable(describeValue(cell), 60)}`);
  for (const row of callRows(table, rows, item)) {
    if (!isRow(row))
      throw fail(`a row is an object with columns by name, not ${printable(describeValue(row), 60)}`);
    const given = row.content_id ?? contentId;
    if (given !== contentId) throw fail("content_id is set by the program and cannot be", given);
    const whole: Row = { ...row, content_id: contentId };
    const unknown = Object.keys(whole).find((name) => !names.has(name));
    if (unknown !== undefined)
      throw fail(`it has no column ${printable(unknown)}${didYouMean(unknown, names)}`);
    for (const { name, type, nullable } of table.columns) {
      const cell = whole[name] ?? null;
      const [what, fits] = CELL_RULES[type];
      if (cell === null ? !nullable : !fits(cell)) throw fail(`column ${name} takes ${what}, not`, cell);
    }
    yield whole;
  }
}

/** Makes the rows of a custom table by its function. */
export function customRows(table: Table, custom: RowFunction): RowMaker {
  return (item, emit) => {
    for (const row of checkedRows(table, custom, documentsOf(item)))
      emit(table.columns.map((column) => row[column.name] ?? null));
  };
}

/** The unchecked documents of an item. As in tables, a key that a later document lacks comes from an earlier one. */
function documentsOf({ contentId, views }: RawItem): ItemDocuments {
  const document = (shape: Shape) => {
    const [latest, ...earlier] = views.filter((view) => view.shape === shape).map((view) => view.document);
    if (latest === undefined || earlier.length === 0) return latest;
    return Object.fromEntries([...earlier.reverse(), latest].flatMap((each) => Object.entries(each)));
  };
  return { contentId, dynamic: document("dynamic"), full: document("full") } as ItemDocuments;
}

/** An object without columns must be `{}`: a Date, a Map or a promise would pass for a row of NULLs. */
function isRow(row: unknown): row is Row {
  if (typeof row !== "object" || row === null || Array.isArray(row)) return false;
  return Object.keys(row).length > 0 || [Object.prototype, null].includes(Object.getPrototypeOf(row));
}

/** Calls the function of a table. The documents are frozen: a change would show in other tables and items. */
function* callRows(table: Table, rows: RowFunction, item: ItemDocuments): Generator<Row> {
  for (const document of [item.dynamic, item.full]) if (document !== undefined) deeplyFrozen(document);
  try {
    const returned: Iterable<Row> | undefined = rows(item);
    if (typeof returned !== "object" || returned === null || !(Symbol.iterator in returned)) {
      throw new TypeError("`rows` must return a list of rows, or be a generator; it cannot be async");
    }
    yield* returned;
  } catch (thrown) {
    // Anything can be thrown, and a message can be anything.
    const message = thrown instanceof Error ? thrown.message : thrown;
    const text = printable(typeof message === "string" ? message : describeValue(message));
    throw failed(table, item.contentId, `its function failed: ${text}${locationOf(thrown)}`, thrown);
  }
}

function failed(table: Table, contentId: string, what: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "config.invalid",
    `The table ${table.name} of the pipeline cannot be made from item ${printable(contentId)}: ${what}.`,
    { cause },
  );
}

const CELL_RULES: Readonly<Record<ColumnType, readonly [what: string, fits: (cell: Cell) => boolean]>> = {
  text: ["a text of whole characters", isText],
  json: ["JSON as text", isJson],
  boolean: ["true or false", (cell) => typeof cell === "boolean"],
  double: ["a number", (cell) => typeof cell === "number"],
  integer: ["a whole number of 32 bits", (cell) => typeof cell === "number" && (cell | 0) === cell],
  bigint: [
    "a whole number of 64 bits",
    (cell) => (typeof cell === "bigint" ? BigInt.asIntN(64, cell) === cell : Number.isSafeInteger(cell)),
  ],
  timestamp: ["microseconds since 1970 as a whole number", Number.isSafeInteger],
  // The two days at the ends stand for infinity.
  date: [
    "days since 1970 as a whole number",
    (cell) => Number.isSafeInteger(cell) && Math.abs(Number(cell)) < 2 ** 31 - 1,
  ],
};

/** Refuses half of a surrogate pair, which Parquet and DuckDB would replace by another character. */
function isText(cell: Cell): cell is string {
  return typeof cell === "string" && cell.isWellFormed();
}

const ESCAPED_HALF = /(?<!\\)(?:\\\\)*\\ud[89a-f]/i;

function isJson(cell: Cell): boolean {
  if (!isText(cell)) return false;
  try {
    const value: unknown = JSON.parse(cell);
    // DuckDB takes no text with half of a surrogate pair. JSON.stringify escapes such halves, and no others.
    return !ESCAPED_HALF.test(cell) || !ESCAPED_HALF.test(JSON.stringify(value));
  } catch {
    return false;
  }
}

/** Where in the user's files an error was thrown: `, at titles.ts:17`. Frames in packages come second. */
export function locationOf(thrown: unknown): string {
  const stack = thrown instanceof Error && typeof thrown.stack === "string" ? thrown.stack : "";
  const places = stack.split("\n").flatMap((frame) => {
    const [, file = "", line = ""] = FRAME.exec(frame) ?? [];
    if (file === "" || file.startsWith(OWN_SOURCES)) return [];
    return [{ path: file.startsWith("file:") ? fileURLToPath(file) : file, line }];
  });
  const place = places.find(({ path }) => !path.includes("/node_modules/")) ?? places[0];
  return place === undefined ? "" : `, at ${printable(place.path, 1000)}:${place.line}`;
}

/** A stack frame: ES modules have a URL, CommonJS modules a path. */
const FRAME = /^\s+at (?:.* \()?((?:file:\/\/|\/).*):(\d+):\d+\)?$/;
const OWN_SOURCES = new URL("../", import.meta.url).href;
