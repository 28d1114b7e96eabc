import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { FieldDefinition, Mapping } from "../../src/audit/mapping/definitions.ts";
import { fillDerivedTables, MAPPED_VALUES_PER_RANGE } from "../../src/load/mapped-values.ts";
import { createViews, fieldTypeDrift, TABLES_OF_VIEWS } from "../../src/load/views.ts";
import { execute, scalar } from "../../src/storage/duckdb.ts";
import { quoteIdentifier, quoteLiteral } from "../../src/storage/sql-text.ts";
import { content } from "../../src/tables/content.ts";
import { contentMappedWide } from "../../src/tables/views.ts";
import { CRM } from "../audit/mapping/mapping-examples.ts";
import { long } from "../long.ts";
import fc from "../properties.ts";
import { temporaryFolder } from "./fixtures.ts";
import {
  createMappingTables,
  emptyTables,
  fillTables,
  type MappingWorld,
  mappingDatabase,
} from "./mapping-tables.ts";

let connection: DuckDBConnection;
before(async () => {
  connection = await mappingDatabase();
});
beforeEach(() => emptyTables(connection));
after(() => connection.closeSync());

/** A select field, unless `rest` says otherwise. */
function field(rest: Partial<FieldDefinition>): FieldDefinition {
  const plain = { customFieldId: "f1", name: "region", fieldType: "select" };
  return { ...plain, selectValues: [], mappings: [], ...rest };
}

function mapping(
  externalFieldName: string,
  entries: Readonly<Record<string, string>>,
  { mappingId = "m1", destinationId = "crm" }: Partial<Mapping> = {},
): Mapping {
  const made = Object.entries(entries).map(([valueId, externalValue], place) => {
    return { mappingValueId: `${mappingId}.${place}`, valueId, externalValue };
  });
  return { mappingId, destinationId, externalFieldName, entries: made };
}

const REGIONS = [
  { valueId: "v1", value: "emea", display: "Europe", archived: false },
  { valueId: "v2", value: "apac", display: "Asia", archived: true },
];

/** An item with texts by field ID. */
function item(contentId: string, texts: Readonly<Record<string, readonly string[]>>) {
  const values = Object.entries(texts).flatMap(([customFieldId, each]) =>
    each.map((text, ordinal) => ({ customFieldId, ordinal, input: text, inputIsId: false, text })),
  );
  return { contentId, values };
}

async function build(world: Partial<MappingWorld>, passthrough = false): Promise<void> {
  await fillTables(connection, { fields: [], destinations: [CRM], items: [], ...world });
  const ranges = { itemBounds: [], rowsPerRange: MAPPED_VALUES_PER_RANGE };
  await fillDerivedTables([connection], { ...ranges, passthrough });
  await createViews(connection);
}

/** Rows of custom field values as they are, and the views over them. */
async function addValues(columns: string, values: string): Promise<void> {
  await execute(
    connection,
    `INSERT INTO content_custom_field_values BY NAME SELECT * FROM (VALUES ${values}) AS given(${columns})`,
  );
  await createViews(connection);
}

/** Rows as JSON would show them. */
async function rowsOf(sql: string, from = connection): Promise<unknown[][]> {
  return (await from.runAndReadAll(sql)).getRowsJson();
}

test("content_wide shows the text of an offered value, the file, the JSON text or the ID where there is no text", async () => {
  await build({
    fields: [
      field({ selectValues: REGIONS }),
      field({ customFieldId: "f2", name: "more", fieldType: "multiselect" }),
    ],
    items: [item("a", {}), item("b", {})],
  });
  await addValues(
    "content_id, custom_field_id, ordinal, value_id, file_id, value_json",
    `('a', 'f1', 0, 'v2', NULL, NULL), ('a', 'f2', 3, NULL, 'file-1', NULL), ('a', 'f2', 1, NULL, NULL, '{"x":1}'),
     ('b', 'f1', 0, 'gone', NULL, NULL), ('b', 'f2', 0, NULL, NULL, NULL)`,
  );
  assert.deepEqual(await rowsOf(`SELECT region, more FROM content_wide ORDER BY content_id`), [
    ["apac", ['{"x":1}', "file-1"]],
    ["gone", null],
  ]);
});

