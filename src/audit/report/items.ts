/** The items of the report with all their mapped values, packed for the page: what is said often is said once. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { count, counted } from "../../common/figures.ts";
import { ends, LEDGER_ROWS_PER_RANGE } from "../../load/steps.ts";
import { all, type Row, scalar } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { loadSql } from "../load-sql.ts";
import { STATUSES, WITHOUT_EXTERNAL_VALUE, WITHOUT_EXTERNAL_VALUE_SQL } from "../mapping/mapped-value.ts";
import { itemBounds } from "../questions/coverage.ts";
import { sendsAsIs } from "../questions/read-run.ts";
import { keep, keepRange } from "../rows.ts";
import { textOrNull } from "./format.ts";
import { html, type Markup, section, sql } from "./markup.ts";

/** How much of a run the page holds. */
export interface ItemLimits {
  readonly items: number;
  /** Mapped values of all items. */
  readonly values: number;
  /** Of the packed data. */
  readonly bytes: number;
}

export const ITEM_LIMITS: ItemLimits = { items: 5000, values: 150_000, bytes: 2_500_000 };

/** Longest text of a value or a title, in characters. */
const TEXT_LIMIT = 300;

/** Bits of an answer, after the number of its status in the first two. */
const FLAGS = {
  value_archived: 4,
  ambiguous: 8,
  matched_by_text: 16,
  collision: 32,
  shortened: 64,
  sent: 128,
} as const;

export type ReportItems = Awaited<ReturnType<typeof readItems>>;

export async function readItems(connection: DuckDBConnection, limits: ItemLimits) {
  const ranges = rangesOf(await itemBounds(connection, LEDGER_ROWS_PER_RANGE));
  for (const [index, range] of ranges.entries()) {
    await keepRange(connection, "report_items", loadSql("report_items"), { index, params: ends(range) });
  }
  await keep(connection, "report_chosen", loadSql("report_chosen"), [limits.items, limits.values]);
  const passthrough = await sendsAsIs(connection);
  await keep(connection, "report_ledger", loadSql("report_ledger"), [TEXT_LIMIT, passthrough]);
  const unpacked = {
    destinations: await all(connection, DESTINATIONS),
    fields: await all(connection, FIELDS),
    answers: await all(connection, loadSql("report_answers")),
    items: await all(connection, loadSql("report_item_rows"), [TEXT_LIMIT]),
  };
  const packed = packItems(unpacked, limits.bytes);
  return {
    total: await scalar(connection, "SELECT count(*) FROM report_items"),
    /** Items with a value that a destination does not get. */
    withGaps: await scalar(connection, "SELECT count(*) FROM report_items WHERE gaps > 0"),
    /** Mapped values that are not sent all the same: the entry has no external value, or the mapping no name. */
    unsent: await scalar(connection, "SELECT coalesce(sum(unsent), 0)::BIGINT FROM report_items"),
    /** Items in the page: those that need attention most. */
    shown: packed.items.length,
    json: JSON.stringify(packed),
  };
}

const DESTINATIONS = `
  SELECT destination_id, identification, platform, coalesce(NOT supports_custom_field_mappings, false)
  FROM destinations ORDER BY identification NULLS LAST, destination_id`;
const FIELDS = `
  SELECT custom_field_id, name, display_label, field_type
  FROM custom_fields ORDER BY name NULLS LAST, custom_field_id`;

/** Texts of an answer, in the order in which the page has their numbers. */
const ANSWER_TEXTS = "external_field_name value_id value mapping_id mapping_value_id external_value".split(
  " ",
);

type Unpacked = Readonly<Record<"destinations" | "fields" | "answers" | "items", readonly Row[]>>;

