/** Rows of the shared tables, from the described things and the lookups. */
import { DATA_TABLES } from "../tables/all.ts";
import type { Table } from "../tables/declare.ts";
import type { Cell } from "./columns.ts";
import type { Drift } from "./drift.ts";
import { EXTRA_KEY, type SharedKind, type SharedStore } from "./shared.ts";
import { Extra, fit, isObject, type JsonObject, reach, type Subject } from "./views.ts";

/** Rows of each shared table, in ascending order of the things' IDs. */
export type SharedRows = Map<string, Cell[][]>;

/** Wire attributes whose column has another name. */
const ATTRIBUTES: Record<string, string> = {
  user_id: "id",
  content_type_id: "id",
  campaign_id: "id",
  custom_field_id: "id",
  destination_id: "id",
};

/** The attribute of a column: its name, but for the IDs, the instance and the options. */
function attributeOf(table: Table, name: string): string[] {
  if (name === "instance_id") return [table.name === "instances" ? "id" : "newsroom_id"];
  if (name.startsWith("option_")) return ["options", name.slice("option_".length)];
  return [ATTRIBUTES[name] ?? name];
}

function tableNamed(name: string): Table {
  const table = DATA_TABLES.find((each) => each.name === name);
  if (table === undefined) throw new TypeError(`no table ${name}`);
  return table;
}

/** A destination as the lookup gave it; the wire object. */
export type DestinationAnswer = JsonObject;

/** Everything that the shared tables are made from. */
export interface SharedFacts {
  readonly store: SharedStore;
  /** Answers of the destination lookup. */
  readonly destinations: readonly DestinationAnswer[];
  /** Definitions that the custom field lookup answered, by ID: these have mappings. */
  readonly lookedUp: ReadonlyMap<string, JsonObject>;
  readonly drift: Drift;
}

export function sharedRows(facts: SharedFacts): SharedRows {
  const rows: SharedRows = new Map();
  const put = (table: string, row: Cell[]): void => {
    const list = rows.get(table);
    if (list === undefined) rows.set(table, [row]);
    else list.push(row);
  };
  const subject: Subject = { contentId: null, order: Number.MAX_SAFE_INTEGER, drift: facts.drift };
  for (const kind of ["content_types", "campaigns", "instances"] as const) plainRows(facts, kind, subject, put);
  userRows(facts, subject, put);
  customFieldRows(facts, subject, put);
  mappingRows(facts, subject, put);
  return rows;
}

type Put = (table: string, row: Cell[]) => void;

/** A row of a thing: each column from the attribute of its name. */
function thingRow(
  table: Table,
  subject: Subject,
  attributes: JsonObject,
  fixed: Readonly<Record<string, Cell>> = {},
): Cell[] {
  const extra = new Extra();
  const unknown = attributes[EXTRA_KEY];
  if (isObject(unknown)) for (const key of Object.keys(unknown)) extra.set(key, unknown[key]);
  const row = table.columns.map((column): Cell => {
    const given = fixed[column.name];
    if (given !== undefined) return given;
    if (column.name === "extra") return null;
    const path = attributeOf(table, column.name);
    return fit(subject, column, `${table.name}.${path.join(".")}`, reach(attributes, path), extra);
  });
  row[row.length - 1] = extra.cell();
  return row;
}

function plainRows(facts: SharedFacts, kind: SharedKind, subject: Subject, put: Put): void {
  const table = tableNamed(kind);
  for (const { attributes } of facts.store.of(kind)) put(kind, thingRow(table, subject, attributes));
}

function userRows(facts: SharedFacts, subject: Subject, put: Put): void {
  const table = tableNamed("users");
  for (const { id, attributes } of facts.store.of("users")) {
    put("users", thingRow(table, subject, attributes));
    textListRows(tableNamed("user_groups"), subject, { id, list: attributes.group_ids, put });
    textListRows(tableNamed("user_tours_seen"), subject, { id, list: attributes.tours_seen, put });
  }
}

function textListRows(table: Table, subject: Subject, from: { id: string; list: unknown; put: Put }): void {
  const column = table.columns[2];
  if (column === undefined || !Array.isArray(from.list)) return;
  from.list.forEach((element, ordinal) => {
    const extra = new Extra();
    from.put(table.name, [from.id, ordinal, fit(subject, column, column.name, element, extra), extra.cell()]);
  });
}

/** Options that no column knows, as JSON; NULL where there are none. */
function otherOptions(table: Table, attributes: JsonObject): Cell {
  const { options } = attributes;
  if (!isObject(options)) return null;
  const known = new Set(table.columns.map((column) => column.name));
  const others = Object.entries(options).filter(([name]) => !known.has(`option_${name}`));
  return others.length === 0 ? null : JSON.stringify(Object.fromEntries(others));
}

function customFieldRows(facts: SharedFacts, subject: Subject, put: Put): void {
  const table = tableNamed("custom_fields");
  for (const { id, attributes } of facts.store.of("custom_fields")) {
    const fixed = { from_lookup: facts.lookedUp.has(id), options: otherOptions(table, attributes) };
    put("custom_fields", thingRow(table, subject, attributes, fixed));
    selectValueRows(id, attributes, subject, put);
  }
}

