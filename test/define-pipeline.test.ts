/** What can be composed, and what a person is told of what cannot. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { WarehouseError } from "../src/common/errors.ts";
import { definePipeline } from "../src/define-pipeline.ts";
import * as library from "../src/index.ts";
import type { PipelineSpec, Transformer } from "../src/pipeline.ts";
import { CONTENT_TABLES } from "../src/tables/all.ts";
import { bigint, text } from "../src/tables/custom-tables.ts";
import { many } from "./long.ts";
import fc from "./properties.ts";

const {
  contentTables,
  customFields,
  customTable,
  destinations,
  duckdb,
  history,
  listing,
  mappedValues,
  mappingCoverage,
  parquet,
  singleItems,
  sqlTable,
  test: rowsTest,
} = library;

const WHOLE: PipelineSpec = {
  name: "whole",
  extract: [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")],
  transform: [contentTables(), mappedValues(), history()],
  load: [duckdb(), parquet()],
};

/** What is wrong with a composition, one phrase each. */
function faultsOf(spec: unknown): string[] {
  try {
    definePipeline(spec as PipelineSpec);
  } catch (thrown) {
    assert.ok(thrown instanceof WarehouseError, `threw ${String(thrown)}`);
    assert.equal(thrown.code, "config.invalid");
    const [, list = ""] =
      /^The pipeline(?: ".*?")? cannot be run: (.+)\.$/.exec(thrown.message) ?? assert.fail(thrown.message);
    return list.split("; ");
  }
  return [];
}

/** Of what a module in plain JavaScript may hand over. */
function loose<Factory extends (...args: never[]) => unknown>(factory: Factory) {
  return factory as unknown as (...args: unknown[]) => ReturnType<Factory>;
}

const titles = (more: object = {}) =>
  loose(customTable)({
    name: "titles",
    comment: "Titles.",
    columns: [text("title", { comment: "Title." })],
    rows: () => [],
    ...more,
  });
const query = (name: string, more: object = {}) =>
  loose(sqlTable)({
    name,
    comment: "Counts.",
    key: ["items"],
    columns: [bigint("items", { comment: "Items.", required: true })],
    reads: ["content"],
    sql: "SELECT count(*) AS items FROM content",
    ...more,
  });

/** Options of factories, as JavaScript may give them, and what a person is told. */
const WRONG_OPTIONS: readonly (readonly [make: () => unknown, says: string])[] = [
  [() => loose(listing)("fulll"), 'listing: expected one of "dynamic"|"full"'],
  [() => loose(singleItems)({ off: "all" }), 'singleItems: Unrecognized key: "off" (did you mean "of"?)'],
  [
    () => loose(destinations)({ names: ["Website"] }),
    "destinations: `names[0]`: expected object, found string",
  ],
  [
    () => loose(contentTables)({ only: ["content", "content_tag"] }),
    'contentTables: `only[1]`: no content table is called "content_tag" (did you mean "content_tags"?)',
  ],
  [() => contentTables({ only: [], except: [] }), "contentTables: takes only or except, not both"],
  [
    () => loose(customTable)({ name: "titles", comment: "x" }),
    'customTable "titles": `columns`: expected array, found nothing; `rows`: expected a function',
  ],
  [
    () => loose(text)("title", { from: ["dynamic:titel", "full:title"], comment: "x" }),
    'column "title": `from[0]`: "dynamic:titel" is no API field (did you mean "dynamic:title"?)',
  ],
  [
    () => loose(rowsTest)({ name: " ", sql: "", severity: "fatal", limit: -1, limits: 1 }),
    'test " ": `name`: expected one line of 1 to 100 characters; `sql`: expected a query; `severity`: expected one of "error"|"warning"; `limit`: expected number to be >=0; Unrecognized key: "limits" (did you mean "limit"?)',
  ],
  [
    () => rowsTest({ name: "mapping coverage, all", sql: "FROM content" }),
    'test "mapping coverage, all": `name`: "mapping coverage" begins the names of mappingCoverage',
  ],
  [
    () => mappingCoverage({ failOn: {} }),
    "mappingCoverage: `failOn`: expected a limit of unmapped, unknown_value, empty, ambiguous, collision",
  ],
  [
    () => mappingCoverage({ failOn: { unmapped: 0.5 } }),
    "mappingCoverage: `failOn.unmapped`: expected int, found number",
  ],
];

test("a factory refuses options that it does not have, and values that are none of theirs", () => {
  for (const [make, says] of WRONG_OPTIONS)
    assert.throws(make, { code: "config.invalid", message: `${says}.` });
});

