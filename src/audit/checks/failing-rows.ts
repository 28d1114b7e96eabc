/** Rows that fail a check: how many there are, and three of them, shortened, as they stand beside it in `run_checks`. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { isObject, parseIfJson } from "../../common/json.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { driftExample } from "../../raw/drift.ts";
import { all, type QueryParams } from "../../storage/duckdb.ts";

/** Rows that stand beside a check. */
const ROWS = 3;
/** Characters of such a row, at most. */
const ROW_LENGTH = 2000;

/** A name that no column has: then it is the row. */
const ROW = '"the row that fails"';

/** The first rows that `from` gives, by their text: the same in whatever order the engine finds them. Each is JSON. */
export async function failingRows(
  connection: DuckDBConnection,
  from: string,
  params: QueryParams = [],
): Promise<string[]> {
  const rows = await all(
    connection,
    `SELECT unnest(min(example, ${ROWS})) AS example
     FROM (SELECT to_json(${ROW})::VARCHAR AS example FROM ${from} AS ${ROW})`,
    params,
  );
  return rows.map(({ example }) => String(example));
}

/** The first of them all as a JSON list of objects; undefined: there are none. */
export function examplesIn(rows: readonly string[]): string | undefined {
  const first = rows.toSorted(compareUtf8).slice(0, ROWS);
  return first.length === 0 ? undefined : `[${first.map(shortened).join(",")}]`;
}

/** Long cells are cut, and what no longer fits is left out. */
function shortened(text: string): string {
  const row = parseIfJson(text);
  // NaN and infinity are no JSON.
  if (!isObject(row)) return JSON.stringify({ row: driftExample(text) });
  const cells: [string, unknown][] = [];
  let length = 2;
  for (const [name, value] of Object.entries(row)) {
    const cell = shortCell(value);
    length += JSON.stringify([name, cell]).length;
    if (length <= ROW_LENGTH) cells.push([name, cell]);
  }
  return JSON.stringify(Object.fromEntries(cells));
}

function shortCell(value: unknown): unknown {
  const text = driftExample(value);
  const isWhole = text === (typeof value === "string" ? value : JSON.stringify(value));
  return isWhole ? value : text.toWellFormed();
}
