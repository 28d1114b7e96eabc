/** The programs of a user's own tables, watched: what they give is checked before it becomes a column. */
import { WarehouseError } from "../common/errors.ts";
import type { Pipeline } from "../pipeline.ts";
import { printable } from "../common/printable.ts";
import type { Column, ColumnType, Table } from "../tables/declare.ts";
import type { Cell } from "../storage/table-builder.ts";
import type { OwnItem, OwnRows } from "../transform/item.ts";
import { deeplyFrozen } from "../raw/document.ts";

type Row = Readonly<Record<string, Cell>>;

/**
 * The same programs, with `content_id` filled in. A program that throws, names a column that the table has not, leaves
 * out a required one or gives a value of another type ends the run with `config.invalid`, which names table and item.
 */
export function watchedOwnRows({ tables, own }: Pick<Pipeline, "tables" | "own">): Record<string, OwnRows> {
  const watched = tables.flatMap((table): [string, OwnRows][] => {
    const rows = own[table.name];
    return rows === undefined ? [] : [[table.name, watch(table, rows)]];
  });
  return Object.fromEntries(watched);
}

function watch(table: Table, rows: OwnRows): OwnRows {
  const names = new Set(table.columns.map(({ name }) => name));
  return function* watchedRows(item) {
    for (const row of rowsFor(table, rows, item)) {
      const whole: Row = { ...row, content_id: item.contentId };
      const stranger = Object.keys(whole).find((name) => !names.has(name));
      if (stranger !== undefined) throw failed(table, item, `it has no column ${printable(stranger)}`);
      for (const column of table.columns) check(table, item, column, whole[column.name] ?? null);
      yield whole;
    }
  };
}

function* rowsFor(table: Table, rows: OwnRows, item: OwnItem): Generator<Row> {
  try {
    const given: Iterable<Row> | undefined = rows(unchangeable(item));
    if (typeof given !== "object" || given === null || !(Symbol.iterator in given)) {
      throw new TypeError("`rows` must return a list of rows, or be a generator; it cannot be async");
    }
    yield* given;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    throw failed(table, item, `its program failed: ${printable(message)}`, thrown);
  }
}

/** A program that changed a document would change rows of other tables, and of other items. */
function unchangeable(item: OwnItem): OwnItem {
  for (const document of [item.dynamic, item.full]) if (document !== undefined) deeplyFrozen(document);
  return item;
}

const FITTING: Readonly<
  Record<ColumnType, { readonly what: string; readonly fits: (cell: Cell) => boolean }>
> = {
  text: { what: "a text", fits: (cell) => typeof cell === "string" },
  json: { what: "JSON as text", fits: (cell) => typeof cell === "string" },
  boolean: { what: "true or false", fits: (cell) => typeof cell === "boolean" },
  double: { what: "a number", fits: (cell) => typeof cell === "number" },
  integer: {
    what: "a whole number of 32 bits",
    fits: (cell) => typeof cell === "number" && (cell | 0) === cell,
  },
  bigint: { what: "a whole number", fits: (cell) => typeof cell === "bigint" || Number.isSafeInteger(cell) },
  timestamp: { what: "microseconds since 1970 as a whole number", fits: Number.isSafeInteger },
  date: { what: "days since 1970 as a whole number", fits: Number.isSafeInteger },
};

function check(table: Table, item: OwnItem, column: Column, cell: Cell): void {
  const { what, fits } = FITTING[column.type];
  if (cell === null ? column.nullable : fits(cell)) return;
  throw failed(table, item, `column ${column.name} takes ${what}, not ${printable(shown(cell), 60)}`);
}

function shown(cell: Cell): string {
  return typeof cell === "string" ? `"${cell}"` : String(cell);
}

function failed(table: Table, item: OwnItem, what: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "config.invalid",
    `The table ${table.name} of the pipeline cannot be made of item ${printable(item.contentId)}: ${what}.`,
    { cause },
  );
}