suite("a composition is refused for", () => {
  const cases: Readonly<Record<string, readonly [spec: object, ...faults: string[]]>> = {
    "an unknown key": [{ extrct: [] }, 'Unrecognized key: "extrct" (did you mean "extract"?)'],
    "a name and a description that are none": [
      { name: "Nightly Run", description: 5 },
      "`name`: expected lower-case letters, digits and -",
      "`description`: expected string, found number",
    ],
    "no listing": [
      { extract: [destinations(), customFields()], transform: [contentTables({ only: ["destinations"] })] },
      'extract has no listing, so there are no items: add listing("dynamic"), listing("full") or both',
    ],
    "single items without the listing that names them": [
      { extract: [listing("full"), singleItems()], transform: [contentTables()] },
      'singleItems needs listing("dynamic"), which says which items are events',
    ],
    "definitions of fields that nothing names": [
      { extract: [listing("dynamic"), customFields()], transform: [contentTables()] },
      'customFields needs listing("full"), which names the fields of items, or its option names',
    ],
    "no table": [{ transform: [] }, "transform makes no table: add contentTables()"],
    "tables that nothing fills": [
      {
        extract: [listing("full")],
        transform: [
          contentTables({ only: ["content", "destinations", "custom_field_mappings", "content_events"] }),
        ],
      },
      'no extractor fills the table content_events: it needs listing("dynamic")',
      "no extractor fills the table destinations: it needs destinations() or customFields()",
      "no extractor fills the table custom_field_mappings: it needs customFields()",
    ],
    "mapped values without destinations and definitions": [
      { extract: [listing("full")], transform: [contentTables(), mappedValues()] },
      "mappedValues needs destinations() in extract",
      "mappedValues reads custom_field_mappings, which no extractor fills: it needs customFields()",
      "mappedValues reads custom_field_mapping_values, which no extractor fills: it needs customFields()",
    ],
    "mapped values without their tables": [
      { transform: [contentTables({ except: ["custom_fields", "destinations"] }), mappedValues()] },
      "mappedValues reads custom_fields, which no transformer makes: let contentTables() make it",
      "mappedValues reads destinations, which no transformer makes: let contentTables() make it",
    ],
    "a history of nothing": [
      { transform: [contentTables({ only: ["content"] }), history()] },
      "history reads content_mapped_values, which no transformer makes: add mappedValues()",
      "history reads content_external_payloads, which no transformer makes: add mappedValues()",
    ],
    "two tables of one name": [
      { transform: [contentTables(), titles(), query("titles")] },
      "two of its tables are called titles",
    ],
    "names that are taken": [
      {
        transform: [
          contentTables(),
          ...["content", "content_wide", "payloads_as_of", "run", "run_notes"].map((name) =>
            titles({ name }),
          ),
        ],
      },
      'customTable "content": content is the name of a table of the package',
      'customTable "content_wide": content_wide is the name of a view or macro of the package',
      'customTable "payloads_as_of": payloads_as_of is the name of a view or macro of the package',
      'customTable "run": run is a name of the package\'s own',
      'customTable "run_notes": names that begin with run_ are the package\'s own',
    ],
    "bad keys": [
      {
        transform: [
          contentTables(),
          titles({ name: "a", key: ["titel"] }),
          titles({ name: "b", key: ["title"] }),
          titles({ name: "c", key: ["content_id"] }),
          query("e", { key: [] }),
        ],
      },
      'customTable "a": its key has "titel", which is no required column (did you mean "title"?)',
      'customTable "b": its key has "title", which is no required column',
      'customTable "c": its key has content_id twice',
      'sqlTable "e": `key`: expected array to have >=1 items',
    ],
    "bad columns": [
      {
        transform: [
          titles({ name: "b", columns: [text("title", { comment: "x" }), text("title", { comment: "x" })] }),
          titles({ name: "d", columns: [text("The Title", { comment: "x" })] }),
          titles({ name: "e", columns: ["title"] }),
        ],
      },
      'customTable "b": two of its columns are called title',
      'customTable "d": `columns[1].name`: expected lower-case letters, digits and _',
      'customTable "e": `columns[1]`: expected a column, such as text("title", { comment: "Title." })',
    ],
    "queries that read nothing that is there": [
      { transform: [contentTables(), query("counts", { reads: ["contents"] })] },
      'sqlTable "counts" reads contents, which no transformer makes (did you mean "content"?)',
    ],
    "queries that read in a circle": [
      {
        transform: [
          contentTables(),
          query("own", { reads: ["own"] }),
          query("one", { reads: ["two"] }),
          query("two", { reads: ["one"] }),
        ],
      },
      'sqlTable "own" reads a table that is made from its own rows',
      'sqlTable "one" reads a table that is made from its own rows',
      'sqlTable "two" reads a table that is made from its own rows',
    ],
    "nothing in the warehouse folder": [
      { load: [{ name: "lake", stage: async () => ({}) }] },
      "load has neither duckdb() nor parquet(), so nothing would be published",
    ],
    "a stage, a loader or a name of tests twice": [
      {
        extract: [listing("dynamic"), singleItems(), singleItems()],
        load: [duckdb(), duckdb()],
        audit: ["1", "2"].map((n) => rowsTest({ name: "titles", sql: `SELECT ${n}` })),
      },
      "extract has singleItems() twice",
      "load has duckdb twice",
      'audit has two tests called "titles"',
    ],
    "a limit of mapped values without any": [
      {
        transform: [contentTables({ only: ["content"] })],
        audit: [mappingCoverage({ failOn: { unmapped: 1 } })],
      },
      "mappingCoverage and lostValues need mappedValues() in transform",
    ],
    "stages that are none, or stand in a list that is not theirs": [
      {
        extract: [listing, { extract: "listing", mode: "all" }, duckdb()],
        transform: [contentTables, singleItems()],
        load: [duckdb, { name: "x" }, contentTables()],
        audit: [duckdb()],
      },
      "`extract[0]`: expected object, found function",
      '`extract[1].mode`: expected one of "dynamic"|"full"',
      "`extract[2].extract`: expected 'listing' | 'single_items' | 'destinations' | 'custom_fields'",
      "`transform[0]`: expected object, found function",
      "`transform[1].tables`: expected array, found nothing",
      "`load[0]`: expected object, found function",
      "`load[1]`: expected a loader: duckdb(), parquet(), or one with a stage",
      "`load[2]`: expected a loader: duckdb(), parquet(), or one with a stage",
      '`audit[0].severity`: expected one of "error"|"warning"',
    ],
    "tables of one's own that somebody has put together wrongly": [
      { transform: [{ name: "a", tables: [{ name: "b" }], reads: [] }] },
      "a: `comment`: expected string, found nothing",
      "a: `columns`: expected array, found nothing",
    ],
    "tables of one's own without the one way to their rows": [
      {
        transform: [
          { ...titles(), name: "neither", rows: undefined },
          { ...titles(), name: "both", sql: "SELECT 1" },
          { ...titles(), name: "another", rows: undefined, sql: "SELECT 1" },
          { ...titles(), name: "none", tables: [] },
          { ...contentTables({ only: ["content"] }), name: "not its own", rows: () => [] },
        ],
      },
      ...["neither", "both", "another", "none", "not its own"].map(
        (name) => `${name}: a custom table needs a stage of its own, with either rows or sql`,
      ),
    ],
  };
  for (const [what, [spec, ...expected]] of Object.entries(cases)) {
    test(what, () => {
      const faults = faultsOf({ ...WHOLE, ...spec });
      for (const each of expected) {
        assert.ok(
          faults.some((fault) => fault.startsWith(each)),
          `"${each}" is not told: ${faults.join("\n")}`,
        );
      }
      assert.deepEqual(faults, [...new Set(faults)], "nothing is told twice");
    });
  }

  test("all that does not fit together at once, in one message that names the pipeline", () => {
    const spec = {
      name: "mine",
      extract: [listing("full"), listing("full"), singleItems()],
      transform: [contentTables({ only: ["content", "destinations"] }), mappedValues()],
      load: [{ name: "lake", stage: async () => ({ commit: async () => {}, abort: async () => {} }) }],
    };
    assert.throws(() => definePipeline(spec), { message: /^The pipeline "mine" cannot be run: / });
    assert.equal(faultsOf(spec).length, 10, faultsOf(spec).join("\n"));
  });
});