test("a column of `extraColumns` whose name a custom field has gets a tag, and the field keeps its name", async () => {
  await emptyTables(connection);
  await fillTables(connection, {
    fields: [field({ name: "extra_rating" })],
    destinations: [],
    items: [item("i1", { f1: ["of the field"] })],
  });
  await execute(connection, `UPDATE content SET extra = '{"rating": "of the item", "Rating": 2}'`);
  await createViews(connection, { extraColumns: ["rating", "Rating"] });
  assert.deepEqual(
    await rowsOf(
      `SELECT extra_rating, "extra_rating (API field)", "extra_Rating (API field) #2" FROM content_wide`,
    ),
    [["of the field", "of the item", "2"]],
  );
});

/** Texts of some type, each with what it reads as; undefined: as nothing. */
const TYPED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  number: { "1": 1, "-2.50": -2.5, "1e3": 1000, ...nothing("12,5", "NaN", "1e999", " 1", "1_0") },
  currency: { "0.10": 0.1, "9007199254740993": 9007199254740992, ...nothing("$5", "0x10", "inf") },
  percentage: { "45": 45, ...nothing("45%") },
  date: {
    "2024-02-29": "2024-02-29",
    "0001-01-01": "0001-01-01",
    "2024-02-29T00:00:00Z": "2024-02-29",
    "2024-02-29T00:00:00.000Z": "2024-02-29",
    ...nothing("2024-02-30", "2024-2-3", "today", "2024-02-29T23:30:00Z", "2024-02-29T00:00:00+02:00"),
  },
  boolean: { true: true, false: false, ...nothing("True", "1", "yes") },
};
const TYPE_OF: Readonly<Record<string, string>> = { date: "DATE", boolean: "BOOLEAN" };

function nothing(...texts: string[]): Readonly<Record<string, undefined>> {
  return Object.fromEntries(texts.map((text) => [text, undefined]));
}

long(
  "H15: content_wide has a column of the field's type whatever its values are; what does not read as one is NULL, and counted",
  async () => {
    const cellsOf = fc.constantFrom(...Object.keys(TYPED)).chain((kind) => {
      const all = Object.entries(TYPED[kind] ?? {});
      // Mostly what reads: else hardly any column would be typed.
      const reading = fc.constantFrom(...all.filter(([, reads]) => reads !== undefined));
      const cell = fc.oneof(
        { weight: 8, arbitrary: reading },
        fc.constantFrom(...all),
        fc.constant(["", null] as const),
      );
      return fc.record({ kind: fc.constant(kind), cells: fc.array(cell, { minLength: 1, maxLength: 6 }) });
    });
    await fc.assert(
      fc.asyncProperty(cellsOf, async ({ kind, cells }) => {
        await emptyTables(connection);
        const items = cells.map(([text], place) => item(`i${place}`, { f1: [text] }));
        const fields = [field({ name: "given", fieldType: kind })];
        await fillTables(connection, { fields, destinations: [], items });
        await createViews(connection);
        const type =
          "SELECT data_type FROM duckdb_columns() WHERE table_name = 'content_wide' AND column_name = 'given'";
        assert.deepEqual(await rowsOf(type), [[TYPE_OF[kind] ?? "DOUBLE"]]);
        assert.deepEqual(
          await rowsOf("SELECT given FROM content_wide ORDER BY content_id"),
          cells.map(([, reads]) => [reads ?? null]),
        );
        const first = cells.findIndex(([, reads]) => reads === undefined);
        // An item has one value.
        const misread = cells.filter(([, reads]) => reads === undefined).length;
        const counted = { count: misread, items: misread, order: 0, contentId: `i${first}` };
        const entry = {
          path: "content_wide.given",
          kind: "field_type",
          example: cells[first]?.[0],
          ...counted,
        };
        assert.deepEqual(
          await fieldTypeDrift(connection, new Set(TABLES_OF_VIEWS)),
          first < 0 ? [] : [entry],
        );
      }),
      { numRuns: 60 },
    );
  },
);

