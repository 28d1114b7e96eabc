/** Rows that fail a check: how many there are, and three of them, shortened, as they stand beside it in `run_checks`. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { parseIfJson } from "../../common/json.ts";
import { isObject } from "../../common/objects.ts";
import { driftExample } from "../../raw/drift.ts";
import { all, type Params } from "../../storage/duckdb.ts";

/** Rows that stand beside a check. */
const ROWS = 3;
/** Characters of such a row, at most. */
const ROW_LENGTH = 2000;

/** A name that no column has: then it is the row. */
const ROW = '"the row that fails"';

/**
 * The first of the rows that `from` gives, as a JSON list of objects; undefined: it gives none. They are in the order of
 * their texts, so that they are the same in whatever order the engine finds them.
 */
export async function failingRows(
  connection: DuckDBConnection,
  from: string,
  params: Params = [],
): Promise<string | undefined> {
  const rows = await all(
    connection,
    `SELECT unnest(min(example, ${ROWS})) AS example
     FROM (SELECT to_json(${ROW})::VARCHAR AS example FROM ${from} AS ${ROW})`,
    params,
  );
  return rows.length === 0
    ? undefined
    : `[${rows.map(({ example }) => shortened(String(example))).join(",")}]`;
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
