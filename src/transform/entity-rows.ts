/** Makes rows of entities and definitions, from their descriptions in items and from lookups. */

import { isObject, type JsonObject } from "../common/json.ts";
import { type DriftSubject, ExtraFields, type UnknownField, valueAt } from "../raw/document.ts";
import type { Drift } from "../raw/drift.ts";
import { attributePath } from "../raw/extra-keys.ts";
import type { RawLookup, RawLookups } from "../raw/raw-file.ts";
import { LOOKUP_ORDER } from "../raw/unknown-fields.ts";
import { readCell } from "../raw/values.ts";
import { type Cell, rowOf } from "../storage/table-builder.ts";
import { DATA_TABLES } from "../tables/all.ts";
import type { Table } from "../tables/declare.ts";
import type { Entity, EntityStore } from "./entity-store.ts";
import { columnOf } from "./joined-rows.ts";
import type { ListedField } from "./listed-fields.ts";
import { toList } from "./rows.ts";

/** Rows of the shared tables, by table, in any order. Adds the definitions of the lookup to the store, as the newest. */
export function makeEntityRows(facts: {
  readonly store: EntityStore;
  readonly lookups: RawLookups;
  /** IDs of the destinations that `ignoreDestinations` names. */
  readonly ignored: readonly string[];
  readonly drift: Drift;
}): Map<string, Cell[][]> {
  const { store, drift } = facts;
  const { destinations, definitions } = facts.lookups;
  const rows = new EntityRows({ contentId: null, order: LOOKUP_ORDER, drift });
  for (const definition of definitions) addDefinition(store, definition);
  for (const kind of ["content_types", "campaigns", "instances"] as const)
    for (const entity of store.of(kind)) rows.add(kind, entity);
  for (const user of store.of("users")) rows.addUser(user);
  const lookedUp = new Set(definitions.map(({ id }) => id));
  for (const field of store.of("custom_fields")) rows.addCustomField(field, lookedUp.has(field.id));
  for (const listed of store.listedFields.take()) rows.addListedField(listed);
  rows.addDestinations(destinations, rows.addMappings(definitions), new Set(facts.ignored));
  return rows.byTable;
}

/** Adds a definition to the store, without its mappings, which have tables of their own. */
function addDefinition(store: EntityStore, { id, answer, unknown }: RawLookup): void {
  const extra = new ExtraFields();
  extra.claim(unknown, answer);
  const { mappings: _mappings, ...attributes } = answer;
  for (const field of unknown) if (field.parent === answer) delete attributes[field.path.at(-1) ?? ""];
  store.add({
    kind: "custom_fields",
    id,
    order: LOOKUP_ORDER,
    attributes: JSON.stringify(attributes),
    unknown: String(extra.cell() ?? "{}"),
  });
}

type Attributes = Pick<Entity, "attributes" | "unknown">;

class EntityRows {
  readonly byTable = new Map<string, Cell[][]>();
  readonly #subject: DriftSubject;

  constructor(subject: DriftSubject) {
    this.#subject = subject;
  }

  /** Adds a row: each column from its attribute, or from `fixed`. Returns its cells by column. */
  add(
    name: string,
    { attributes, unknown }: Attributes,
    fixed: Readonly<Record<string, Cell>> = {},
  ): Readonly<Record<string, Cell>> {
    const table = tableNamed(name);
    const extra = new ExtraFields();
    for (const [path, value] of Object.entries(unknown)) extra.set(path, value);
    const cells: Record<string, Cell> = { ...fixed };
    for (const column of table.columns) {
      if (column.name === "extra" || fixed[column.name] !== undefined) continue;
      const path = attributePath(table, column);
      const key = [table.name, ...path].join(".");
      cells[column.name] = readCell(this.#subject, column, key, valueAt(attributes, path), extra);
    }
    return this.#put(table, { ...cells, extra: extra.cell() });
  }

  #put(table: Table, cells: Readonly<Record<string, Cell>>): Readonly<Record<string, Cell>> {
    const rows = this.byTable.get(table.name) ?? [];
    this.byTable.set(table.name, rows);
    rows.push(rowOf<Cell>(table, cells));
    return cells;
  }

  addUser(user: Entity): void {
    this.add("users", user);
    this.#addTexts("user_groups", "group_id", user.id, user.attributes.group_ids);
    this.#addTexts("user_tours_seen", "tour", user.id, user.attributes.tours_seen);
  }

