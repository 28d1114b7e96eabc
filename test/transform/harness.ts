import { customFieldDefinition } from "../../src/api/custom-field.ts";
import { destination } from "../../src/api/destination.ts";
import { type FormDrift, normalizeForm } from "../../src/api/normalize.ts";
import { isObject, type JsonObject, parseExact } from "../../src/common/json.ts";
import type { ItemDocument, Shape } from "../../src/raw/document.ts";
import { Drift, type DriftEntry } from "../../src/raw/drift.ts";
import { documentPreparer, lookupPreparer, type PrepareSettings } from "../../src/raw/prepare.ts";
import type { LookupResource } from "../../src/raw/unknown-fields.ts";
import { replaceLoneSurrogates } from "../../src/raw/well-formed.ts";
import type { Cell } from "../../src/storage/table-builder.ts";
import { DATA_TABLES } from "../../src/tables/all.ts";
import type { Table } from "../../src/tables/declare.ts";
import { makeEntityRows } from "../../src/transform/entity-rows.ts";
import { EntityPool, EntityStore } from "../../src/transform/entity-store.ts";
import { compileTransform } from "../../src/transform/transform-group.ts";
import { KEEP } from "../policies.ts";

/** An answer about one item: its document as JSON text or as a value. Later ones in a list are later observations. */
export interface Answer {
  readonly shape: Shape;
  readonly document: string | JsonObject;
}

export interface Lookups {
  readonly destinations: readonly JsonObject[];
  readonly definitions: readonly JsonObject[];
}

export type Row = Readonly<Record<string, Cell>>;

export interface Transformed {
  /** Rows of every table that items and lookups give, in the order in which they come; derived tables are empty. */
  readonly rows: ReadonlyMap<string, readonly Row[]>;
  readonly drift: readonly DriftEntry[];
}

const NO_LOOKUPS: Lookups = { destinations: [], definitions: [] };
const pool = new EntityPool();
/** Rows of the call. */
let made = new Map<string, Row[]>();
const take = (table: Table, row: readonly Cell[]) => made.get(table.name)?.push(named(table, row));
const transformItem = compileTransform({
  tables: DATA_TABLES,
  rows: {},
  pool,
  sink: (table) => (row) => take(table, row),
});

/** Runs items through the transform as a worker and the main thread do, each item with all its answers. */
export function transform(
  items: readonly (readonly Answer[])[],
  lookups: Lookups = NO_LOOKUPS,
  options: PrepareSettings = KEEP,
): Transformed {
  const drift = new Drift();
  pool.take();
  pool.listedFields.take();
  made = new Map(DATA_TABLES.map(({ name }) => [name, []]));
  const prepare = documentPreparer(options);
  let order = 0;
  for (const answers of items) {
    const views = answers.map((answer): ItemDocument => {
      order += 1;
      const document = copyOf(answer.document);
      replaceLoneSurrogates(document, (path) => drift.note(path, "unreadable", order, null));
      const contentId = String(document.id);
      const { unknown } = prepare(answer.shape, document, { order, contentId }, drift);
      return { shape: answer.shape, document, observedAt: 0, order, unknown };
    });
    const latestFirst = views.toReversed();
    transformItem({ contentId: String(views[0]?.document.id), views: latestFirst, order, drift });
  }
  for (const [table, found] of shared(lookups, options, drift)) {
    const declared = DATA_TABLES.find(({ name }) => name === table);
    if (declared !== undefined) for (const row of found) take(declared, row);
  }
  return { rows: made, drift: drift.sorted() };
}

/** A copy with numbers kept as they are written. */
function copyOf(document: string | JsonObject): JsonObject {
  const copy = parseExact(typeof document === "string" ? document : JSON.stringify(document));
  if (!isObject(copy)) throw new TypeError("a document is an object");
  return copy;
}

const SCHEMAS = { custom_field_definition: customFieldDefinition, destination };

function shared({ destinations, definitions }: Lookups, options: PrepareSettings, drift: Drift) {
  const store = new EntityStore();
  for (const version of pool.take()) store.add(version);
  for (const listed of pool.listedFields.take()) store.listedFields.add(listed);
  const prepare = lookupPreparer(options);
  const answersOf = (resource: LookupResource, documents: readonly JsonObject[]) =>
    documents.map(copyOf).map((answer) => {
      const odd: FormDrift[] = [];
      normalizeForm(SCHEMAS[resource], answer, odd);
      return { id: String(answer.id), unknown: prepare(resource, answer, odd, drift), answer };
    });
  const lookups = {
    definitions: answersOf("custom_field_definition", definitions),
    destinations: answersOf("destination", destinations),
  };
  return makeEntityRows({ store, lookups, ignored: [], drift });
}

function named(table: Table, row: readonly Cell[]): Row {
  if (row.length !== table.columns.length) throw new RangeError(`${table.name}: a row of another length`);
  return Object.fromEntries(table.columns.map(({ name }, at) => [name, row[at] ?? null]));
}

/** The rows of one table. */
export function rowsOf(transformed: Transformed, table: string): readonly Row[] {
  const rows = transformed.rows.get(table);
  if (rows === undefined) throw new RangeError(`no table ${table}`);
  return rows;
}

/** The single row of a table of which exactly one is expected. */
export function onlyRow(transformed: Transformed, table: string): Row {
  const [row, ...more] = rowsOf(transformed, table);
  if (row === undefined || more.length > 0) throw new RangeError(`${table} has not one row`);
  return row;
}