test("content_wide has NULL where a field of a type has several values, an object, or no value at all", async () => {
  await build({
    fields: [
      field({ name: "pages", fieldType: "number" }),
      field({ customFieldId: "f2", name: "unused", fieldType: "number" }),
      field({ customFieldId: "f3", name: "odd", fieldType: "date" }),
      field({ customFieldId: "f4", name: "note", fieldType: "text" }),
    ],
    items: [item("a", { f1: ["1", "2"], f4: ["1", "2"] }), item("b", { f1: ["3"] })],
  });
  await addValues("content_id, custom_field_id, ordinal, value_json", `('a', 'f3', 0, '{"day":1}')`);
  assert.deepEqual(
    await rowsOf(
      "SELECT pages, unused, typeof(unused) AS type, odd, note FROM content_wide ORDER BY content_id",
    ),
    [
      [null, null, "DOUBLE", null, '["1","2"]'],
      [3, null, "DOUBLE", null, null],
    ],
  );
  assert.deepEqual(
    (await fieldTypeDrift(connection, new Set(TABLES_OF_VIEWS))).map(({ path, count, example }) => [
      path,
      count,
      example,
    ]),
    [
      ["content_wide.odd", 1, '{"day":1}'],
      ["content_wide.pages", 1, "2"],
    ],
  );
});

test("content_wide gives the ID, the name and the URL of a file", async () => {
  await build({
    fields: [field({ name: "hero", fieldType: "image" })],
    items: [item("a", {}), item("b", {}), item("c", {})],
  });
  await execute(
    connection,
    `INSERT INTO custom_field_files BY NAME
     SELECT 'i1' AS file_id, 'tent.jpg' AS file_name, 'https://x.example/tent.jpg' AS file_url`,
  );
  await addValues(
    "content_id, custom_field_id, ordinal, file_id, value",
    "('a', 'f1', 0, 'i1', NULL), ('b', 'f1', 0, 'gone', NULL), ('c', 'f1', 0, NULL, 'https://x.example/y')",
  );
  assert.deepEqual(
    await rowsOf("SELECT hero, hero_file_name, hero_file_url FROM content_wide ORDER BY content_id"),
    [
      ["i1", "tent.jpg", "https://x.example/tent.jpg"],
      ["gone", null, null],
      ["https://x.example/y", null, "https://x.example/y"],
    ],
  );
});

test("H10: content_wide names fields that share a name, also with a column of content, by their label, else their ID", async () => {
  await build({
    fields: [
      field({ customFieldId: "f1", name: "Topic" }),
      field({ customFieldId: "f2", name: "topic" }),
      field({ customFieldId: "f3", name: "Title" }),
      field({ customFieldId: "f4", name: null }),
    ],
    items: [item("a", { f1: ["one"], f2: ["two"], f3: ["three"], f4: ["four"] })],
  });
  const labels = `UPDATE custom_fields SET display_label = CASE custom_field_id WHEN 'f1' THEN 'Old' WHEN 'f3' THEN 'TITLE' ELSE '' END`;
  await execute(connection, labels);
  await createViews(connection);
  assert.deepEqual(
    await rowsOf(`SELECT title, "Topic (Old)", "topic (f2)", "Title (TITLE)", "(f4)" FROM content_wide`),
    [["Title of a", "one", "two", "three", "four"]],
  );
});

long(
  "content_wide takes less than 200 MB for 400 fields, and none of their values for a column of content",
  async (t) => {
    const instance = await DuckDBInstance.create(":memory:", { memory_limit: "200MB", temp_directory: "" });
    const limited = await instance.connect();
    t.after(() => limited.closeSync());
    await createMappingTables(limited);
    const fields = Array.from({ length: 400 }, (_, place) => {
      const fieldType = place % 2 === 0 ? "text" : "multiselect";
      return field({ customFieldId: `f${place}`, name: `field ${place}`, fieldType });
    });
    const texts = Object.fromEntries(fields.map(({ customFieldId }) => [customFieldId, ["one", "two"]]));
    const items = Array.from({ length: 40 }, (_, place) => item(`item-${place}`, texts));
    await fillTables(limited, { fields, destinations: [], items });
    await createViews(limited);
    const rows = await rowsOf("SELECT * FROM content_wide", limited);
    assert.equal(rows.length, 40);
    assert.deepEqual(rows[7]?.slice(-2), ['["one","two"]', ["one", "two"]]);
    const plan = (await limited.runAndReadAll("EXPLAIN SELECT title FROM content_wide")).getRows().join();
    assert.doesNotMatch(plan, /│ +(texts|lists) +│/);
  },
);

