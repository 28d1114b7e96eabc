import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { Resource } from "../../src/api/fields.ts";
import type { JsonObject } from "../../src/common/json.ts";
import { DATA_TABLES, TABLES } from "../../src/tables/all.ts";
import type { Column, Origin, Table } from "../../src/tables/declare.ts";
import { schemaDocument } from "../../src/tables/schema-output.ts";
import { VIEWS } from "../../src/tables/views.ts";
import { type Transformed, transform } from "./harness.ts";
import { holds, innermostList, mutationsOf, removeAt, valuesAt } from "./mutations.ts";
import { richWorld, type World } from "./rich.ts";

/**
 * The lineage is true: for each API field and each column that is declared to come from it, an item is taken in which
 * that field alone supplies the column, the field is changed, and nothing but the declared columns changes.
 */

const FIELDS: readonly Origin[] = JSON.parse(
  readFileSync(new URL("../fixtures/fields.json", import.meta.url), "utf8"),
);

const VALUE_COLUMNS = ["value_id", "value", "file_id"].map((name) => `content_custom_field_values.${name}`);

interface Target {
  readonly table: Table;
  readonly column: Column;
}

/** The document of a rich world that has a resource's fields: the full one includes basic. */
function documentOf(world: World, resource: Resource): JsonObject {
  if (resource === "envelope") throw new RangeError("the envelope is no document of an item");
  return world[resource === "basic" ? "full" : resource];
}

function isSamePlace(a: Origin, b: Origin): boolean {
  const [one, other] = [a, b].map(({ resource }) => (resource === "basic" ? "full" : resource));
  return a.path === b.path && one === other;
}

/** Columns that are declared to come from a field, those of the same place in the same document included. */
function targetsOf(field: Origin): Target[] {
  return DATA_TABLES.flatMap((table) =>
    table.columns
      .filter((column) => column.origins.some((origin) => isSamePlace(origin, field)))
      .map((column) => ({ table, column })),
  );
}

function nameOf({ table, column }: Target): string {
  return `${table.name}.${column.name}`;
}

/** Leaves a world in which `field` alone supplies `column`. */
function withoutCompetitors(field: Origin, { table, column }: Target): World {
  const world = richWorld();
  const own = documentOf(world, field.resource);
  for (const origin of column.origins) {
    const document = documentOf(world, origin.resource);
    if (isSamePlace(origin, field)) continue;
    // What holds the field cannot go without it, and what lies in it goes with it.
    if (document === own && (holds(origin.path, field.path) || holds(field.path, origin.path))) continue;
    if (JOINT.some((pair) => pair.includes(column.name) && pair.includes(origin.path))) continue;
    // A list is read whole from the view that was read last, so that another document's list must go whole. But what
    // several views say of a custom field's value is put together value by value.
    const isMerged = document === own || table.name === "content_custom_field_values";
    const list = isMerged ? undefined : innermostList(origin.path);
    removeAt(document, list ?? origin.path);
  }
  return world;
}

/** Columns that hold several fields against one another: there the others are no competitors. */
const JOINT: readonly (readonly string[])[] = [
  ["mapping_input_is_id", "custom_fields", "custom_field_value_ids"],
  // By the ID two documents are of one item.
  ["content_id", "id"],
];

/** Columns that may change with a field although they do not come from it. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  // The type of a field gives no value, but decides whether a value is an ID, a text or a file.
  "full:custom_fields[].field_type": VALUE_COLUMNS,
  "dynamic:custom_fields_details[].field_type": VALUE_COLUMNS,
  // Where two views differ, what the one says and no column has room for is kept with the item.
  "full:custom_fields[].value": ["content.extra"],
  "dynamic:custom_fields": ["content.extra"],
  "dynamic:custom_field_values": ["content.extra"],
  // The ID changes in every view of the file.
  "dynamic:custom_field_values.{file}.id": ["content_custom_field_values.mapping_input"],
  // A destination that is not known to support mappings receives nothing.
  "destination:supports_custom_field_mappings": ["destinations.receives"],
};

function run(world: World): Transformed {
  return transform(
    [
      [
        { shape: "dynamic", document: world.dynamic },
        { shape: "full", document: world.full },
      ],
    ],
    { destinations: [world.destination], definitions: [world.custom_field_definition] },
  );
}

/** Columns that do not hold the same values in two runs; which row has a value is not looked at. */
function changedColumns(before: Transformed, after: Transformed): Set<string> {
  const changed = new Set<string>();
  for (const table of DATA_TABLES) {
    for (const { name } of table.columns) {
      if (valuesOf(before, table, name) !== valuesOf(after, table, name))
        changed.add(`${table.name}.${name}`);
    }
  }
  return changed;
}

function valuesOf({ rows }: Transformed, table: Table, column: string): string {
  const values = (rows.get(table.name) ?? []).map((row) => row[column]).filter((value) => value !== null);
  return values.map(String).sort().join("\n");
}

/**
 * Columns without an API field of their own that may change with a key: in its table, where rows come and go, and in
 * the tables that refer to it.
 */
function inheriting(targets: readonly Target[]): Set<string> {
  const keyed = new Set(
    targets.filter(({ table, column }) => table.key.includes(column.name)).map(({ table }) => table.name),
  );
  const found = new Set<string>();
  for (const table of DATA_TABLES) {
    const referring = table.references.filter((reference) => keyed.has(reference.table));
    const names = new Set(referring.flatMap(({ columns }) => columns));
    for (const { name, origins } of table.columns) {
      if (origins.length > 0 || name === "extra") continue;
      if (keyed.has(table.name) || names.has(name)) found.add(`${table.name}.${name}`);
    }
  }
  return found;
}

