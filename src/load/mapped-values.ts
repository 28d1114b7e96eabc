/** Fills the tables of mapped values and payloads, a range of items at a time so that memory stays bounded. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, execute, type SqlQuery } from "../storage/duckdb.ts";
import { type IdRange, type RangeBounds, rangesOf } from "../storage/id-ranges.ts";
import { type DatabaseConnections, mapLimited, mapParallel } from "../storage/parallel.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import { historySql, loadSql } from "./load-sql.ts";

/** Number of mapped values in a range of items with which each step keeps to the database's memory limit. */
export const MAPPED_VALUES_PER_RANGE = 100_000;

/** Steps that join the definitions, each from those before it. */
export const MAPPING_STEPS = ["mapping_targets", "mapping_inputs", "mapping_answers"] as const;

/** Joins the definitions into temporary tables of this connection, which the steps read. */
export async function prepareMappings(connection: DuckDBConnection): Promise<void> {
  for (const name of MAPPING_STEPS) {
    await execute(connection, `CREATE OR REPLACE TEMP TABLE ${quoteIdentifier(name)} AS ${loadSql(name)}`);
  }
}

/** Rows of `content_mapped_values` of a range of items, in key order. */
export function mappedValuesQuery(range: IdRange): SqlQuery {
  return { text: loadSql("mapped_values"), params: rangeParams(range) };
}

/** Values of `$1` and `$2` of a step over a range of items. */
export function rangeParams(range: IdRange): [lower: string, upper: string | null] {
  return [range.lower ?? "", range.upper ?? null];
}

/** First items of ranges with a weight of about `weightPerRange`. `weights`: query for the weight of each `content_id`. */
export async function rangeStarts(
  connection: DuckDBConnection,
  weights: SqlQuery,
  weightPerRange: number,
): Promise<string[]> {
  const place = `(sum(weight) OVER (ORDER BY content_id) - 1) // ${weightPerRange} AS place`;
  const rows = await all(
    connection,
    `SELECT min(content_id) AS first_id FROM (SELECT content_id, ${place} FROM (${weights.text}))
     GROUP BY place ORDER BY first_id`,
    weights.params,
  );
  return rows.map((row) => String(row.first_id));
}

/** Bounds of ranges of about `rowsPerRange` mapped values, within ranges of items. The values of an item stay together. */
export async function mappedValueBounds(
  connection: DuckDBConnection,
  itemBounds: RangeBounds,
  rowsPerRange: number,
): Promise<RangeBounds> {
  const bounds: string[] = [];
  for (const range of rangesOf(itemBounds)) {
    const weights = { text: loadSql("mapped_value_weights"), params: rangeParams(range) };
    bounds.push(...(await rangeStarts(connection, weights, rowsPerRange)));
  }
  return bounds;
}

/**
 * Fills both tables, which exist and are empty, on all connections. Returns the bounds of its ranges, by which the tables
 * can be exported. After an error the connections cannot be used. Memory depends on `rowsPerRange`, of which
 * {@link MAPPED_VALUES_PER_RANGE} is the usual value.
 */
export async function fillDerivedTables(
  connections: DatabaseConnections,
  {
    itemBounds,
    rowsPerRange,
    passthrough,
  }: { readonly itemBounds: RangeBounds; readonly rowsPerRange: number; readonly passthrough: boolean },
): Promise<RangeBounds> {
  await mapLimited(connections, prepareMappings, connections.length);
  const bounds = await mappedValueBounds(connections[0], itemBounds, rowsPerRange);
  // Without a transaction, incomplete row groups would wait in memory, uncompressed, for the checkpoint.
  for (const connection of connections) await execute(connection, "BEGIN TRANSACTION");
  await mapParallel(connections, rangesOf(bounds), async (connection, range) => {
    const mapped = mappedValuesQuery(range);
    await execute(connection, `INSERT INTO content_mapped_values BY NAME (${mapped.text})`, mapped.params);
    const payloads = `INSERT INTO content_external_payloads BY NAME (${historySql("external_payloads")})`;
    await execute(connection, payloads, [...rangeParams(range), passthrough]);
  });
  for (const connection of connections) await execute(connection, "COMMIT");
  return bounds;
}