/** Values of three items and three fields, in any order, with gaps; of the first field one list. */
const cells = fc.uniqueArray(
  fc.record({
    item: fc.constantFrom("a", "b", "c"),
    field: fc.constantFrom("f1", "f2", "f3"),
    ordinal: fc.integer({ min: 0, max: 4 }),
    value: fc.option(fc.string({ maxLength: 4, unit: "grapheme" })),
  }),
  { selector: ({ item, field, ordinal }) => `${item} ${field} ${ordinal}`, maxLength: 20 },
);

long(
  "content_wide shows the values in their order, whatever they are, and whichever join pairs them",
  async () => {
    const joins = { "by key": {}, "by place": { maxJoinedValues: 0 }, "in ranges": { valuesPerRange: 2 } };
    const columns = [
      { id: "f1", fieldType: "multiselect" },
      { id: "f2", fieldType: "text" },
      { id: "f3", fieldType: "select" },
    ];
    await fc.assert(
      fc.asyncProperty(cells, fc.constantFrom(...Object.values(joins)), async (given, options) => {
        await emptyTables(connection);
        await fillTables(connection, {
          fields: columns.map(({ id, fieldType }) => field({ customFieldId: id, name: id, fieldType })),
          destinations: [],
          items: [item("c", {}), item("b", {}), item("a", {})],
        });
        for (const { item, field, ordinal, value } of given) {
          await execute(
            connection,
            "INSERT INTO content_custom_field_values BY NAME SELECT $1 AS content_id, $2 AS custom_field_id, $3 AS ordinal, $4 AS value",
            [item, field, ordinal, value],
          );
        }
        await createViews(connection, options);
        const expected = ["a", "b", "c"].map((content_id) => {
          const [f1, f2, f3] = columns.map(({ id, fieldType }) => {
            const texts = given
              .filter(({ item, field, value }) => item === content_id && field === id && value !== null)
              .toSorted((a, b) => a.ordinal - b.ordinal)
              .map(({ value }) => value);
            if (texts.length === 0) return null;
            if (fieldType === "multiselect") return texts;
            return texts.length > 1 ? JSON.stringify(texts) : texts[0];
          });
          return [content_id, f1, f2, f3];
        });
        assert.deepEqual(
          await rowsOf("SELECT content_id, f1, f2, f3 FROM content_wide ORDER BY content_id"),
          expected,
        );
      }),
      { numRuns: 30 },
    );
  },
);

test("many values are joined by place, where items and texts lie in the same order", async () => {
  const world = { fields: [field({})], items: [item("b", { f1: ["x"] }), item("a", { f1: ["y"] })] };
  const joined = async () =>
    String(await rowsOf("SELECT sql FROM duckdb_views() WHERE view_name = 'content_wide'"));
  await build(world);
  assert.match(await joined(), /LEFT JOIN/);
  await createViews(connection, { maxJoinedValues: 1 });
  assert.match(await joined(), /POSITIONAL JOIN/);
  await emptyTables(connection);
  await build({ ...world, items: world.items.toReversed() });
  await createViews(connection, { maxJoinedValues: 1 });
  assert.match(await joined(), /LEFT JOIN/, "items that do not lie in their order");
});

