/**
 * The set-based steps that fill the derived tables, a range of items at a time so that memory stays bounded. They read
 * the definitions, their mappings, `destinations` and `content_custom_field_values`.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { all, execute, type SqlQuery } from "../storage/duckdb.ts";
import { type IdRange, type RangeBounds, rangesOf } from "../storage/id-ranges.ts";
import { type ConnectionPool, mapParallel, runOnEach } from "../storage/parallel.ts";
import { fillMarks, quoteIdentifier } from "../storage/sql-text.ts";
import { loadSql, payloadSql } from "./load-sql.ts";

/** Mapped values in a range of items: with so many, each step keeps to the memory that a run gives the database. */
export const LEDGER_ROWS_PER_RANGE = 100_000;

const PREPARED = ["mapping_targets", "mapping_inputs", "mapping_answers"] as const;

/** Joins the definitions into temporary tables of this connection, which the steps read; again when one has changed. */
export async function prepareMappings(connection: DuckDBConnection): Promise<void> {
  for (const name of PREPARED) {
    await execute(connection, `CREATE OR REPLACE TEMP TABLE ${quoteIdentifier(name)} AS ${loadSql(name)}`);
  }
}

/** What makes the rows of content_custom_field_values from staged ones, which stand in place of the mark `staged`. */
export function customFieldValuesSql(): string {
  return fillMarks(loadSql("custom_field_values"), { mapping_inputs: loadSql("mapping_inputs") });
}

/** Mapped values of a range of items, in key order, with the columns of their table; `COPY` takes it too. */
export function mappedValuesOf(range: IdRange): SqlQuery {
  return { text: loadSql("mapped_values"), params: ends(range) };
}

/** The same of payloads, from the mapped values that are filled. `passthrough` as in {@link FillRequest}. */
export function payloadsOf(range: IdRange, passthrough: boolean): SqlQuery {
  return { text: payloadSql("external_payloads"), params: [...ends(range), passthrough] };
}

/** Bounds of ranges of about `rowsPerRange` mapped values, within ranges of items. An item is never cut. */
export async function ledgerBounds(
  connection: DuckDBConnection,
  itemBounds: RangeBounds,
  rowsPerRange: number,
): Promise<RangeBounds> {
  const bounds: string[] = [];
  for (const range of rangesOf(itemBounds)) {
    const rows = await all(connection, loadSql("mapped_value_ranges"), [...ends(range), rowsPerRange]);
    bounds.push(...rows.map((row) => String(row.first_id)));
  }
  return bounds;
}

interface FillRequest {
  /** Values of fields without value mappings join the payload as they are. */
  readonly passthrough: boolean;
  /** Ranges of items; none of its own crosses one. */
  readonly itemBounds: RangeBounds;
  /** What decides about memory: {@link LEDGER_ROWS_PER_RANGE}. */
  readonly rowsPerRange: number;
}

/**
 * Fills both derived tables, which exist and are empty, on as many connections at a time as are given. Answers the
 * bounds of its ranges, by which the tables can be exported. After a failure nothing can be done with the connections.
 *
 * One transaction on each: what a statement leaves over of a row group would wait, uncompressed, for the checkpoint.
 */
export async function fillDerivedTables(
  connections: ConnectionPool,
  request: FillRequest,
): Promise<RangeBounds> {
  await runOnEach(connections, prepareMappings);
  const bounds = await ledgerBounds(connections[0], request.itemBounds, request.rowsPerRange);
  for (const connection of connections) await execute(connection, "BEGIN TRANSACTION");
  await mapParallel(connections, rangesOf(bounds), async (connection, range) => {
    const mapped = mappedValuesOf(range);
    await execute(connection, `INSERT INTO content_mapped_values BY NAME (${mapped.text})`, mapped.params);
    const { text, params } = payloadsOf(range, request.passthrough);
    await execute(connection, `INSERT INTO content_external_payloads BY NAME (${text})`, params);
  });
  for (const connection of connections) await execute(connection, "COMMIT");
  return bounds;
}

/** Values of `$1` and `$2` of a step over a range of items. */
export function ends(range: IdRange): [string | null, string | null] {
  return [range.lower ?? null, range.upper ?? null];
}
