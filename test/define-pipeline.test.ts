/** What can be composed, and what a person is told of what cannot. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { WarehouseError } from "../src/common/errors.ts";
import { definePipeline } from "../src/define-pipeline.ts";
import * as library from "../src/index.ts";
import type { PipelineSpec, Transformer } from "../src/pipeline.ts";
import { CONTENT_TABLES } from "../src/tables/all.ts";
import { bigint, text } from "../src/tables/declare.ts";
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

suite("a composition is refused for", () => {
  const cases: Readonly<Record<string, readonly [spec: object, ...faults: string[]]>> = {
    "an unknown key": [{ extrct: [] }, 'there is no key "extrct" (did you mean "extract"?)'],
    "a name that is none": [{ name: "Nightly Run" }, "its name is not in lower-case letters, digits and -"],
    "a description that is no text": [{ description: 5 }, "its description is not a text"],
    "no listing": [
      { extract: [destinations(), customFields()], transform: [contentTables({ only: ["destinations"] })] },
      'extract has no listing, so there are no items: add listing("dynamic"), listing("full") or both',
    ],
    "a stage of single items twice": [
      { extract: [listing("dynamic"), singleItems(), singleItems()] },
      "extract has singleItems twice",
    ],
    "a listing twice": [
      { extract: [listing("full"), listing("full")], transform: [contentTables()] },
      'extract has listing("full") twice',
    ],
    "a listing that there is not": [
      { extract: [loose(listing)("fulll")] },
      'listing takes "dynamic" or "full", not "fulll"',
    ],
    "single items without the listing that names them": [
      { extract: [listing("full"), singleItems()], transform: [contentTables()] },
      'singleItems needs listing("dynamic"), which says which items are events',
    ],
    "definitions of fields that nothing names": [
      { extract: [listing("dynamic"), customFields()], transform: [contentTables()] },
      'customFields needs listing("full"), which names the fields that items carry, or names of its own',
    ],
    "options that there are not": [
      {
        extract: [
          listing("dynamic"),
          loose(singleItems)({ off: "all" }),
          loose(destinations)({ name: [] }),
          loose(customFields)({ toString: 1, names: ["Region"] }),
        ],
        transform: [loose(contentTables)({ olny: [] }), loose(mappedValues)({ passthru: true })],
      },
      'singleItems has no option "off" (did you mean "of"?)',
      'destinations has no option "name" (did you mean "names"?)',
      'customFields has no option "toString"',
      'contentTables has no option "olny" (did you mean "only"?)',
      'mappedValues has no option "passthru" (did you mean "passthrough"?)',
    ],
    "lists with a hole": [
      {
        extract: [
          listing("dynamic"),
          loose(customFields)({ names: new Array(1) }),
          { extract: "listing", faults: new Array(1) },
        ],
        transform: [titles({ key: new Array(1) }), titles({ columns: new Array(1) })],
      },
      "customFields: names is not a list of names",
      'extract[2] is no stage: call its factory, as in listing("full")',
      'customTable "titles": key is not a list of names of columns',
      'customTable "titles": columns[1] is no column: call its factory, as in text("title", { comment: "Title." })',
    ],
    "options of other types": [
      {
        extract: [
          listing("dynamic"),
          loose(singleItems)({ of: "event" }),
          loose(destinations)({ names: ["Website"] }),
          loose(customFields)({ names: [1] }),
        ],
        transform: [loose(mappedValues)({ passthrough: "yes" }), loose(contentTables)({ only: "content" })],
      },
      'singleItems: of is not "events" or "all"',
      'destinations: names is not a list of objects such as { name: "Website", platform: "External" }',
      "customFields: names is not a list of names",
      "mappedValues: passthrough is not true or false",
      "contentTables: only is not a list of tables",
    ],
    "tables that are misspelled": [
      { transform: [loose(contentTables)({ only: ["content", "content_tag", 7] })] },
      'contentTables: only names "content_tag" (did you mean "content_tags"?), 7, which no content table is called',
    ],
    "only and except": [
      { transform: [contentTables({ only: ["content"], except: ["users"] })] },
      "contentTables takes either only or except, not both",
    ],
    "no table": [{ transform: [] }, "transform gives no table: add contentTables()"],
    "tables that nothing fills": [
      {
        extract: [listing("full")],
        transform: [
          contentTables({ only: ["content", "destinations", "custom_field_mappings", "content_events"] }),
        ],
      },
      'nothing that it reads fills the table content_events: it needs listing("dynamic")',
      "nothing that it reads fills the table destinations: it needs destinations() or customFields()",
      "nothing that it reads fills the table custom_field_mappings: it needs customFields()",
    ],
    "mapped values without destinations": [
      { extract: [customFields(), listing("full")], transform: [contentTables(), mappedValues()] },
      "mappedValues needs destinations() in extract",
    ],
    "mapped values without definitions": [
      { extract: [destinations(), listing("full")], transform: [contentTables(), mappedValues()] },
      "mappedValues reads custom_field_mappings, which nothing that it reads fills: it needs customFields()",
      "mappedValues reads custom_field_mapping_values, which nothing that it reads fills: it needs customFields()",
    ],
    "mapped values without their tables": [
      { transform: [contentTables({ except: ["custom_fields", "destinations"] }), mappedValues()] },
      "mappedValues reads custom_fields, which no transformer gives: have contentTables() give it",
      "mappedValues reads destinations, which no transformer gives: have contentTables() give it",
    ],
    "a history of nothing": [
      { transform: [contentTables({ only: ["content"] }), history()] },
      "history reads content_mapped_values, which no transformer gives: add mappedValues()",
      "history reads content_external_payloads, which no transformer gives: add mappedValues()",
    ],
    "two tables of one name": [
      { transform: [contentTables(), titles(), query("titles")] },
      "two of its tables are called titles",
    ],
    "tables of a transformer twice": [
      { transform: [contentTables({ only: ["content"] }), contentTables({ only: ["content"] })] },
      "two of its tables are called content",
    ],
    "names that are taken": [
      {
        transform: [
          contentTables(),
          ...[
            "content",
            "content_wide",
            "payloads_as_of",
            "run",
            "run_notes",
            "mapping_targets",
            "before_content",
          ].map((name) => titles({ name })),
        ],
      },
      'customTable "content": content is the name of a table of the package',
      'customTable "content_wide": content_wide is the name of a view or macro of the package',
      'customTable "payloads_as_of": payloads_as_of is the name of a view or macro of the package',
      'customTable "run": run is a name of the package\'s own',
      'customTable "run_notes": names that begin with run_ are the package\'s own',
      'customTable "mapping_targets": mapping_targets is a name of the package\'s own',
      'customTable "before_content": names that begin with before_ are the package\'s own',
    ],
    "a table without what it needs": [
      { transform: [loose(customTable)({ name: "titles" }), loose(sqlTable)({})] },
      'customTable "titles": comment is missing',
      'customTable "titles": columns is missing',
      'customTable "titles": rows is missing',
      "sqlTable undefined: name is missing",
      "sqlTable undefined: comment is missing",
      "sqlTable undefined: columns is missing",
      "sqlTable undefined: key is missing",
      "sqlTable undefined: reads is missing",
      "sqlTable undefined: sql is missing",
    ],
    "origins that are no API fields": [
      {
        transform: [
          titles({
            columns: [loose(text)("title", { from: ["dynamic:titel", "full:title"], comment: "x" })],
          }),
          titles({
            name: "urls",
            columns: [
              loose(text)("url", {
                from: ["full:attachment[].url", "dynamic:attachments[].x"],
                comment: "x",
              }),
              loose(text)("alt", { from: ["dynamic:acl.", "dynamic:custom_fields.x"], comment: "x" }),
            ],
          }),
          titles({
            name: "odd",
            columns: [loose(text)("a", "full:title", "x"), loose(text)("b", { form: [] })],
          }),
          titles({
            name: "made",
            columns: [text("c", { from: ["full:id"], comment: "x", make: () => "c" })],
          }),
          titles({ name: "idle", columns: [text("c", { comment: "x", make: () => "c" })] }),
        ],
      },
      'customTable "titles": column "title": from has "dynamic:titel", which is no API field (did you mean "dynamic:title"?)',
      'customTable "urls": column "url": from has "full:attachment[].url", which is no API field (did you mean "full:attachments[].url"?) and "dynamic:attachments[].x", which is no API field (did you mean "dynamic:attachments"?)',
      'customTable "urls": column "alt": from has "dynamic:acl.", which is no API field (did you mean "dynamic:acl"?)',
      'customTable "odd": column "a" takes options, as in { comment: "Title." }',
      'customTable "odd": column "b" has no option "form" (did you mean "from"?)',
      'customTable "odd": column "b": comment is missing',
      'customTable "made": its column c has make, but its values are those of the rows',
      'customTable "idle": column "c": from is missing',
    ],
    "bad keys": [
      {
        transform: [
          contentTables(),
          titles({ name: "a", key: ["titel"] }),
          titles({ name: "b", key: ["title"] }),
          titles({ name: "c", key: ["content_id"] }),
          titles({ name: "d", key: "title" }),
          query("e", { key: [] }),
        ],
      },
      'customTable "a": its key has "titel", which is no column (did you mean "title"?)',
      'customTable "b": its key has the column title, which is not required',
      'customTable "c": its key has content_id twice',
      'customTable "d": key is not a list of names of columns',
      'sqlTable "e": its key is no list of columns',
    ],
    "bad columns": [
      {
        transform: [
          titles({ name: "a", columns: [null] }),
          titles({ name: "b", columns: [text("title", { comment: "x" }), text("title", { comment: "x" })] }),
          titles({ name: "c", columns: [text("content_id", { comment: "x" })] }),
          titles({ name: "d", columns: [text("The Title", { comment: "x" })] }),
          titles({ name: "e", columns: ["title"] }),
          titles({ name: "f", columns: [text("constructor", { comment: "x" })] }),
        ],
      },
      'customTable "a": columns[1] is no column: call its factory, as in text("title", { comment: "Title." })',
      'customTable "b": two of its columns are called title',
      'customTable "c": two of its columns are called content_id',
      'customTable "d": the name of columns[1] is not in lower-case letters, digits and _',
      'customTable "e": columns[1] is no column: call its factory, as in text("title", { comment: "Title." })',
      'customTable "f": the name of columns[1] is not in lower-case letters, digits and _',
    ],
    "queries that read nothing that is there": [
      { transform: [contentTables(), query("counts", { reads: ["contents"] })] },
      'sqlTable "counts" reads contents, which no transformer gives (did you mean "content"?)',
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
      'sqlTable "own" reads what is made from its own rows',
      'sqlTable "one" reads what is made from its own rows',
      'sqlTable "two" reads what is made from its own rows',
    ],
    "nothing in the warehouse folder": [
      { load: [{ name: "lake", stage: async () => ({}) }] },
      "load has neither duckdb() nor parquet(), so the warehouse folder would get nothing",
    ],
    "a loader twice": [{ load: [duckdb(), duckdb()] }, "load has duckdb twice"],
    "tests without what they need": [
      {
        audit: [
          loose(rowsTest)({ name: " ", sql: "", severity: "fatal", limit: -1, limits: 1 }),
          loose(rowsTest)(),
          loose(rowsTest)({ name: "mapping coverage, all", sql: "FROM content" }),
          loose(mappingCoverage)({ failOn: { unmaped: 1 } }),
          loose(mappingCoverage)({ failOn: {} }),
          loose(mappingCoverage)({ failOn: { unmapped: 0.5 }, severity: "none" }),
        ],
      },
      'test " " has no option "limits" (did you mean "limit"?)',
      'test " ": name is not one line of 1 to 100 characters, or begins with "mapping coverage"',
      'test " ": sql is empty: give a query',
      'test " ": severity is not "error" or "warning"',
      'test " ": limit is not a number of rows',
      "test undefined takes an object",
      'test "mapping coverage, all": name is not one line of 1 to 100 characters, or begins with "mapping coverage"',
      'mappingCoverage: failOn has no kind "unmaped" (did you mean "unmapped"?): give unmapped, unknown_value, ambiguous or collision',
      "mappingCoverage: failOn has no limit: give unmapped, unknown_value, ambiguous or collision",
      "mappingCoverage: failOn has a limit that is not a number of values",
      'mappingCoverage: severity is not "error" or "warning"',
    ],
    "two tests of one name": [
      { audit: ["1", "2"].map((n) => rowsTest({ name: "titles", sql: `SELECT ${n}` })) },
      'audit has two tests called "titles"',
    ],
    "a limit of mapped values without any": [
      {
        transform: [contentTables({ only: ["content"] })],
        audit: [mappingCoverage({ failOn: { unmapped: 1 } })],
      },
      "mappingCoverage needs mappedValues() in transform",
    ],
    "lists that are none": [
      { extract: listing("full"), transform: undefined, load: "duckdb" },
      "extract is not a list of stages",
      "transform is not a list of stages",
      "load is not a list of stages",
    ],
    "stages that are none": [
      {
        extract: [listing, null, "full", { extract: "everything" }],
        transform: [contentTables, undefined, [], {}, { name: "x", tables: [] }],
        load: [duckdb, 5, {}, { name: "x" }],
      },
      ...[0, 1, 2, 3].map(
        (place) => `extract[${place}] is no stage: call its factory, as in listing("full")`,
      ),
      ...[0, 1, 2, 3, 4].map(
        (place) => `transform[${place}] is no stage: call its factory, as in contentTables()`,
      ),
      ...[0, 1, 2, 3].map((place) => `load[${place}] is no stage: call its factory, as in duckdb()`),
    ],
    "stages in a list that is not theirs": [
      { extract: [listing("full"), duckdb()], transform: [singleItems()], load: [contentTables()] },
      "extract[1] belongs into load",
      "transform[0] belongs into extract",
      "load[0] belongs into transform",
    ],
    "stages that somebody has put together wrongly": [
      {
        extract: [
          { extract: "listing", mode: "all" },
          { extract: "single_items", of: "some" },
          { extract: "destinations", names: "Website" },
          { extract: "custom_fields" },
        ],
        transform: [
          { name: "a", tables: [{}], reads: [] },
          { ...titles(), rows: undefined },
          { ...titles(), sql: "SELECT 1" },
          { ...titles(), rows: undefined, sql: "SELECT 1" },
          { ...titles(), tables: [] },
          { ...contentTables({ only: ["content"] }), rows: () => [] },
        ],
        load: [
          { name: "ftp", publishes: "ftp" },
          { name: "lake", stage: "yes" },
        ],
      },
      "extract[0] lists neither dynamic nor full",
      "extract[1] is of neither events nor all",
      "extract[2] has names that are none",
      "extract[3] has names that are none",
      "transform[0] has a table of which its name is not a text",
      "transform[1] has titles, a table of its own, and neither rows nor sql for it",
      "transform[2] has both rows and sql",
      "transform[3] has a table of another stage",
      "transform[4] has rows or sql, and so must have one table, which is its own",
      "transform[5] has rows or sql, and so must have one table, which is its own",
      "load[0] publishes neither duckdb nor parquet",
      "load[1] has a stage that is not a function",
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

  test("a stage whose fault says nothing", () => {
    const [fault, ...others] = faultsOf({ ...WHOLE, transform: [{ ...contentTables(), faults: [""] }] });
    assert.match(fault ?? "", /^transform\[0\] /);
    assert.deepEqual(others, []);
  });

  test("what is no composition at all", () => {
    for (const spec of [undefined, null, "nightly", 5, [], () => WHOLE])
      assert.deepEqual(faultsOf(spec), ["definePipeline takes an object"]);
  });

  test("everything at once, in one message that names the pipeline", () => {
    const spec = {
      name: "mine",
      extrct: [],
      extract: [listing("full"), listing("full"), singleItems()],
      transform: [contentTables({ only: ["content", "destinations"] }), mappedValues()],
      load: [{ name: "lake", stage: async () => ({ commit: async () => {}, abort: async () => {} }) }],
    };
    assert.throws(() => definePipeline(spec), { message: /^The pipeline "mine" cannot be run: / });
    assert.equal(faultsOf(spec).length, 11, faultsOf(spec).join("\n"));
  });
});

test("whatever is handed over, what comes of it is a pipeline or a WarehouseError of the configuration", () => {
  const { contentTables: tables, ...others } = library;
  const factories = [tables, others.customTable, others.sqlTable, others.mappedValues].map(loose);
  const extractors = [others.listing, others.singleItems, others.destinations, others.customFields].map(
    loose,
  );
  const anything = fc.anything({
    withBigInt: true,
    withNullPrototype: true,
    withSparseArray: true,
    withDate: true,
    withMap: true,
    withSet: true,
    key: fc.constantFrom(
      ...["name", "comment", "columns", "key", "reads", "sql", "rows", "only", "except", "passthrough", "of"],
      ...[
        "names",
        "extract",
        "mode",
        "tables",
        "stage",
        "publishes",
        "faults",
        "transform",
        "load",
        "__proto__",
      ],
      ...["toString", "constructor", "references", "type", "origins", "nullable"],
    ),
    values: [
      fc.constantFrom("content", "full", "dynamic", "listing", "duckdb", "", "run_x", Symbol("x")),
      fc.nat(),
    ],
  });
  const column = fc.constantFrom(text("a", { comment: "x", required: true }), text("b", { comment: "x" }));
  const options = fc.record(
    {
      name: fc.oneof(fc.constantFrom("titles", "counts", "content"), anything),
      comment: fc.oneof(fc.constant("x"), anything),
      columns: fc.oneof(fc.array(fc.oneof(column, anything), { maxLength: 3 }), anything),
      key: fc.oneof(fc.subarray(["a", "b"]), anything),
      reads: fc.oneof(fc.subarray(["content", "titles", "counts"]), anything),
      sql: fc.oneof(fc.constant("SELECT 1"), anything),
      rows: fc.oneof(
        fc.constant(() => []),
        anything,
      ),
    },
    { requiredKeys: [] },
  );
  const given = fc.oneof(anything, options);
  const made = (list: readonly ((...args: unknown[]) => object)[]) =>
    fc.tuple(fc.constantFrom(...list), given, anything).map(([factory, each, more]) => {
      const stage = factory(each);
      return typeof more === "object" ? { ...stage, ...more } : stage;
    });
  const sound = <Stage>(...stages: Stage[]) => ({ weight: 8, arbitrary: fc.constantFrom(...stages) });
  const odd = (weight: number, arbitrary: fc.Arbitrary<unknown>) => ({ weight, arbitrary });
  const transform = fc.oneof(
    odd(4, made(factories)),
    odd(1, anything),
    sound(contentTables(), titles(), query("counts")),
  );
  const extract = fc.oneof(
    odd(2, made(extractors)),
    odd(1, anything),
    sound(listing("full"), listing("dynamic")),
  );
  const load = fc.oneof(odd(1, anything), sound(duckdb(), parquet()));
  const spec = fc.oneof(
    anything,
    fc.record(
      {
        name: fc.oneof(sound("x"), odd(1, anything)),
        extract: fc.oneof(odd(8, fc.array(extract, { maxLength: 3 })), odd(1, anything)),
        transform: fc.oneof(odd(8, fc.array(transform, { maxLength: 3 })), odd(1, anything)),
        load: fc.oneof(odd(8, fc.array(load, { maxLength: 3 })), odd(1, anything)),
      },
      { requiredKeys: [] },
    ),
  );
  let composed = 0;
  fc.assert(
    fc.property(spec, (each) => {
      if (faultsOf(each).length === 0) composed += 1;
    }),
    { numRuns: many(10_000, 200_000) },
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

  test("of the dynamic listing alone has definitions of the fields that it names", () => {
    const { customFields: names } = definePipeline({
      ...WHOLE,
      extract: [destinations(), listing("dynamic"), customFields({ names: ["Region"] })],
    });
    assert.deepEqual(names, ["Region"]);
  });

  test("has the content tables that its extractors can fill", () => {
    assert.deepEqual(tablesOf(WHOLE.extract), ALL);
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

  test("leaves out the tables that it says", () => {
    const left = tablesOf(WHOLE.extract, [contentTables({ except: ["users", "content"] })]);
    assert.deepEqual(
      left,
      ALL.filter((name) => name !== "users" && name !== "content"),
    );
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