test("content_wide is read where the database is attached under another name, beside any other", async (t) => {
  const file = join(await temporaryFolder(t), "wide.duckdb");
  const writer = await DuckDBInstance.create(file);
  const writing = await writer.connect();
  await createMappingTables(writing);
  await fillTables(writing, { fields: [field({})], destinations: [], items: [item("a", { f1: ["emea"] })] });
  await createViews(writing);
  writing.closeSync();
  writer.closeSync();
  const reading = await (await DuckDBInstance.create()).connect();
  t.after(() => reading.closeSync());
  await execute(reading, `ATTACH ${quoteLiteral(file)} AS elsewhere (READ_ONLY)`);
  for (const other of ["internal", "content", "custom", "custom_field_texts"]) {
    await execute(reading, `ATTACH ':memory:' AS ${quoteIdentifier(other)}`);
  }
  const wide = await rowsOf("SELECT content_id, region FROM elsewhere.content_wide", reading);
  assert.deepEqual(wide, [["a", "emea"]]);
  const shown = await rowsOf("USE elsewhere; SHOW TABLES", reading);
  assert.equal(shown.flat().includes("custom_field_texts"), false);
});

test("content_mapped_wide has a row per payload and a list column per external field name", async () => {
  await build({
    fields: [
      field({
        selectValues: REGIONS,
        mappings: [
          mapping("Region", { v1: "EU" }),
          mapping("Territory", { v1: "E", v2: "A" }, { mappingId: "m2", destinationId: "erp" }),
        ],
      }),
      field({
        customFieldId: "f2",
        name: "note",
        fieldType: "text",
        mappings: [mapping("Note", {}, { mappingId: "m3" })],
      }),
    ],
    items: [item("a", { f1: ["v1", "v1"], f2: ["n"] }), item("b", { f1: ["v2"] }), item("c", { f2: ["n"] })],
  });
  const wide = await connection.runAndReadAll("FROM content_mapped_wide ORDER BY content_id, destination_id");
  const columns = ["content_id", "destination_id", "destination", "receives", "Note", "Region", "Territory"];
  assert.deepEqual(wide.columnNames(), columns);
  assert.deepEqual(wide.getRowsJson(), [
    ["a", "crm", "Field Sales", true, null, ["EU", "EU"], null],
    ["a", "erp", "erp", true, null, null, ["E", "E"]],
    ["b", "erp", "erp", true, null, null, ["A"]],
  ]);
});

test("content_mapped_wide shows what is passed through, and tells names apart that DuckDB does not", async () => {
  const text = (customFieldId: string, externalFieldName: string) =>
    field({
      customFieldId,
      fieldType: "text",
      mappings: [mapping(externalFieldName, {}, { mappingId: `m-${customFieldId}` })],
    });
  await build(
    {
      fields: [text("f1", "note"), text("f2", "NOTE"), text("f3", "Destination"), text("f4", "")],
      items: [item("a", { f1: ["1"], f2: ["2"], f3: ["3"], f4: ["4"] })],
    },
    true,
  );
  const [row = {}] = (await connection.runAndReadAll("FROM content_mapped_wide")).getRowObjectsJson();
  const sent = { "(1)": ["4"], "Destination (2)": ["3"], "NOTE (3)": ["2"], "note (4)": ["1"] };
  const place = { content_id: "a", destination_id: "crm", destination: "Field Sales", receives: true };
  assert.deepEqual(row, { ...place, ...sent });
});

