/** Items with all their mapped values, those that need attention most first; packed: what is said often is said once. */
import { col, type RowOf } from "../../common/answer.ts";
import { ends, LEDGER_ROWS_PER_RANGE } from "../../load/steps.ts";
import { scalar } from "../../storage/duckdb.ts";
import { rangesOf } from "../../storage/id-ranges.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import { loadSql } from "../load-sql.ts";
import { isSent, MAPPED_VALUE, STATUSES, WITHOUT_EXTERNAL_VALUE } from "../mapping/mapped-value.ts";
import { ignoredDestinations, prepareReceptions } from "../mapping/value-counts.ts";
import { keep, keepRange } from "../rows.ts";
import { itemBounds } from "./coverage.ts";
import { type EvidentRun, evidenceOfItems } from "./evidence.ts";
import {
  EVIDENCE,
  EVIDENCE_TITLE,
  type EvidenceRow,
  itemEvidenceRows,
  lookupEvidenceRows,
  NO_DOCUMENT,
} from "./evidence-answer.ts";
import { whyOf } from "./explain-answer.ts";
import { sendsAsIs } from "./read-run.ts";

/** How much of a run is packed. */
export interface ItemLimits {
  readonly items: number;
  /** Mapped values of all items. */
  readonly values: number;
  /** Of the packed data. */
  readonly bytes: number;
}

const ITEM_LIMITS: ItemLimits = { items: 5000, values: 150_000, bytes: 2_500_000 };

/** Longest text of a value or a title, in characters. */
const TEXT_LIMIT = 300;

export type PackedItems = Awaited<ReturnType<typeof packItems>>;

/** What a history says of the items of a run. */
export interface ItemHistory {
  /** Number of the run. */
  readonly sequence: number;
  /** Number of the run before, whose comparison with this one is in the tables of the connection; undefined: there is none. */
  readonly before: number | undefined;
}

/** `history`: undefined where the run has none. */
export async function packItems(
  run: EvidentRun,
  history: ItemHistory | undefined,
  limits: ItemLimits = ITEM_LIMITS,
) {
  const { connection } = run;
  await prepareReceptions(connection, await ignoredDestinations(connection));
  const ranges = rangesOf(await itemBounds(connection, LEDGER_ROWS_PER_RANGE));
  for (const [index, range] of ranges.entries()) {
    await keepRange(connection, "report_items", loadSql("report_items"), { index, params: ends(range) });
  }
  await keep(connection, "report_chosen", loadSql("report_chosen"), [limits.items, limits.values]);
  await keep(connection, "report_since", history === undefined ? NEVER : loadSql("report_since"));
  await keep(connection, "report_ledger", loadSql("report_ledger"), [TEXT_LIMIT]);
  const isCompared = history?.before !== undefined;
  await keep(connection, "report_changed", isCompared ? loadSql("report_changed") : NONE_CHANGED);
  const [removed] = isCompared ? await rowsBy(connection, REMOVED, loadSql("report_removed")) : [];
  const unpacked = {
    passthrough: await sendsAsIs(connection),
    destinations: await rowsBy(connection, DESTINATION, DESTINATIONS),
    fields: await rowsBy(connection, FIELD, FIELDS),
    answers: await rowsBy(connection, ANSWER, ANSWERS),
    versions: await rowsBy(connection, VERSION, VERSIONS),
    items: await rowsBy(connection, ITEM, loadSql("report_item_rows"), [TEXT_LIMIT]),
    evidence: await evidenceOfItems(run, { sql: "SELECT content_id FROM report_chosen", params: [] }),
  };
  const { packed, ids } = pack(
    { ...unpacked, removed, sequence: history?.sequence ?? null, changedSince: history?.before ?? null },
    limits.bytes,
  );
  return {
    total: await scalar(connection, "SELECT count(*) FROM report_items"),
    /** Mapped values that are not sent all the same: the entry has no external value, or the mapping no name. */
    unsent: await scalar(connection, "SELECT coalesce(sum(unsent), 0)::BIGINT FROM report_items"),
    /** Items that are packed. */
    shown: ids.size,
    ids,
    /** IDs of the destinations whose values do not count for the order of the items. */
    apart: unpacked.destinations.filter(({ receives }) => !receives).map(({ id }) => id),
    json: JSON.stringify(packed),
  };
}

const NEVER = `
  SELECT NULL::VARCHAR AS content_id, NULL::VARCHAR AS destination_id, NULL::VARCHAR AS custom_field_id,
    NULL::VARCHAR AS value_id, NULL::VARCHAR AS text, NULL::BOOLEAN AS matched_by_text, NULL::BIGINT AS version,
    NULL::BIGINT AS sequence, NULL::VARCHAR AS day, NULL::BOOLEAN AS begins, NULL::VARCHAR AS causes
  LIMIT 0`;