function liesIn(inner: Origin, outer: Origin): boolean {
  return inner.resource === outer.resource && holds(outer.path, inner.path);
}

const WIRE_FIELDS = FIELDS.filter(({ resource }) => resource !== "envelope");

describe("every API field is placed, and nothing else", () => {
  const { unplaced } = schemaDocument(TABLES);
  const key = ({ resource, path }: Origin) => `${resource}:${path}`;
  const known = new Set(FIELDS.map(key));
  const placed = new Set(TABLES.flatMap((table) => table.columns.flatMap(({ origins }) => origins.map(key))));

  test("each field of the specification is the origin of a column, or unplaced with a reason", () => {
    const excused = new Map(unplaced.map((field) => [key(field), field.reason]));
    const lost = FIELDS.map(key).filter((field) => !placed.has(field) && !excused.has(field));
    assert.deepEqual(lost, []);
    for (const [field, reason] of excused) {
      assert.ok(known.has(field) && !placed.has(field), `${field} is unplaced for no reason`);
      assert.match(reason, /^[A-Z].{20,}\.$/, `${field}: a reason is a sentence`);
    }
  });

  test("no column comes from a field that the specification does not have", () => {
    assert.deepEqual(
      [...placed].filter((field) => !known.has(field)),
      [],
    );
  });
});

describe("a change of an API field changes the columns that are declared to come from it, and no others", () => {
  for (const field of WIRE_FIELDS) {
    const targets = targetsOf(field);
    const inner = WIRE_FIELDS.filter((each) => liesIn(each, field)).flatMap(targetsOf);
    const declared = new Set([...targets, ...inner].map(nameOf));
    const also = new Set(ALSO[`${field.resource}:${field.path}`]);
    const followers = inheriting([...targets, ...inner]);
    test(`${field.resource}:${field.path}`, () => {
      for (const target of targets) {
        const before = withoutCompetitors(field, target);
        const unchanged = run(before);
        let reached = false;
        for (const { apply, moves } of mutationsOf(field)) {
          const changed = changedColumns(unchanged, run(apply(before)));
          const allowed = declared
            .union(also)
            .union(followers)
            .union(moves ? movedColumns(targets) : NONE);
          assert.deepEqual(
            [...changed.difference(allowed)],
            [],
            `changed besides ${[...declared].join(", ")}`,
          );
          reached ||= changed.has(nameOf(target));
        }
        assert.ok(reached, `${nameOf(target)} does not follow the field`);
      }
    });
  }
});

const NONE: ReadonlySet<string> = new Set();

/** All columns of the tables of whose key a target is part, and of those whose key says what they belong to. */
function movedColumns(targets: readonly Target[]): Set<string> {
  const moved = targets
    .filter(({ table, column }) => table.key.includes(column.name))
    .map(({ table }) => table.name);
  const follows = ({ key, references }: Table) =>
    references.some(
      ({ table, columns }) => moved.includes(table) && columns.some((name) => key.includes(name)),
    );
  const tables = DATA_TABLES.filter((table) => moved.includes(table.name) || follows(table));
  return new Set(tables.flatMap((table) => table.columns.map((column) => nameOf({ table, column }))));
}

/** Fields that hold others: an object, or a list of objects. */
const CONTAINERS = WIRE_FIELDS.filter((field) => WIRE_FIELDS.some((inner) => liesIn(inner, field)));

describe("without a container field, what lies in it has no rows, or no values in rows that stay for other reasons", () => {
  for (const field of CONTAINERS) {
    test(`${field.resource}:${field.path}`, () => {
      const below = WIRE_FIELDS.filter((inner) => isSamePlace(inner, field) || liesIn(inner, field));
      for (const inner of below) {
        for (const target of targetsOf(inner)) {
          const world = withoutCompetitors(inner, target);
          removeAt(documentOf(world, field.resource), field.path);
          const rows = run(world).rows.get(target.table.name) ?? [];
          const left = rows.map((row) => row[target.column.name]).filter((value) => value !== null);
          assert.deepEqual(left, [], `${nameOf(target)} from ${inner.path}`);
        }
      }
    });
  }
});

test("keys are required columns, and no table has a column twice", () => {
  for (const { name, key, columns } of [...TABLES, ...VIEWS]) {
    const required = columns.filter(({ nullable }) => !nullable).map((column) => column.name);
    assert.deepEqual([...new Set(key).difference(new Set(required))], [], name);
    assert.equal(new Set(columns.map((column) => column.name.toLowerCase())).size, columns.length, name);
  }
});

test("the item that this is shown with has every API field", () => {
  const world = richWorld();
  const lost = WIRE_FIELDS.filter(
    ({ resource, path }) => valuesAt(documentOf(world, resource), path).length === 0,
  );
  assert.deepEqual(lost, []);
});

test("the comment of a column that refers to another names it", () => {
  for (const { name, columns, references } of [...TABLES, ...VIEWS]) {
    for (const {
      columns: [from = ""],
      table,
      to: [to],
    } of references) {
      const comment = columns.find((each) => each.name === from)?.comment ?? "";
      assert.ok(comment.includes(` → ${table}.${to}`), `${name}.${from}: ${comment}`);
    }
  }
});