test("mapping_coverage has each value that is offered, mapped or used, how many items use it, and an ID for a name", async () => {
  await build({
    fields: [
      field({ selectValues: REGIONS, mappings: [mapping("Region", { v1: "EU", old: "Old" })] }),
      field({
        customFieldId: "f2",
        name: "note",
        fieldType: "text",
        mappings: [mapping("Note", {}, { mappingId: "m3" })],
      }),
      field({ customFieldId: "f3", name: "unmapped", selectValues: REGIONS }),
      field({
        customFieldId: "f4",
        name: "unused",
        fieldType: "date",
        mappings: [mapping("Day", {}, { mappingId: "m4", destinationId: "erp" })],
      }),
    ],
    items: [
      item("a", { f1: ["v1", "v1", "lost"], f2: ["n"] }),
      item("b", { f1: ["emea", "lost", "missing"], f2: ["m"], f3: ["v1"] }),
    ],
  });
  const rows = await rowsOf(
    `SELECT destination, custom_field, external_field_name, value_id, value, status, external_value,
       value_archived, items::INTEGER, uses::INTEGER
     FROM mapping_coverage
     ORDER BY custom_field_id, value_id NULLS LAST, value`,
  );
  const region = ["Field Sales", "region", "Region"];
  assert.deepEqual(rows, [
    [...region, "old", null, "mapped", "Old", false, 0, 0],
    [...region, "v1", "emea", "mapped", "EU", false, 2, 3],
    [...region, "v2", "apac", "unmapped", null, true, 0, 0],
    [...region, null, "lost", "unknown_value", null, false, 2, 2],
    [...region, null, "missing", "unknown_value", null, false, 1, 1],
    ["Field Sales", "note", "Note", null, null, "no_value_mapping", null, false, 2, 2],
    ["erp", "unused", "Day", null, null, "no_value_mapping", null, false, 0, 0],
  ]);
  const uses = "SELECT status, sum(uses)::INTEGER AS rows FROM mapping_coverage GROUP BY ALL HAVING rows > 0";
  const mapped = "SELECT status, count(*)::INTEGER FROM content_mapped_values GROUP BY ALL";
  assert.deepEqual(await rowsOf(`${uses} ORDER BY 1`), await rowsOf(`${mapped} ORDER BY 1`));
});

long("C12: names and IDs cannot break out of a view's text, whatever they are", async () => {
  const hostile = fc.oneof(
    fc.constantFrom(
      ...['x"; DROP TABLE content; --', "'; DROP TABLE content; --", "/* columns */", "/* lists */", "$1"],
      ...["\0", "a\0'b", '"', "'", "\\", "", "K", "\u212A"],
    ),
    fc.string({ unit: "grapheme", maxLength: 12 }),
    fc.string({ unit: "grapheme", minLength: 240, maxLength: 300 }),
  );
  const wanted = fc.uniqueArray(fc.tuple(hostile, hostile, hostile, fc.boolean()), {
    selector: ([id]) => id,
    minLength: 1,
    maxLength: 8,
    size: "max",
  });
  await fc.assert(
    fc.asyncProperty(wanted, async (given) => {
      await emptyTables(connection);
      const fields = given.map(([customFieldId, name, externalFieldName, several], place) =>
        field({
          customFieldId,
          name,
          fieldType: several ? "multiselect" : "text",
          selectValues: [{ valueId: "v", value: `value ${place}`, display: null, archived: false }],
          mappings: [mapping(externalFieldName, { v: `sent ${place}` }, { mappingId: `m${place}` })],
        }),
      );
      const values = fields.map(({ customFieldId }, place) => ({
        customFieldId,
        ordinal: 0,
        input: "v",
        inputIsId: true,
        text: `value ${place}`,
      }));
      await build({ fields, items: [{ contentId: "item", values }] }, true);
      const [wide = []] = await rowsOf("FROM content_wide");
      const shown = wide.slice(content.columns.length).flat().sort();
      assert.deepEqual(shown, fields.map((_, place) => `value ${place}`).sort());
      const [mapped = []] = await rowsOf("FROM content_mapped_wide");
      const sent = fields.map(({ fieldType }, place) => (fieldType === "text" ? "v" : `sent ${place}`));
      assert.deepEqual(mapped.slice(contentMappedWide.columns.length).flat().sort(), sent.sort());
      assert.equal(await scalar(connection, "SELECT count(*) FROM mapping_coverage"), fields.length);
    }),
    { numRuns: 25, interruptAfterTimeLimit: 300_000, markInterruptAsFailure: true },
  );
});

test("views are made anew for other definitions, and content_wide without any is content", async () => {
  for (const names of [["before"], ["after"], []]) {
    await emptyTables(connection);
    await build({ fields: names.map((name) => field({ name })), items: [item("a", {})] });
    const wide = await connection.runAndReadAll("FROM content_wide");
    assert.deepEqual(wide.columnNames().slice(content.columns.length), names);
    assert.equal(wide.currentRowCount, 1);
  }
});
