/** The items of the report with all their mapped values, packed for the page: what is said often is said once. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { LEDGER_ROWS_PER_RANGE } from "../../load/steps.ts";
import { all, execute, type Row, scalar } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { STATUSES } from "../mapping/mapped-value.ts";
import { sendsAsIs } from "../mapping/passthrough.ts";
import type { AskedRun } from "../open-run.ts";
import { itemBounds } from "../questions/coverage.ts";
import { text, textOrNull } from "./cells.ts";
import { loadSql } from "./load-sql.ts";

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

export interface ReportItems {
  /** Items of the run. */
  readonly total: number;
  /** Items of the run with a value that a destination does not get. */
  readonly withGaps: number;
  /** Items in the page: those that need attention most. */
  readonly shown: number;
  readonly json: string;
}

export async function readItems(run: AskedRun, limits: ItemLimits): Promise<ReportItems> {
  const { connection } = run;
  await fillItems(run);
  await temporary(connection, "report_chosen", [limits.items, limits.values]);
  await temporary(connection, "report_ledger", [TEXT_LIMIT, await sendsAsIs(connection)]);
  const packed = new Packing(
    await all(connection, DESTINATIONS),
    await all(connection, FIELDS),
    await all(connection, loadSql("report_answers")),
    limits.bytes,
  );
  for (const row of await all(connection, loadSql("report_item_rows"), [TEXT_LIMIT])) {
    if (!packed.add(row)) break;
  }
  return {
    total: await scalar(connection, "SELECT count(*) FROM report_items"),
    withGaps: await scalar(connection, "SELECT count(*) FROM report_items WHERE gaps > 0"),
    shown: packed.items,
    json: packed.json(),
  };
}

async function fillItems(run: AskedRun): Promise<void> {
  for (const [index, { lower, upper }] of rangesOf(await itemBounds(run, LEDGER_ROWS_PER_RANGE)).entries()) {
    const into = index === 0 ? "CREATE OR REPLACE TEMP TABLE report_items AS" : "INSERT INTO report_items";
    await execute(run.connection, `${into} ${loadSql("report_items")}`, [lower ?? null, upper ?? null]);
  }
}

async function temporary(
  connection: DuckDBConnection,
  name: "report_chosen" | "report_ledger",
  params: readonly (number | boolean)[],
): Promise<void> {
  await execute(connection, `CREATE OR REPLACE TEMP TABLE ${name} AS ${loadSql(name)}`, [...params]);
}

const DESTINATIONS =
  "SELECT destination_id, identification, platform, supports_custom_field_mappings FROM destinations ORDER BY identification NULLS LAST, destination_id";
const FIELDS =
  "SELECT custom_field_id, name, display_label, field_type FROM custom_fields ORDER BY name NULLS LAST, custom_field_id";

/** An answer as the page has it, its texts as numbers of `texts`; null where there is none. */
type PackedAnswer = readonly (number | null)[];
/** ID, title, number of the content type, day of publication, numbers of the answers. */
type PackedItem = readonly [string, string | null, number | null, string | null, readonly number[]];

/** Takes items as long as there is room, and with each the answers, texts and names that it brings along. */
class Packing {
  readonly #answerRows: readonly Row[];
  readonly #destinations: Things;
  readonly #fields: Things;
  readonly #room: number;
  readonly #answers: PackedAnswer[] = [];
  readonly #answerNumbers = new Map<number, number>();
  readonly #texts = new Numbers();
  readonly #types = new Numbers();
  readonly #items: PackedItem[] = [];
  #bytes = 0;

  constructor(destinations: readonly Row[], fields: readonly Row[], answers: readonly Row[], room: number) {
    this.#answerRows = answers;
    this.#destinations = new Things(destinations, "destination_id");
    this.#fields = new Things(fields, "custom_field_id");
    this.#room = room;
  }

  get items(): number {
    return this.#items.length;
  }

