/** Makes rows of entities and definitions, from their descriptions in items and from lookups. */

import {
  type DriftSubject,
  ExtraFields,
  isObject,
  type JsonObject,
  readCell,
  type UnknownField,
  valueAt,
} from "../raw/document.ts";
import type { Drift } from "../raw/drift.ts";
import { attributeKey, attributePath } from "../raw/extra-keys.ts";
import { LOOKUP_ORDER } from "../raw/prepare.ts";
import type { RawLookup, RawLookups } from "../raw/raw-file.ts";
import { type Cell, rowOf } from "../storage/table-builder.ts";
import { DATA_TABLES } from "../tables/all.ts";
import type { Table } from "../tables/declare.ts";
import type { Entity, EntityStore } from "./entity-store.ts";
import { columnOf } from "./joined-rows.ts";
import { toList } from "./rows.ts";

interface EntityFacts {
  readonly store: EntityStore;
  readonly lookups: RawLookups;
  readonly drift: Drift;
}

/** Rows of the shared tables, by table, in any order. Adds the definitions of the lookup to the store, as the newest. */
export function makeEntityRows(facts: EntityFacts): Map<string, Cell[][]> {
  const rows = new Map<string, Cell[][]>();
  const put = (table: string, row: Cell[]): void => {
    const list = rows.get(table);
    if (list === undefined) rows.set(table, [row]);
    else list.push(row);
  };
  const subject: DriftSubject = { contentId: null, order: LOOKUP_ORDER, drift: facts.drift };
  const { destinations, definitions } = facts.lookups;
  for (const definition of definitions) describe(facts.store, definition);
  for (const kind of ["content_types", "campaigns", "instances"] as const) {
    for (const thing of facts.store.of(kind)) put(kind, entityRow(tableNamed(kind), subject, thing));
  }
  userRows(facts, subject, put);
  customFieldRows(facts, subject, put);
  const named = mappingRows(definitions, subject, put);
  destinationRows(destinations, named, subject, put);
  return rows;
}

/** Adds a definition to the store, without its mappings, which have tables of their own. */
function describe(store: EntityStore, { id, answer, unknown }: RawLookup): void {
  const extra = new ExtraFields();
  extra.claim(unknown, answer);
  const strange = extra.cell() ?? "{}";
  const { mappings: _mappings, ...attributes } = answer;
  for (const field of unknown) if (field.parent === answer) delete attributes[field.path.at(-1) ?? ""];
  store.add({
    kind: "custom_fields",
    id,
    order: LOOKUP_ORDER,
    attributes: JSON.stringify(attributes),
    unknown: String(strange),
  });
}

function userRows(facts: EntityFacts, subject: DriftSubject, put: TableSink): void {
  const table = tableNamed("users");
  for (const thing of facts.store.of("users")) {
    const { id, attributes } = thing;
    put("users", entityRow(table, subject, thing));
    textListRows({ table: "user_groups", column: "group_id", id, list: attributes.group_ids }, subject, put);
    textListRows({ table: "user_tours_seen", column: "tour", id, list: attributes.tours_seen }, subject, put);
  }
}

interface TextList {
  readonly table: string;
  readonly column: string;
  /** User ID. */
  readonly id: string;
  readonly list: unknown;
}

function textListRows(
  { table: name, column: named, id, list }: TextList,
  subject: DriftSubject,
  put: TableSink,
): void {
  const table = tableNamed(name);
  const column = columnOf(table, named);
  toList(subject, `${name}.${named}`, list).forEach((element, ordinal) => {
    const extra = new ExtraFields();
    const cell = readCell(subject, column, named, element, extra);
    put(name, rowOf<Cell>(table, { user_id: id, ordinal, [named]: cell, extra: extra.cell() }));
  });
}

/** Options without a column, as JSON; NULL if there are none. */
function otherOptions(table: Table, attributes: JsonObject): Cell {
  const { options } = attributes;
  if (!isObject(options)) return null;
  const known = new Set(table.columns.map((column) => column.name));
  const others = Object.entries(options).filter(([name]) => !known.has(`option_${name}`));
  return others.length === 0 ? null : JSON.stringify(Object.fromEntries(others));
}

function customFieldRows(facts: EntityFacts, subject: DriftSubject, put: TableSink): void {
  const table = tableNamed("custom_fields");
  const lookedUp = new Set(facts.lookups.definitions.map(({ id }) => id));
  for (const { id, attributes, unknown } of facts.store.of("custom_fields")) {
    const strange = { ...selectValueRows(id, attributes, subject, put), ...strangeOptions(attributes) };
    for (const path of Object.keys(strange)) {
      subject.drift.note(`custom_fields.${path}`, "type", subject.order, null, strange[path]);
    }
    const fixed = { from_lookup: lookedUp.has(id), options: otherOptions(table, attributes) };
    const described = { attributes, unknown: { ...strange, ...unknown } };
    put("custom_fields", entityRow(table, subject, described, fixed));
  }
}