/** Select values as `full` shows them where the formatted ones are missing: ID to text. */
function unformatted(attributes: JsonObject): JsonObject[] {
  const texts = attributes.select_value_ids;
  return isObject(texts) ? Object.keys(texts).map((id) => ({ id, value: texts[id] })) : [];
}

function selectValueRows(fieldId: string, attributes: JsonObject, subject: Subject, put: Put): void {
  const table = tableNamed("custom_field_select_values");
  const formatted = attributes.formatted_select_values;
  const offered = Array.isArray(formatted) ? formatted.filter(isObject) : unformatted(attributes);
  const archived = attributes.archived_value_ids;
  const texts = Array.isArray(attributes.select_values) ? attributes.select_values : [];
  const seen = new Set<string>();
  offered.forEach((value, ordinal) => {
    const valueId = typeof value.id === "string" ? value.id : `#${ordinal}`;
    if (seen.has(valueId)) return;
    seen.add(valueId);
    const known = isObject(attributes.select_value_ids) ? attributes.select_value_ids[valueId] : undefined;
    const complete: JsonObject = {
      ...value,
      value: value.value ?? known ?? texts[ordinal],
      archived: value.archived ?? (Array.isArray(archived) ? archived.includes(valueId) : undefined),
    };
    const fixed = { custom_field_id: fieldId, value_id: valueId, ordinal };
    put(table.name, unknownInto(thingRow(table, subject, complete, fixed), complete, SELECT_VALUE_KEYS));
  });
}

const SELECT_VALUE_KEYS = ["id", "display", "value", "archived"];
const MAPPING_KEYS = ["id", "field_name", "external_site_id", "values"];
const MAPPING_VALUE_KEYS = ["id", "value_id", "value"];
const DESTINATION_KEYS = ["id", "identification", "platform", "supports_custom_field_mappings"];

/** Puts the keys of a lookup's object that the contract does not know into the row's `extra`, its last cell. */
function unknownInto(row: Cell[], object: JsonObject, known: readonly string[]): Cell[] {
  const unknown = Object.entries(object).filter(([key]) => !known.includes(key));
  if (unknown.length === 0) return row;
  const last = row.at(-1);
  const before: unknown = typeof last === "string" ? JSON.parse(last) : {};
  row[row.length - 1] = JSON.stringify({ ...(isObject(before) ? before : {}), ...Object.fromEntries(unknown) });
  return row;
}

/** An ID that is there once; where the answer has none or repeats one, the place in the source stands for it. */
function uniqueId(seen: Set<string>, id: unknown, place: string): string {
  const wanted = typeof id === "string" && id !== "" ? id : place;
  const unique = seen.has(wanted) ? `${wanted} (${place})` : wanted;
  seen.add(unique);
  return unique;
}

function mappingRows(facts: SharedFacts, subject: Subject, put: Put): void {
  const mappings = tableNamed("custom_field_mappings");
  const entries = tableNamed("custom_field_mapping_values");
  const named = new Set<string>();
  const seenMappings = new Set<string>();
  const seenEntries = new Set<string>();
  for (const [fieldId, definition] of [...facts.lookedUp].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const list = Array.isArray(definition.mappings) ? definition.mappings.filter(isObject) : [];
    list.forEach((mapping, ordinal) => {
      const mappingId = uniqueId(seenMappings, mapping.id, `${fieldId}#${ordinal}`);
      if (typeof mapping.external_site_id === "string") named.add(mapping.external_site_id);
      const attributes = { destination_id: mapping.external_site_id, external_field_name: mapping.field_name };
      const fixed = { mapping_id: mappingId, custom_field_id: fieldId, ordinal };
      put(mappings.name, unknownInto(mappedRow(mappings, subject, attributes, fixed), mapping, MAPPING_KEYS));
      const values = Array.isArray(mapping.values) ? mapping.values.filter(isObject) : [];
      values.forEach((entry, at) => {
        const id = uniqueId(seenEntries, entry.id, `${mappingId}#${at}`);
        const row = mappedRow(
          entries,
          subject,
          { value_id: entry.value_id, external_value: entry.value },
          { mapping_value_id: id, mapping_id: mappingId, ordinal: at },
        );
        put(entries.name, unknownInto(row, entry, MAPPING_VALUE_KEYS));
      });
    });
  }
  destinationRows(facts, named, subject, put);
}

/** A row whose attributes already have the columns' names. */
function mappedRow(
  table: Table,
  subject: Subject,
  attributes: JsonObject,
  fixed: Readonly<Record<string, Cell>>,
): Cell[] {
  const extra = new Extra();
  const row = table.columns.map((column): Cell => {
    const given = fixed[column.name];
    if (given !== undefined || column.name === "extra") return given ?? null;
    return fit(subject, column, `${table.name}.${column.name}`, attributes[column.name], extra);
  });
  row[row.length - 1] = extra.cell();
  return row;
}

function destinationRows(facts: SharedFacts, named: ReadonlySet<string>, subject: Subject, put: Put): void {
  const table = tableNamed("destinations");
  const seen = new Set<string>();
  for (const destination of facts.destinations) {
    if (typeof destination.id !== "string" || seen.has(destination.id)) continue;
    seen.add(destination.id);
    put(table.name, unknownInto(thingRow(table, subject, destination), destination, DESTINATION_KEYS));
  }
  for (const id of [...named].sort()) if (!seen.has(id)) put(table.name, thingRow(table, subject, { id }));
}
