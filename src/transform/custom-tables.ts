/** The functions of custom tables, watched: what they give is checked before it becomes a column. */

import { describeValue } from "../common/describe-value.ts";
import { didYouMean } from "../common/nearest.ts";
import { printable } from "../common/printable.ts";
import type { ItemDocuments, Pipeline, Row } from "../pipeline.ts";
import { deeplyFrozen } from "../raw/document.ts";
import type { Table } from "../tables/declare.ts";
import { assertFits, failed, failedBy } from "./fitting.ts";
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
          item.contentId,
          `a row is an object with columns by name, not ${printable(describeValue(row), 60)}`,
        );
      const own = row.content_id ?? item.contentId;
      if (own !== item.contentId)
        throw failed(
          table,
          item.contentId,
          `content_id is filled in, and cannot be ${printable(describeValue(own), 60)}`,
        );
      const whole: Row = { ...row, content_id: item.contentId };
      const stranger = Object.keys(whole).find((name) => !names.has(name));
      if (stranger !== undefined)
        throw failed(
          table,
          item.contentId,
          `it has no column ${printable(stranger)}${didYouMean(stranger, names)}`,
        );
      for (const column of table.columns)
        assertFits(table, column, { contentId: item.contentId, cell: whole[column.name] ?? null });
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
    throw failedBy(thrown, table, { contentId: item.contentId, what: "its function" });
  }
}

/** A function that changed a document would change rows of other tables, and of other items. */
function unchangeable(item: ItemDocuments): ItemDocuments {
  for (const document of [item.dynamic, item.full]) if (document !== undefined) deeplyFrozen(document);
  return item;
}