  #addTexts(name: string, column: string, userId: string, list: unknown): void {
    const table = tableNamed(name);
    toList(this.#subject, `${name}.${column}`, list).forEach((element, ordinal) => {
      const extra = new ExtraFields();
      const cell = readCell(this.#subject, columnOf(table, column), column, element, extra);
      this.#put(table, { user_id: userId, ordinal, [column]: cell, extra: extra.cell() });
    });
  }

  addListedField({ contentTypeId, customFieldId, items }: ListedField): void {
    const table = tableNamed("content_type_custom_fields");
    this.#put(table, { content_type_id: contentTypeId, custom_field_id: customFieldId, items });
  }

  addCustomField({ id, attributes, unknown }: Entity, from_lookup: boolean): void {
    const strange = this.#addSelectValues(id, attributes);
    const options = attributeOf(attributes, "options", strange, isObject);
    for (const [path, value] of Object.entries(strange))
      this.#subject.drift.note(`custom_fields.${path}`, "type", this.#subject.order, null, value);
    const fixed = { from_lookup, options: otherOptions(options) };
    this.add("custom_fields", { attributes, unknown: { ...strange, ...unknown } }, fixed);
  }

  /** Adds select values of `formatted_select_values`, else of `select_value_ids`. Returns values that fit no row. */
  #addSelectValues(fieldId: string, attributes: JsonObject): JsonObject {
    const strange: JsonObject = {};
    const texts = new Map(
      Object.entries(attributeOf(attributes, "select_value_ids", strange, isObject) ?? {}),
    );
    const archived = attributeOf(attributes, "archived_value_ids", strange, isList);
    const plain = attributeOf(attributes, "select_values", strange, isList) ?? [];
    const values = new Map<string, Cell>();
    for (const { ordinal, valueId, sent } of selectValues(attributes, texts, strange)) {
      const complete = {
        display: sent.display,
        value: sent.value ?? texts.get(valueId) ?? plain[ordinal],
        archived: sent.archived ?? archived?.includes(valueId),
      };
      // An ID that is not a text is kept in `extra`.
      const unknown = Object.entries(sent).filter(
        ([key, value]) =>
          !KEYS.includes(key) || (key === "id" && typeof value !== "string" && value !== null),
      );
      const fixed = { custom_field_id: fieldId, value_id: valueId, ordinal };
      const described = { attributes: complete, unknown: Object.fromEntries(unknown) };
      values.set(valueId, this.add("custom_field_select_values", described, fixed).value ?? null);
    }
    this.#noteDifferences(values, { texts, archived: archived ?? [], plain });
    return strange;
  }

  /** Notes differences between the rows of select values and other attributes of the definition. */
  #noteDifferences(
    values: ReadonlyMap<string, Cell>,
    others: { texts: ReadonlyMap<string, unknown>; archived: readonly unknown[]; plain: readonly unknown[] },
  ): void {
    const { drift, order } = this.#subject;
    const note = (column: string, value: unknown) =>
      drift.note(`custom_field_select_values.${column}`, "views_differ", order, null, value);
    const known = new Set<unknown>(values.values());
    for (const [id, text] of others.texts) if (values.get(id) !== text) note("value", { [id]: text });
    for (const text of others.plain) if (text !== null && !known.has(text)) note("value", text);
    for (const id of others.archived)
      if (!values.has(String(id)) || typeof id !== "string") note("archived", id);
  }

  /** Adds rows of both mapping tables. Returns the destination IDs in the mappings. */
  addMappings(definitions: readonly RawLookup[]): Set<string> {
    const destinationIds = new Set<string>();
    const mappingIds = new Set<string>();
    const entryIds = new Set<string>();
    for (const { id: fieldId, answer, unknown } of definitions.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      this.#objectsOf(answer.mappings, "mappings[]").forEach((mapping, ordinal) => {
        const { external_site_id: destination_id, field_name: external_field_name } = mapping;
        const mappingId = uniqueId(mappingIds, mapping.id, `${fieldId}#${ordinal}`);
        if (typeof destination_id === "string") destinationIds.add(destination_id);
        this.add(
          "custom_field_mappings",
          { attributes: { destination_id, external_field_name }, unknown: unknownOf(unknown, mapping) },
          { mapping_id: mappingId, custom_field_id: fieldId, ordinal },
        );
        this.#objectsOf(mapping.values, "mappings[].values[]").forEach((entry, at) => {
          const { value_id, value: external_value } = entry;
          const entryId = uniqueId(entryIds, entry.id, `${mappingId}#${at}`);
          this.add(
            "custom_field_mapping_values",
            { attributes: { value_id, external_value }, unknown: unknownOf(unknown, entry) },
            { mapping_value_id: entryId, mapping_id: mappingId, ordinal: at },
          );
        });
      });
    }
    return destinationIds;
  }

  /** The objects of a list; other elements are counted as drift. */
  #objectsOf(list: unknown, path: string): JsonObject[] {
    if (!Array.isArray(list)) return [];
    const { drift, order } = this.#subject;
    for (const each of list)
      if (!isObject(each)) drift.note(`custom_field_definition.${path}`, "type", order, null);
    return list.filter(isObject);
  }

  /** Adds the destinations of the lookup, and those that only mappings name. */
  addDestinations(
    destinations: readonly RawLookup[],
    mappedIds: ReadonlySet<string>,
    ignoredIds: ReadonlySet<string>,
  ): void {
    const described = new Map<string, Attributes>();
    for (const { id, answer, unknown } of destinations)
      if (!described.has(id)) described.set(id, { attributes: answer, unknown: unknownOf(unknown, answer) });
    for (const id of mappedIds)
      if (!described.has(id)) described.set(id, { attributes: { id }, unknown: {} });
    for (const each of described.values()) {
      const { id, supports_custom_field_mappings: supports } = each.attributes;
      // The only rule: other tables and answers take it from here.
      const receives = supports !== false && !ignoredIds.has(String(id));
      this.add("destinations", each, { receives });
    }
  }
}