/** Options that are not an object are kept in `extra`. */
function strangeOptions({ options }: JsonObject): JsonObject {
  return options === null || options === undefined || isObject(options) ? {} : { options };
}

/** A unique ID. If the lookup has none, or repeats one, its position makes it unique. */
function uniqueId(seen: Set<string>, id: unknown, place: string): string {
  const wanted = typeof id === "string" && id !== "" ? id : place;
  const unique = seen.has(wanted) ? `${wanted} (${place})` : wanted;
  seen.add(unique);
  return unique;
}

/** Adds rows of both mapping tables. Returns the destination IDs in the mappings. */
function mappingRows(definitions: readonly RawLookup[], subject: DriftSubject, put: TableSink): Set<string> {
  const mappings = tableNamed("custom_field_mappings");
  const entries = tableNamed("custom_field_mapping_values");
  const named = new Set<string>();
  const seenMappings = new Set<string>();
  const seenEntries = new Set<string>();
  for (const { id: fieldId, answer, unknown } of definitions.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    objectsOf(answer.mappings, "mappings[]", subject).forEach((mapping, ordinal) => {
      const mappingId = uniqueId(seenMappings, mapping.id, `${fieldId}#${ordinal}`);
      if (typeof mapping.external_site_id === "string") named.add(mapping.external_site_id);
      const attributes = {
        destination_id: mapping.external_site_id,
        external_field_name: mapping.field_name,
      };
      const fixed = { mapping_id: mappingId, custom_field_id: fieldId, ordinal };
      const described = { attributes, unknown: own(unknown, mapping) };
      put(mappings.name, entityRow(mappings, subject, described, fixed));
      objectsOf(mapping.values, "mappings[].values[]", subject).forEach((entry, at) => {
        const id = uniqueId(seenEntries, entry.id, `${mappingId}#${at}`);
        const values = { value_id: entry.value_id, external_value: entry.value };
        const placed = { mapping_value_id: id, mapping_id: mappingId, ordinal: at };
        const inner = { attributes: values, unknown: own(unknown, entry) };
        put(entries.name, entityRow(entries, subject, inner, placed));
      });
    });
  }
  return named;
}

/** The objects of a list; other elements are counted as drift. */
function objectsOf(list: unknown, path: string, { drift, order }: DriftSubject): JsonObject[] {
  if (!Array.isArray(list)) return [];
  for (const each of list)
    if (!isObject(each)) drift.note(`custom_field_definition.${path}`, "type", order, null);
  return list.filter(isObject);
}

/** Unknown fields of an object. */
function own(unknown: readonly UnknownField[], object: JsonObject): JsonObject {
  const fields = unknown.filter((field) => field.parent === object);
  return Object.fromEntries(fields.map((field) => [field.path.at(-1) ?? "", field.value]));
}

function destinationRows(
  destinations: readonly RawLookup[],
  named: ReadonlySet<string>,
  subject: DriftSubject,
  put: TableSink,
): void {
  const table = tableNamed("destinations");
  const at = (column: string) => table.columns.findIndex(({ name }) => name === column);
  const [supportsAt, receivesAt] = [at("supports_custom_field_mappings"), at("receives")];
  const putRow = (described: Pick<Entity, "attributes" | "unknown">) => {
    const row = entityRow(table, subject, described, { receives: false });
    row[receivesAt] = row[supportsAt] === true;
    put(table.name, row);
  };
  const seen = new Set<string>();
  for (const { id, answer, unknown } of destinations) {
    if (seen.has(id)) continue;
    seen.add(id);
    putRow({ attributes: answer, unknown: own(unknown, answer) });
  }
  for (const id of [...named].sort()) {
    if (!seen.has(id)) putRow({ attributes: { id }, unknown: {} });
  }
}

const KEYS = ["id", "display", "value", "archived"];

/** A select value of a definition. */
interface SelectValue {
  readonly ordinal: number;
  readonly valueId: string;
  readonly sent: JsonObject;
}

