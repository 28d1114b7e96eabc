/** Items with all their mapped values as gzipped rows of JSON, those that need attention most first. */
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { DuckDBConnection } from "@duckdb/node-api";
import { col, type RowOf } from "../../common/answer.ts";
import { ends, LEDGER_ROWS_PER_RANGE } from "../../load/steps.ts";
import { scalar } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import { loadSql } from "../load-sql.ts";
import { MAPPED_VALUE, type MappedValue, STATUSES, sentValue } from "../mapping/mapped-value.ts";
import { ignoredDestinations, prepareReceptions } from "../mapping/value-counts.ts";
import { keep, keepRange } from "../rows.ts";
import { itemBounds } from "./coverage.ts";
import { sendsAsIs } from "./read-run.ts";

/** How much of a run a page holds: items, mapped values of all of them, and bytes of the rows before they are gzipped. */
const ITEM_LIMITS = { items: 5000, values: 150_000, bytes: 64_000_000 };
export type ItemLimits = Readonly<typeof ITEM_LIMITS>;

/** Longest text of a value or a title, in characters. */
const TEXT_LIMIT = 300;
/** Items that are read at a time. */
const ITEMS_READ = 200;

export type ReportedItems = Awaited<ReturnType<typeof reportedItems>>;

export async function reportedItems(
  connection: DuckDBConnection,
  hasHistory: boolean,
  limits: ItemLimits = ITEM_LIMITS,
) {
  await prepareReceptions(connection, await ignoredDestinations(connection));
  const ranges = rangesOf(await itemBounds(connection, LEDGER_ROWS_PER_RANGE));
  for (const [index, range] of ranges.entries()) {
    await keepRange(connection, "report_items", loadSql("report_items"), { index, params: ends(range) });
  }
  await keep(connection, "report_chosen", loadSql("report_chosen"), [limits.items, limits.values]);
  await keep(connection, "report_since", hasHistory ? loadSql("report_since") : NEVER);
  const { shown, packed } = await chosenRows(connection, limits.bytes);
  return {
    total: await scalar(connection, "SELECT count(*) FROM report_items"),
    /** Mapped values that are not sent all the same: the entry has no external value, or the mapping no name. */
    unsent: await scalar(connection, "SELECT coalesce(sum(unsent), 0)::BIGINT FROM report_items"),
    /** Number of items in the page. */
    shown,
    /** Their rows: a JSON list, gzipped. */
    packed,
  };
}

const NEVER = `
  SELECT NULL::VARCHAR AS content_id, NULL::VARCHAR AS destination_id, NULL::VARCHAR AS custom_field_id,
    NULL::VARCHAR AS value_id, NULL::VARCHAR AS text, NULL::BOOLEAN AS matched_by_text,
    NULL::BIGINT AS sequence, NULL::VARCHAR AS causes
  LIMIT 0`;

const required = { required: true } as const;

/** An item with one of its values; those of an item without any are empty. */
const VALUE = {
  contentId: col.text(required),
  title: col.text(),
  type: col.text(),
  /** `2026-11-20` */
  published: col.text(),
  without: col.count(required),
  destinationId: col.text(),
  destination: col.text(),
  customFieldId: col.text(),
  customField: col.text(),
  externalFieldName: MAPPED_VALUE.externalFieldName,
  valueId: MAPPED_VALUE.valueId,
  value: MAPPED_VALUE.value,
  mappingId: col.text(),
  mappingValueId: MAPPED_VALUE.mappingValueId,
  externalValue: MAPPED_VALUE.externalValue,
  status: col.text({ of: STATUSES }),
  valueArchived: MAPPED_VALUE.valueArchived,
  ambiguous: MAPPED_VALUE.ambiguous,
  matchedByText: MAPPED_VALUE.matchedByText,
  collision: MAPPED_VALUE.collision,
  /** Number of the run since which it is so; null: nothing tells. */
  since: col.count(),
  causes: col.text(),
} as const;
type ValueRow = RowOf<typeof VALUE>;

/** The first of the chosen items, up to a size of their rows in bytes. */
async function chosenRows(connection: DuckDBConnection, bytesLimit: number) {
  const passthrough = await sendsAsIs(connection);
  const chosen = await scalar(connection, "SELECT count(*) FROM report_chosen");
  let shown = 0;
  let bytes = 0;
  const texts = async function* () {
    yield "[";
    for await (const row of rowsOf(connection, chosen, passthrough)) {
      bytes += Buffer.byteLength(row);
      if (bytes > bytesLimit) break;
      yield shown === 0 ? row : `,\n${row}`;
      shown += 1;
    }
    yield "]";
  };
  const chunks: Buffer[] = [];
  await pipeline(texts, createGzip(), async (packed) => {
    for await (const chunk of packed) chunks.push(chunk);
  });
  return { shown, packed: Buffer.concat(chunks) };
}

async function* rowsOf(connection: DuckDBConnection, chosen: number, passthrough: boolean) {
  for (let first = 1; first <= chosen; first += ITEMS_READ) {
    const params = [first, first + ITEMS_READ - 1, TEXT_LIMIT];
    const values = await rowsBy(connection, VALUE, loadSql("report_values"), params);
    for (const own of Map.groupBy(values, ({ contentId }) => contentId).values())
      yield JSON.stringify(itemOf(own, passthrough));
  }
}

function itemOf(rows: readonly ValueRow[], passthrough: boolean) {
  const [item] = rows;
  return {
    id: item?.contentId,
    title: item?.title,
    type: item?.type,
    published: item?.published,
    without: item?.without,
    values: rows.flatMap(({ status, mappingId, ...row }) =>
      status === null || mappingId === null ? [] : [answerOf({ ...row, status, mappingId }, passthrough)],
    ),
  };
}

function answerOf(row: ValueRow & Pick<MappedValue, "status" | "mappingId">, passthrough: boolean) {
  const { status, value, externalValue } = row;
  const { valueArchived: archived, ambiguous, matchedByText: matched_by_text, collision } = row;
  const flags = Object.entries({ archived, ambiguous, matched_by_text, collision });
  return {
    destination_id: row.destinationId,
    destination: row.destination,
    custom_field_id: row.customFieldId,
    custom_field: row.customField,
    external_field_name: row.externalFieldName,
    value_id: row.valueId,
    value,
    mapping_id: row.mappingId,
    mapping_value_id: row.mappingValueId,
    external_value: externalValue,
    status,
    flags: flags.filter(([, isSet]) => isSet).map(([name]) => name),
    /** What the destination receives; null: nothing. */
    sent: sentValue(row, passthrough),
    since: row.since,
    causes: row.causes,
  };
}
