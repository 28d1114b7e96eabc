/** Reads items and mapped values for the report as gzipped JSON. Items that need most attention come first. */
import { gzipSync } from "node:zlib";
import type { DuckDBConnection } from "@duckdb/node-api";
import { historySql } from "../../load/load-sql.ts";
import { MAPPED_VALUES_PER_RANGE, rangeParams } from "../../load/mapped-values.ts";
import { scalar, stream } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { prepareReceptions } from "../mapping/value-counts.ts";
import { createTempTable, fillTempTable, itemBounds, loadSql } from "../queries.ts";

/** Limits of one page: items, their mapped values, and characters of base64. */
const REPORT_LIMITS = { items: 50_000, values: 50_000, base64: 6_500_000 };
export type ReportLimits = Readonly<typeof REPORT_LIMITS>;

/** Longest text of a value or title, in characters. */
const TEXT_LIMIT = 300;

/** Characters of JSON that are packed together. */
const BLOCK = 1_000_000;

export async function readReportItems(
  connection: DuckDBConnection,
  hasHistory: boolean,
  limits: ReportLimits = REPORT_LIMITS,
) {
  await prepareReceptions(connection);
  await createTempTable(
    connection,
    "report_changed",
    hasHistory ? CHANGED : "SELECT '' AS content_id LIMIT 0",
  );
  const ranges = rangesOf(await itemBounds(connection, MAPPED_VALUES_PER_RANGE));
  for (const [index, range] of ranges.entries()) {
    await fillTempTable(connection, "report_items", loadSql("report_items"), {
      index,
      params: rangeParams(range),
    });
  }
  await createTempTable(connection, "report_chosen", loadSql("report_chosen"), [limits.items, limits.values]);
  await createTempTable(connection, "report_since", hasHistory ? historySql("report_since", loadSql) : NEVER);
  const items = await packRows(connection, "report_titles", limits.base64);
  const values = await packRows(connection, "report_values", limits.base64 - items.base64);
  return {
    total: await scalar(connection, "SELECT count(*) FROM report_items"),
    /** Number of items in the page. */
    shown: items.rows,
    /** Gzipped JSON lists in base64: first of the items, then of their values. */
    packed: [...items.blocks, ...values.blocks],
  };
}

/** Items of which a mapped value began or ceased to hold in this run; none in the first run of the history. */
const CHANGED = `
  SELECT DISTINCT content_id
  FROM mapped_value_history
  JOIN (FROM run_history SEMI JOIN run USING (run) WHERE previous_run IS NOT NULL) AS last
    ON last.run IN (valid_from_run, valid_to_run)`;

const NEVER = `
  SELECT NULL::VARCHAR AS content_id, NULL::VARCHAR AS destination_id, NULL::VARCHAR AS custom_field_id,
    NULL::VARCHAR AS value_id, NULL::VARCHAR AS text, NULL::BOOLEAN AS matched_by_text,
    NULL::BIGINT AS sequence, NULL::VARCHAR AS causes
  LIMIT 0`;

/** Packs the rows of a step up to a number of characters of base64, in blocks that each can be unpacked alone. */
async function packRows(connection: DuckDBConnection, step: string, limit: number) {
  const result = await stream(connection, loadSql(step), [TEXT_LIMIT]);
  const packed = { rows: 0, base64: 0, blocks: [] as string[] };
  let texts: string[] = [];
  let size = 0;
  /** Whether there was room for the block. */
  const pack = () => {
    const block = gzipSync(`[${texts.join(",\n")}]`).toString("base64");
    if (packed.base64 + block.length > limit) return false;
    packed.rows += texts.length;
    packed.base64 += block.length;
    packed.blocks.push(block);
    texts = [];
    size = 0;
    return true;
  };
  for await (const rows of result.yieldRows())
    for (const [row] of rows) {
      texts.push(String(row));
      size += texts.at(-1)?.length ?? 0;
      if (size >= BLOCK && !pack()) return packed;
    }
  if (texts.length > 0) pack();
  return packed;
}
