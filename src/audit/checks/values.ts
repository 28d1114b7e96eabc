/** Values that the specification lists, and others: both are kept as they come, and the others are told. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { printable } from "../../common/printable.ts";
import { all, scalar } from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Table } from "../../tables/declare.ts";
import type { Check } from "./checks.ts";

const VIEWERS = ["none", "pdf", "doc_provider", "photo", "video", "audio"];

/** Table, column, and the values that the specification lists for it. */
const LISTED: readonly (readonly [table: string, column: string, values: readonly string[]])[] = [
  ["content", "state", ["production", "promotion", "completed"]],
  ["content", "progress_stage", ["planned", "in_progress", "complete"]],
  ["content", "viewer_compatibility", VIEWERS],
  ["content_gallery", "gallery_viewer_compatibility", VIEWERS],
];

const EXAMPLES = 5;

/** One check for each listed column: how many rows have another value, and which. */
export async function valueChecks(connection: DuckDBConnection, tables: readonly Table[]): Promise<Check[]> {
  const names = new Set(tables.map(({ name }) => name));
  const checks: Check[] = [];
  for (const [table, column, values] of LISTED.filter(([table]) => names.has(table))) {
    checks.push(await valueCheck(connection, { table, column, values }));
  }
  return checks;
}

async function valueCheck(
  connection: DuckDBConnection,
  { table, column, values }: { table: string; column: string; values: readonly string[] },
): Promise<Check> {
  const name = quoteIdentifier(column);
  const listed = values.map((_, i) => `$${i + 1}`).join(", ");
  const others = `FROM ${quoteIdentifier(table)} WHERE ${name} NOT IN (${listed})`;
  const count = await scalar(connection, `SELECT count(*) ${others}`, values);
  const found =
    count === 0
      ? []
      : await all(
          connection,
          `SELECT ${name} AS value, count(*) ${others} GROUP BY ALL ORDER BY count(*) DESC, value LIMIT ${EXAMPLES}`,
          values,
        );
  return {
    name: `${table}.${column} has only values that the specification lists`,
    verdict: count === 0 ? "passed" : "warning",
    figure: count,
    expected: 0,
    detail: found.map(({ value }) => printable(String(value), 60)).join(", "),
  };
}
