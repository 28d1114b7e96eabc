/** Up to three rows that fail a check, shortened, for the column `examples` of `run_checks`. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { isObject, parseIfJson } from "../../common/json.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { driftExample } from "../../raw/drift.ts";
import { all, type QueryParams } from "../../storage/duckdb.ts";

const MAX_ROWS = 3;
/** Longest row, in characters of its JSON. */
const MAX_ROW_LENGTH = 2000;

/** Alias of a whole row, chosen so that no column has this name. */
const ROW = '"the row that fails"';

/** The first three rows of a FROM clause by their JSON text, so that the engine's order does not matter. */
export async function failingRows(
  connection: DuckDBConnection,
  from: string,
  params: QueryParams = [],
): Promise<string[]> {
  const rows = await all(
    connection,
    `SELECT unnest(min(example, ${MAX_ROWS})) AS example
     FROM (SELECT to_json(${ROW})::VARCHAR AS example FROM ${from} AS ${ROW})`,
    params,
  );
  return rows.map(({ example }) => String(example));
}

/** Reads failing rows as a JSON list of objects; undefined if there are none. */
export async function readExamples(
  connection: DuckDBConnection,
  from: string,
  params: QueryParams = [],
): Promise<string | undefined> {
  return examplesOf(await failingRows(connection, from, params));
}

/** The first three of rows in JSON as a JSON list of objects; undefined if there are none. */
export function examplesOf(rows: readonly string[]): string | undefined {
  const first = rows.toSorted(compareUtf8).slice(0, MAX_ROWS);
  return first.length === 0 ? undefined : `[${first.map(shortenRow).join(",")}]`;
}

/** Cuts long cells, and leaves out the last cells of a long row. */
function shortenRow(text: string): string {
  const row = parseIfJson(text);
  // DuckDB writes NaN and infinity, which are not JSON.
  if (!isObject(row)) return JSON.stringify({ row: driftExample(text) });
  const cells: [string, unknown][] = [];
  let length = 2;
  for (const [name, value] of Object.entries(row)) {
    const short = driftExample(value);
    const isWhole = short === (typeof value === "string" ? value : JSON.stringify(value));
    const cell = isWhole ? value : short.toWellFormed();
    length += JSON.stringify([name, cell]).length;
    if (length <= MAX_ROW_LENGTH) cells.push([name, cell]);
  }
  return JSON.stringify(Object.fromEntries(cells));
}
