/** Reads items and mapped values for the report as gzipped JSON. Items that need most attention come first. */
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { DuckDBConnection } from "@duckdb/node-api";
import { historySql } from "../../load/load-sql.ts";
import { MAPPED_VALUES_PER_RANGE, rangeParams } from "../../load/mapped-values.ts";
import { scalar, stream } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { prepareReceptions } from "../mapping/value-counts.ts";
import { createTempTable, fillTempTable, itemBounds, loadSql } from "../queries.ts";

/** Limits of one page: items, their mapped values, and bytes of JSON before gzip. */
const REPORT_LIMITS = { items: 3000, values: 100_000, bytes: 40_000_000 };
export type ReportLimits = Readonly<typeof REPORT_LIMITS>;

/** Longest text of a value or title, in characters. */
const TEXT_LIMIT = 300;

export async function readReportItems(
  connection: DuckDBConnection,
  hasHistory: boolean,
  limits: ReportLimits = REPORT_LIMITS,
) {
  await prepareReceptions(connection);
  const ranges = rangesOf(await itemBounds(connection, MAPPED_VALUES_PER_RANGE));
  for (const [index, range] of ranges.entries()) {
    await fillTempTable(connection, "report_items", loadSql("report_items"), {
      index,
      params: rangeParams(range),
    });
  }
  await createTempTable(connection, "report_chosen", loadSql("report_chosen"), [limits.items, limits.values]);
  await createTempTable(connection, "report_since", hasHistory ? historySql("report_since", loadSql) : NEVER);
  await createTempTable(connection, "report_rows", loadSql("report_rows"), [TEXT_LIMIT]);
  const { shown, packed } = await packedRows(connection, limits.bytes);
  return {
    total: await scalar(connection, "SELECT count(*) FROM report_items"),
    /** Mapped values that are not sent: the entry has no external value, or the mapping no name. */
    unsent: await scalar(connection, "SELECT coalesce(sum(unsent), 0)::BIGINT FROM report_items"),
    /** Number of items in the page. */
    shown,
    /** Gzipped JSON list of items, each followed by its values. */
    packed,
  };
}

const NEVER = `
  SELECT NULL::VARCHAR AS content_id, NULL::VARCHAR AS destination_id, NULL::VARCHAR AS custom_field_id,
    NULL::VARCHAR AS value_id, NULL::VARCHAR AS text, NULL::BOOLEAN AS matched_by_text,
    NULL::BIGINT AS sequence, NULL::VARCHAR AS causes
  LIMIT 0`;

/** SQL: the chosen items, up to a number of bytes. */
const FIRST_ROWS = (bytes: number) => `
  WITH sizes AS (SELECT place, sum(strlen(row)) AS size FROM report_rows GROUP BY place),
  first AS (SELECT place FROM sizes QUALIFY sum(size) OVER (ORDER BY place) <= ${bytes})
  SELECT row, ordinal IS NULL AS is_item
  FROM report_rows SEMI JOIN first USING (place)
  ORDER BY place, destination_id NULLS FIRST, external_field_name NULLS LAST, custom_field_id, ordinal`;

async function packedRows(connection: DuckDBConnection, bytesLimit: number) {
  const result = await stream(connection, FIRST_ROWS(bytesLimit));
  let shown = 0;
  const texts = async function* () {
    yield "[";
    for await (const rows of result.yieldRows()) {
      yield `${shown === 0 ? "" : ",\n"}${rows.map(([row]) => row).join(",\n")}`;
      shown += rows.filter(([, isItem]) => isItem).length;
    }
    yield "]";
  };
  const chunks: Buffer[] = [];
  await pipeline(texts, createGzip(), async (packed) => {
    for await (const chunk of packed) chunks.push(chunk);
  });
  return { shown, packed: Buffer.concat(chunks) };
}