/** Adds rows of select values, from `formatted_select_values` or `select_value_ids`. Returns values that fit no row. */
function selectValueRows(
  fieldId: string,
  attributes: JsonObject,
  subject: DriftSubject,
  put: TableSink,
): JsonObject {
  const strange: [string, unknown][] = [];
  const texts = mapAt(attributes, "select_value_ids", strange);
  const archived = listAt(attributes, "archived_value_ids", strange);
  const plain = listAt(attributes, "select_values", strange);
  const offered = offeredValues(attributes, texts, strange);
  const values = new Map<string, Cell>();
  const table = tableNamed("custom_field_select_values");
  const valueAt = table.columns.findIndex(({ name }) => name === "value");
  for (const { ordinal, valueId, sent } of offered) {
    const complete = {
      display: sent.display,
      value: sent.value ?? texts.get(valueId) ?? plain[ordinal],
      archived:
        sent.archived ??
        (Array.isArray(attributes.archived_value_ids) ? archived.includes(valueId) : undefined),
    };
    // An ID that is not a text is kept in `extra`.
    const unknown = Object.entries(sent).filter(
      ([key, value]) => !KEYS.includes(key) || (key === "id" && typeof value !== "string" && value !== null),
    );
    const fixed = { custom_field_id: fieldId, value_id: valueId, ordinal };
    const described = { attributes: complete, unknown: Object.fromEntries(unknown) };
    const row = entityRow(table, subject, described, fixed);
    values.set(valueId, row[valueAt] ?? null);
    put(table.name, row);
  }
  noteOthers(subject, values, { texts, archived, plain });
  return Object.fromEntries(strange);
}

function offeredValues(
  attributes: JsonObject,
  texts: ReadonlyMap<string, unknown>,
  strange: [string, unknown][],
): SelectValue[] {
  const formatted = listAt(attributes, "formatted_select_values", strange);
  const isFormatted = Array.isArray(attributes.formatted_select_values);
  const listed: readonly unknown[] = isFormatted
    ? formatted
    : [...texts].map(([id, value]) => ({ id, value }));
  const offered = new Map<string, SelectValue>();
  listed.forEach((sent, ordinal) => {
    if (sent === null) return;
    const valueId = isObject(sent) && typeof sent.id === "string" ? sent.id : `#${ordinal}`;
    // Of a repeated ID, the first select value counts.
    if (isObject(sent) && !offered.has(valueId)) offered.set(valueId, { ordinal, valueId, sent });
    else strange.push([`formatted_select_values[${ordinal}]`, sent]);
  });
  return [...offered.values()];
}

function listAt(attributes: JsonObject, key: string, strange: [string, unknown][]): readonly unknown[] {
  const value = attributes[key];
  if (Array.isArray(value)) return value;
  if (value !== null && value !== undefined) strange.push([key, value]);
  return [];
}

function mapAt(attributes: JsonObject, key: string, strange: [string, unknown][]): Map<string, unknown> {
  const value = attributes[key];
  if (isObject(value)) return new Map(Object.entries(value));
  if (value !== null && value !== undefined) strange.push([key, value]);
  return new Map();
}

/** Notes differences between the rows and other attributes of the definition. */
function noteOthers(
  subject: DriftSubject,
  values: ReadonlyMap<string, Cell>,
  others: { texts: ReadonlyMap<string, unknown>; archived: readonly unknown[]; plain: readonly unknown[] },
): void {
  const note = (column: string, value: unknown) =>
    subject.drift.note(`custom_field_select_values.${column}`, "views_differ", subject.order, null, value);
  const known = new Set<unknown>(values.values());
  for (const [id, text] of others.texts) if (values.get(id) !== text) note("value", { [id]: text });
  for (const text of others.plain) if (text !== null && !known.has(text)) note("value", text);
  for (const id of others.archived)
    if (!values.has(String(id)) || typeof id !== "string") note("archived", id);
}

type TableSink = (table: string, row: Cell[]) => void;

function tableNamed(name: string): Table {
  const table = DATA_TABLES.find((each) => each.name === name);
  if (table === undefined) throw new TypeError(`no table ${name}`);
  return table;
}

/** A row of an entity: each column from its attribute. */
function entityRow(
  table: Table,
  subject: DriftSubject,
  { attributes, unknown }: Pick<Entity, "attributes" | "unknown">,
  fixed: Readonly<Record<string, Cell>> = {},
): Cell[] {
  const extra = new ExtraFields();
  for (const [path, value] of Object.entries(unknown)) extra.set(path, value);
  const row = table.columns.map((column): Cell => {
    const given = fixed[column.name];
    if (given !== undefined) return given;
    if (column.name === "extra") return null;
    const value = valueAt(attributes, attributePath(table, column));
    return readCell(subject, column, attributeKey(table, column), value, extra);
  });
  row[row.length - 1] = extra.cell();
  return row;
}