/** A unique ID. If the lookup has none, or repeats one, its position makes it unique. */
function uniqueId(used: Set<string>, id: unknown, position: string): string {
  const wanted = typeof id === "string" && id !== "" ? id : position;
  const unique = used.has(wanted) ? `${wanted} (${position})` : wanted;
  used.add(unique);
  return unique;
}

/** Options without a column, as JSON; NULL if there are none. */
function otherOptions(options: JsonObject = {}): Cell {
  const known = new Set(tableNamed("custom_fields").columns.map(({ name }) => name));
  const others = Object.entries(options).filter(([name]) => !known.has(`option_${name}`));
  return others.length === 0 ? null : JSON.stringify(Object.fromEntries(others));
}

/** Unknown fields of an object. */
function unknownOf(unknown: readonly UnknownField[], object: JsonObject): JsonObject {
  const fields = unknown.filter((field) => field.parent === object);
  return Object.fromEntries(fields.map((field) => [field.path.at(-1) ?? "", field.value]));
}

const KEYS = ["id", "display", "value", "archived"];

/** Select values of a definition by their position. Others are added to `strange`. */
function selectValues(attributes: JsonObject, texts: ReadonlyMap<string, unknown>, strange: JsonObject) {
  const formatted = attributeOf(attributes, "formatted_select_values", strange, isList);
  const listed: readonly unknown[] = formatted ?? [...texts].map(([id, value]) => ({ id, value }));
  const values = new Map<string, { ordinal: number; valueId: string; sent: JsonObject }>();
  listed.forEach((sent, ordinal) => {
    if (sent === null) return;
    const valueId = isObject(sent) && typeof sent.id === "string" ? sent.id : `#${ordinal}`;
    // Of a repeated ID, the first select value counts.
    if (isObject(sent) && !values.has(valueId)) values.set(valueId, { ordinal, valueId, sent });
    else strange[`formatted_select_values[${ordinal}]`] = sent;
  });
  return values.values();
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** An attribute of this form; another value is added to `strange`. */
function attributeOf<Form>(
  attributes: JsonObject,
  key: string,
  strange: JsonObject,
  isForm: (value: unknown) => value is Form,
): Form | undefined {
  const value = attributes[key];
  if (isForm(value)) return value;
  if (value !== null && value !== undefined) strange[key] = value;
  return undefined;
}

function tableNamed(name: string): Table {
  const table = DATA_TABLES.find((each) => each.name === name);
  if (table === undefined) throw new TypeError(`no table ${name}`);
  return table;
}