const VERSIONS = "SELECT DISTINCT version, sequence, day, begins, causes FROM report_since ORDER BY version";

const NONE_CHANGED = "SELECT NULL::VARCHAR AS content_id, NULL::VARCHAR AS change LIMIT 0";

const required = { required: true } as const;

const DESTINATION = {
  id: col.text(required),
  name: col.text(),
  unsupported: col.flag(required),
  receives: col.flag(required),
} as const;
const DESTINATIONS = `
  SELECT destination_id AS id, identification AS name, NOT supports_custom_field_mappings AS unsupported,
    reception = 'receiving' AS receives
  FROM destinations JOIN audit_receptions USING (destination_id)
  ORDER BY identification NULLS LAST, destination_id`;

const FIELD = { id: col.text(required), name: col.text(), type: col.text() } as const;
const FIELDS = `
  SELECT custom_field_id AS id, name, field_type AS type
  FROM custom_fields ORDER BY name NULLS LAST, custom_field_id`;

/** A mapped value, as however many items have it. */
const ANSWER = {
  destinationId: MAPPED_VALUE.destinationId,
  customFieldId: MAPPED_VALUE.customFieldId,
  externalFieldName: MAPPED_VALUE.externalFieldName,
  valueId: MAPPED_VALUE.valueId,
  value: MAPPED_VALUE.value,
  mappingId: MAPPED_VALUE.mappingId,
  mappingValueId: MAPPED_VALUE.mappingValueId,
  externalValue: MAPPED_VALUE.externalValue,
  status: MAPPED_VALUE.status,
  valueArchived: MAPPED_VALUE.valueArchived,
  ambiguous: MAPPED_VALUE.ambiguous,
  matchedByText: MAPPED_VALUE.matchedByText,
  collision: MAPPED_VALUE.collision,
  /** Whether a text was longer than what is kept of it. */
  shortened: col.flag(required),
} as const;
type AnswerRow = RowOf<typeof ANSWER>;
const ANSWERS = "SELECT DISTINCT * EXCLUDE (place, ordinal, version) FROM report_ledger ORDER BY answer";

/** What became of the items that changed. */
const ITEM_CHANGES = ["payload", "alike"] as const;

/** How many items changed that the run no longer has. */
const REMOVED = { changed: col.count(required), payload: col.count(required) } as const;

const ITEM = {
  contentId: col.text(required),
  title: col.text(),
  type: col.text(),
  /** `2026-11-20` */
  published: col.text(),
  /** Numbers of its answers, with commas between, in the order of the payloads; null: it has none. */
  answers: col.text(),
  /** Numbers of their versions, just so; null: nothing tells since when. */
  versions: col.text(),
  /** Whether a payload differs from the run before, or something else; null: all is as it was. */
  change: col.text({ of: ITEM_CHANGES }),
} as const;

/** The run that versions of values are from, and why they began; the place of each row is its number. */
const VERSION = {
  sequence: col.count(required),
  /** In UTC. */
  day: col.text(required),
  /** Whether the history begins with that run: then nothing is known of the time before. */
  begins: col.flag(required),
  causes: col.text(required),
} as const;

/** What is true of a mapped value or not; each is a bit, from the lowest on. */
const FLAGS = {
  archived: ({ valueArchived }: AnswerRow) => valueArchived,
  ambiguous: ({ ambiguous }: AnswerRow) => ambiguous,
  matched_by_text: ({ matchedByText }: AnswerRow) => matchedByText,
  collision: ({ collision }: AnswerRow) => collision,
  shortened: ({ shortened }: AnswerRow) => shortened,
  sent: (row: AnswerRow, passthrough: boolean) => isSent(row, passthrough),
} as const;

interface Unpacked {
  readonly passthrough: boolean;
  readonly destinations: readonly RowOf<typeof DESTINATION>[];
  readonly fields: readonly RowOf<typeof FIELD>[];
  readonly answers: readonly AnswerRow[];
  readonly items: readonly RowOf<typeof ITEM>[];
  readonly versions: readonly RowOf<typeof VERSION>[];
  /** Undefined: the run is compared with none. */
  readonly removed: RowOf<typeof REMOVED> | undefined;
  readonly evidence: Awaited<ReturnType<typeof evidenceOfItems>>;
  /** Numbers of the run, and of the one that its items are compared with. */
  readonly sequence: number | null;
  readonly changedSince: number | null;
}