test("whatever is handed over, the result is a pipeline or a WarehouseError of the configuration", () => {
  const words =
    "name comment columns key reads sql rows only except of names extract mode tables transform load";
  const anything = fc.anything({
    withBigInt: true,
    withNullPrototype: true,
    withSparseArray: true,
    withMap: true,
    key: fc.constantFrom(...`${words} __proto__ toString constructor type stage`.split(" ")),
    values: [fc.constantFrom("content", "full", "listing", "duckdb", "", "run_x", Symbol("x")), fc.nat()],
  });
  const or = <Value>(arbitrary: fc.Arbitrary<Value>) =>
    fc.oneof({ weight: 20, arbitrary }, { weight: 1, arbitrary: anything });
  const factories = [contentTables, customTable, sqlTable, mappedValues, listing, singleItems, customFields];
  const made = fc
    .tuple(fc.constantFrom(...factories.map((each) => loose(each as (...args: never[]) => object))), anything)
    .map(([factory, options]) => {
      try {
        return factory(options);
      } catch (thrown) {
        assert.ok(thrown instanceof WarehouseError && thrown.code === "config.invalid", String(thrown));
        return options;
      }
    });
  const list = (...sound: readonly object[]) =>
    or(
      fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...sound) }, made), {
        minLength: 1,
        maxLength: 2,
      }),
    );
  const custom = [titles(), titles({ columns: [] }), query("counts"), query("counts", { reads: ["counts"] })];
  const spec = fc.record(
    {
      name: or(fc.constant("x")),
      extract: list(listing("full"), listing("dynamic")),
      transform: list(contentTables(), ...custom),
      load: list(duckdb(), parquet()),
    },
    { requiredKeys: [] },
  );
  let composed = 0;
  fc.assert(
    fc.property(or(spec), (each) => {
      if (faultsOf(each).length === 0) composed += 1;
    }),
    { numRuns: many(500, 200_000) },
  );
  assert.ok(composed > 0, "some could be composed");
});