  /** False: there is no room for the item. What it brought along is small, and stays. */
  add(row: Row): boolean {
    const answers = textOrNull(row.answers)?.split(",").map(Number) ?? [];
    const item: PackedItem = [
      text(row.content_id),
      textOrNull(row.title),
      this.#types.of(textOrNull(row.type)),
      textOrNull(row.published),
      answers.map((number) => this.#answerNumber(number)),
    ];
    this.#bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (this.#bytes + this.#texts.bytes + this.#types.bytes > this.#room) return false;
    this.#items.push(item);
    return true;
  }

  #answerNumber(number: number): number {
    const known = this.#answerNumbers.get(number);
    if (known !== undefined) return known;
    const row = this.#answerRows[number];
    if (row === undefined) throw new TypeError(`there is no answer ${number}`);
    const packed = this.#packed(row);
    this.#bytes += Buffer.byteLength(JSON.stringify(packed)) + 1;
    this.#answerNumbers.set(number, this.#answers.length);
    return this.#answers.push(packed) - 1;
  }

  #packed(row: Row): PackedAnswer {
    const flags = Object.entries(FLAGS).filter(([name]) => row[name] === true);
    const statuses: readonly unknown[] = STATUSES;
    const status = statuses.indexOf(row.status);
    return [
      this.#destinations.of(text(row.destination_id)),
      this.#fields.of(text(row.custom_field_id)),
      this.#texts.of(textOrNull(row.external_field_name)),
      this.#texts.of(textOrNull(row.value_id)),
      this.#texts.of(textOrNull(row.value)),
      this.#texts.of(textOrNull(row.mapping_id)),
      this.#texts.of(textOrNull(row.mapping_value_id)),
      this.#texts.of(textOrNull(row.external_value)),
      flags.reduce((bits, [, bit]) => bits + bit, status),
    ];
  }

  json(): string {
    const destinations = this.#destinations.rows.map((row) => [
      text(row.destination_id),
      textOrNull(row.identification),
      textOrNull(row.platform),
      row.supports_custom_field_mappings === false,
    ]);
    const fields = this.#fields.rows.map((row) => [
      text(row.custom_field_id),
      textOrNull(row.name),
      textOrNull(row.display_label),
      textOrNull(row.field_type),
    ]);
    return JSON.stringify({
      statuses: STATUSES,
      destinations,
      fields,
      types: this.#types.texts,
      texts: this.#texts.texts,
      answers: this.#answers,
      items: this.#items,
    });
  }
}

/** Rows that are referred to by number; one that only a mapping names has its ID alone. */
class Things {
  readonly rows: Row[];
  readonly #key: string;
  readonly #numbers: Map<string, number>;

  constructor(rows: readonly Row[], key: string) {
    this.rows = [...rows];
    this.#key = key;
    this.#numbers = new Map(rows.map((row, index) => [text(row[key]), index]));
  }

  of(id: string): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    this.#numbers.set(id, this.rows.length);
    return this.rows.push({ [this.#key]: id }) - 1;
  }
}

/** Texts by number. */
class Numbers {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();
  bytes = 0;

  of(given: string | null): number | null {
    if (given === null) return null;
    const known = this.#numbers.get(given);
    if (known !== undefined) return known;
    this.bytes += Buffer.byteLength(JSON.stringify(given)) + 1;
    this.#numbers.set(given, this.texts.length);
    return this.texts.push(given) - 1;
  }
}

/** The items that the page leaves out, in its order. */
export function leftOutSql(shown: number): string {
  return `SELECT content.content_id, content.title,
  count_if(mapped.status IN ('unmapped', 'unknown_value')) AS gaps,
  count_if(mapped.value_archived OR mapped.ambiguous OR mapped.collision) AS flagged
FROM content LEFT JOIN content_mapped_values AS mapped USING (content_id)
GROUP BY ALL
ORDER BY gaps DESC, flagged DESC, content.content_id
OFFSET ${shown}`;
}