/** Items up to a size in bytes, and with each the answers (by number), texts and names that it refers to. */
function pack({ passthrough, sequence, changedSince, removed, ...unpacked }: Unpacked, bytesLimit: number) {
  // What only a mapping names has its ID alone.
  const destinations = new Numbered((id: string): unknown[] => [id, null, false, false]);
  const fields = new Numbered((id: string): unknown[] => [id, null]);
  for (const { id, name, unsupported, receives } of unpacked.destinations)
    destinations.add(id, [id, name, unsupported, receives]);
  for (const { id, name } of unpacked.fields) fields.add(id, [id, name]);
  const typeOf = new Map(unpacked.fields.map(({ id, type }) => [id, type]));
  const types = new Numbered((name: string) => name);
  const texts = new Numbered((text: string) => text);
  const answers = new Numbered((number: number) => {
    const row = unpacked.answers[number];
    if (row === undefined) throw new TypeError(`there is no answer ${number}`);
    const { externalFieldName, valueId, value, mappingId, mappingValueId, externalValue } = row;
    const why = whyOf(row, typeOf.get(row.customFieldId) ?? null, passthrough);
    const bits = Object.values(FLAGS).map((isSet, bit) => (isSet(row, passthrough) ? 1 << bit : 0));
    return [
      destinations.of(row.destinationId),
      fields.of(row.customFieldId),
      ...[externalFieldName, valueId, value, mappingId, mappingValueId, externalValue, why].map((text) =>
        texts.ofNullable(text),
      ),
      STATUSES.indexOf(row.status),
      bits.reduce((all, bit) => all + bit),
    ];
  });
  const versions = new Numbered((number: number): unknown => {
    const row = unpacked.versions[number];
    if (row === undefined) throw new TypeError(`there is no version ${number}`);
    return [row.sequence, row.day, row.begins, row.causes];
  });
  const evidence = new EvidenceRows();
  const lookups = lookupEvidenceRows(unpacked.evidence).map((row) => evidence.packed(row));
  const items: unknown[][] = [];
  let bytes = 0;
  const ids = new Set<string>();
  for (const row of unpacked.items) {
    const { contentId, title, type, published, change } = row;
    const own = numbersIn(row.answers).map((number) => answers.of(number));
    const since = numbersIn(row.versions).map((number) => versions.of(number));
    const read = itemEvidenceRows(unpacked.evidence.of(contentId)).map((each) => evidence.packed(each));
    const changed = change === null ? null : ITEM_CHANGES.indexOf(change);
    const item = [contentId, title, types.ofNullable(type), published, own, read, inOne(since), changed];
    bytes += jsonBytes(item);
    // The texts and names of an item that does not fit are small: they stay.
    const tables = [answers, texts, types, versions, evidence];
    if (tables.reduce((sum, table) => sum + table.bytes, bytes) > bytesLimit) break;
    items.push(item);
    ids.add(contentId);
  }
  const packed = {
    statuses: STATUSES,
    without: WITHOUT_EXTERNAL_VALUE,
    flags: Object.keys(FLAGS),
    destinations: destinations.all,
    fields: fields.all,
    types: types.all,
    texts: texts.all,
    answers: answers.all,
    evidence: {
      title: EVIDENCE_TITLE,
      none: NO_DOCUMENT,
      columns: Object.entries(EVIDENCE).map(([name, column]) => ("head" in column ? column.head : name)),
      rows: evidence.all,
      lookups,
    },
    run: sequence,
    changedSince,
    removed: removed ?? {},
    changes: ITEM_CHANGES,
    versions: versions.all,
    items,
  };
  return { packed, ids };
}

function numbersIn(text: string | null): number[] {
  return text === null ? [] : text.split(",").map(Number);
}

/** Numbers that are all the same as that one. */
function inOne(numbers: readonly number[]): number | readonly number[] {
  const [first = 0, ...others] = numbers;
  return numbers.length > 0 && others.every((number) => number === first) ? first : numbers;
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

/** Of a digest, in characters: whole ones of all documents would make the page a third larger. `explain --steps` has them. */
const DIGEST_LENGTH = 24;

/**
 * Rows of evidence. Many items came with one response, which is said once; what is an item's own is its place in it and the
 * beginning of its digest, beside the number of a row that has the rest.
 */
class EvidenceRows extends Numbered<string, unknown> {
  constructor() {
    super((cells) => JSON.parse(cells));
  }

  packed(row: EvidenceRow): number | readonly [row: number, position: number | null, digest: string] {
    const { position, sha256 } = row;
    if (row.request !== null) return this.of(cellsOf(row));
    const number = this.of(cellsOf({ ...row, position: null, sha256: "" }));
    return [number, position, Buffer.from(sha256.slice(0, DIGEST_LENGTH), "hex").toString("base64url")];
  }
}

function cellsOf(row: EvidenceRow): string {
  const cells: Readonly<Record<string, unknown>> = {
    ...row,
    sha256: row.sha256 === "" ? "" : `${row.sha256.slice(0, DIGEST_LENGTH)}…`,
    answered: row.answered?.toISOString().replace(".000Z", "Z") ?? null,
  };
  return JSON.stringify(Object.keys(EVIDENCE).map((name) => cells[name]));
}

/** With the comma after it. */
function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