suite("a composition", () => {
  test("says all that a run needs to know", () => {
    const pipeline = definePipeline({
      ...WHOLE,
      extract: [
        listing("full"),
        listing("dynamic"),
        singleItems({ of: "all" }),
        destinations({ names: [{ name: "Website", platform: "External" }] }),
        customFields({ names: ["Region"] }),
      ],
      transform: [contentTables(), mappedValues({ passthrough: true })],
    });
    const { listings, singleItems: of, destinations: names, customFields: fields, passthrough } = pipeline;
    assert.deepEqual(
      { listings, of, names, fields, passthrough },
      {
        listings: ["full", "dynamic"],
        of: "all",
        names: [{ name: "Website", platform: "External" }],
        fields: ["Region"],
        passthrough: true,
      },
    );
  });

  test("of a listing alone asks for nothing else", () => {
    const pipeline = definePipeline({
      name: "small",
      extract: [listing("full")],
      transform: [contentTables({ only: ["content"] })],
      load: [parquet()],
    });
    const { singleItems: of, destinations: names, customFields: fields, passthrough, description } = pipeline;
    assert.deepEqual(
      { of, names, fields, passthrough, description },
      { of: "none", names: [], fields: undefined, passthrough: false, description: "" },
    );
  });

  const ALL = CONTENT_TABLES.map(({ name }) => name);
  const LOOKED_UP = ["destinations", "custom_field_mappings", "custom_field_mapping_values"];
  const tablesOf = (extract: PipelineSpec["extract"], transform: Transformer[] = [contentTables()]) =>
    definePipeline({ ...WHOLE, extract, transform }).tables.map(({ name }) => name);

  test("has the content tables that its extractors can fill", () => {
    assert.deepEqual(tablesOf(WHOLE.extract), ALL);
    const named = customFields({ names: ["Region"] });
    assert.ok(tablesOf([listing("dynamic"), named]).includes("custom_field_mappings"));
    const two = ["users", "content"] as const;
    assert.deepEqual(
      tablesOf(WHOLE.extract, [contentTables({ except: two })]),
      ALL.filter((name) => !two.some((each) => each === name)),
    );
    assert.deepEqual(
      tablesOf([listing("dynamic"), listing("full")]),
      ALL.filter((name) => !LOOKED_UP.includes(name)),
    );
    assert.deepEqual(
      tablesOf([listing("dynamic"), listing("full"), destinations()]),
      ALL.filter((name) => name === "destinations" || !LOOKED_UP.includes(name)),
    );
    const [full, dynamic] = [tablesOf([listing("full")]), tablesOf([listing("dynamic")])];
    assert.deepEqual(
      ALL.filter((name) => !full.includes(name) && !dynamic.includes(name)),
      ALL.filter((name) => LOOKED_UP.includes(name)),
    );
    for (const name of ["content_events", "content_task_deadlines"])
      assert.deepEqual([full.includes(name), dynamic.includes(name)], [false, true], name);
    for (const name of ["content_attachments", "content_tags"])
      assert.deepEqual([full.includes(name), dynamic.includes(name)], [true, true], name);
  });

  test("makes queries in the order in which they read each other, however they stand", () => {
    const { queries } = definePipeline({
      ...WHOLE,
      transform: [
        query("last", { reads: ["middle", "first"] }),
        query("middle", { reads: ["first"] }),
        query("first"),
        contentTables(),
      ],
    });
    assert.deepEqual(Object.keys(queries), ["first", "middle", "last"]);
  });
});