/** Items up to a size in bytes, and with each the answers (by number), texts and names that it refers to. */
function packItems(unpacked: Unpacked, bytesLimit: number) {
  const { answers: rows } = unpacked;
  // What only a mapping names has its ID alone.
  const destinations = new Numbered((id: string): unknown[] => [id, null, null, false]);
  const fields = new Numbered((id: string): unknown[] => [id, null, null, null]);
  for (const row of unpacked.destinations) destinations.add(String(row.destination_id), Object.values(row));
  for (const row of unpacked.fields) fields.add(String(row.custom_field_id), Object.values(row));
  const types = new Numbered((name: string) => name);
  const texts = new Numbered((name: string) => name);
  const statuses: readonly unknown[] = STATUSES;
  const answers = new Numbered((number: number) => {
    const row = rows[number];
    if (row === undefined) throw new TypeError(`there is no answer ${number}`);
    const flags = Object.entries(FLAGS).filter(([name]) => row[name] === true);
    return [
      destinations.of(String(row.destination_id)),
      fields.of(String(row.custom_field_id)),
      ...ANSWER_TEXTS.map((name) => texts.ofNullable(textOrNull(row[name]))),
      flags.reduce((bits, [, bit]) => bits + bit, statuses.indexOf(row.status)),
    ];
  });
  /** ID, title, number of the content type, day of publication, numbers of the answers. */
  const items: unknown[][] = [];
  let bytes = 0;
  for (const row of unpacked.items) {
    const item = [
      String(row.content_id),
      textOrNull(row.title),
      types.ofNullable(textOrNull(row.type)),
      textOrNull(row.published),
      (textOrNull(row.answers)?.split(",") ?? []).map((number) => answers.of(Number(number))),
    ];
    bytes += jsonBytes(item);
    // The texts and names of an item that does not fit are small: they stay.
    if (bytes + answers.bytes + texts.bytes + types.bytes > bytesLimit) break;
    items.push(item);
  }
  return {
    statuses: STATUSES,
    withoutExternalValue: WITHOUT_EXTERNAL_VALUE,
    destinations: destinations.all,
    fields: fields.all,
    types: types.all,
    texts: texts.all,
    answers: answers.all,
    items,
  };
}

/** Values that are referred to by number: each is made where its key is first asked for. */
class Numbered<K, T> {
  readonly all: T[] = [];
  bytes = 0;
  readonly #numbers = new Map<K, number>();
  readonly #make: (key: K) => T;

  constructor(make: (key: K) => T) {
    this.#make = make;
  }

  of(key: K): number {
    return this.#numbers.get(key) ?? this.add(key, this.#make(key));
  }

  ofNullable(key: K | null): number | null {
    return key === null ? null : this.of(key);
  }

  add(key: K, value: T): number {
    this.bytes += jsonBytes(value);
    this.#numbers.set(key, this.all.length);
    return this.all.push(value) - 1;
  }
}

/** With the comma after it. */
function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}

export function itemsSection({ total, shown }: ReportItems): Markup {
  const none = total === 0 ? "The service listed no item." : "There was no room for an item in this page.";
  return section(
    "items",
    "Items",
    shown > 0 ? SEARCH : html`<p class="empty">${none}</p>`,
    shown < total &&
      html`<p class="note">The page holds ${counted(shown, "item")} of ${count(total)}, those that need attention most first. The other ${count(total - shown)} are left to SQL:</p>${sql(leftOutSql(shown))}`,
  );
}

/** What is asked for is put together in the page, from the data that it brings along. */
const SEARCH = html`<noscript><p class="note">The search of items needs the script of this page, which this browser does not run. All else is here, and <code>content-warehouse explain</code> answers for each item.</p></noscript>
<form id="filters" role="search" aria-label="Items" hidden>
<p class="field wide-field"><label for="filter-text">Title or ID</label><input id="filter-text" type="search" autocomplete="off" spellcheck="false"></p>
<p class="field"><label for="filter-type">Content type</label><select id="filter-type"><option value="">any</option></select></p>
<p class="field"><label for="filter-destination">Destination</label><select id="filter-destination"><option value="">any</option></select></p>
<p class="field"><label for="filter-field">Custom field</label><select id="filter-field"><option value="">any</option></select></p>
<p class="field"><label for="filter-value">Value</label><input id="filter-value" type="search" autocomplete="off" spellcheck="false" list="values"></p>
<p class="field"><label for="filter-status">Status</label><select id="filter-status"><option value="">any</option></select></p>
<p class="field action"><button type="reset">Clear</button></p>
<datalist id="values"></datalist>
</form>
<p id="found" role="status" class="note"></p>
<div id="item-table" class="scroll" role="region" aria-label="Table of items" tabindex="0" hidden><table>
<caption class="visually-hidden">Items, those that need attention most first. A title opens what each destination receives.</caption>
<thead><tr><th scope="col">Title</th><th scope="col">Type</th><th scope="col">Published</th><th scope="col" class="number">Values</th><th scope="col" class="most-first">Without external value</th></tr></thead>
<tbody id="item-rows"></tbody>
</table></div>
<p><button id="more" type="button" hidden>Show more</button></p>
<dialog id="item" aria-labelledby="item-title"></dialog>`;

/** The items that the page leaves out, in its order. */
function leftOutSql(shown: number): string {
  return `SELECT content.content_id, content.title,
  count_if(mapped.status IN (${WITHOUT_EXTERNAL_VALUE_SQL})) AS gaps,
  count_if(mapped.value_archived OR mapped.ambiguous OR mapped.collision) AS flagged
FROM content LEFT JOIN content_mapped_values AS mapped USING (content_id)
GROUP BY ALL
ORDER BY gaps DESC, flagged DESC, content.content_id
OFFSET ${shown}`;
}
