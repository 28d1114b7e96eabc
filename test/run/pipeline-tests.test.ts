/** The tests of a pipeline: queries whose rows keep a run from being published, or are told with it. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { test as rowsTest, type TestOptions } from "../../src/audit/stages.ts";
import type { Config } from "../../src/config/config.ts";
import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import type { ItemDocuments, PipelineSpec } from "../../src/pipeline.ts";
import type { RunAsked } from "../../src/raw/extract-record.ts";
import { integer, text } from "../../src/tables/custom-tables.ts";
import { contentTables, customTable, history, mappedValues } from "../../src/transform/stages.ts";
import { mayShow } from "../../src/warehouse/baseline.ts";
import { failsWith } from "../failing.ts";
import { few, long } from "../long.ts";
import { ASKED } from "../warehouse/published.ts";
import { assertNowhereIn, rowsOf, scriptedWorld, treeOf, visibleIn } from "./running.ts";
import type { Scripted } from "./scripted.ts";

const ALL_TABLES = {
  extract: [destinations(), customFields(), listing("dynamic"), listing("full")],
  transform: [contentTables(), mappedValues(), history()],
  load: [duckdb()],
};

async function nights(t: TestContext) {
  const { service, out, exported } = await scriptedWorld(t);
  /** A run whose pipeline has these tests. */
  const run = async (
    tests: readonly TestOptions[],
    stages: Partial<PipelineSpec> = {},
    config: Partial<Config> = {},
  ) =>
    exported({
      config,
      pipelineUrl: definePipeline({
        name: "tested",
        extract: [listing("dynamic")],
        transform: [contentTables({ only: ["content", "content_tags"] })],
        load: [duckdb(), parquet()],
        ...stages,
        audit: tests.map((options) => rowsTest(options)),
      }),
    });
  return { service, out, run };
}

const TESTS =
  "SELECT check_name, verdict, figure, expected, detail, examples FROM run_checks WHERE check_name LIKE 'test: %' ORDER BY ALL";
const FIVE = "SELECT content_id, title FROM content WHERE content_id < 'c-005'";

test("failing rows are counted beside the limit, with three of them, which are bounded; a warning is published and told", async (t) => {
  const { out, run } = await nights(t);
  const many = Array.from({ length: 40 }, (_, n) => `repeat('é', 300) AS c${n}`).join(", ");
  const wide = `SELECT 12345678901234567890::HUGEINT AS big, {'a': repeat('x', 300)} AS nested, ${many} FROM content`;
  const { warnings, checks } = await run([
    { name: "within", sql: FIVE, severity: "error", limit: 5 },
    { name: "too many", sql: `${FIVE}; -- the end`, severity: "warning", limit: 4 },
    { name: "none", sql: "FROM content WHERE content_id IS NULL" },
    { name: "of the run", sql: "FROM run WHERE verdict <> 'complete'" },
    { name: "wide", sql: wide, limit: 12 },
    { name: "NaN", sql: "SELECT 'nan'::DOUBLE AS x FROM content", limit: 12 },
  ]);
  const found = await rowsOf(join(out, "current"), TESTS);
  assert.deepEqual(
    found.map(([name, verdict, figure, expected]) => [name, verdict, figure, expected]),
    [
      ["test: NaN", "passed", "12", "12"],
      ["test: none", "passed", "0", "0"],
      ["test: of the run", "passed", "0", "0"],
      ["test: too many", "warning", "5", "4"],
      ["test: wide", "passed", "12", "12"],
      ["test: within", "passed", "5", "5"],
    ],
  );
  const examplesOf = (place: number) => found[place]?.[5];
  assert.deepEqual([examplesOf(1), examplesOf(2)], [null, null]);
  const rows = [0, 1, 2].map((n) => ({ content_id: `c-00${n}`, title: `Title of c-00${n}` }));
  for (const place of [3, 5]) assert.deepEqual(JSON.parse(String(examplesOf(place))), rows);
  assert.deepEqual(JSON.parse(String(examplesOf(0))), Array(3).fill({ row: '{"x":NaN}' }));
  const text = String(examplesOf(4));
  assert.match(text, /^\[\{"big":12345678901234567890,"nested":"\{\\"a\\":\\"x+…","c0":"é{199}…",/);
  assert.ok(text.length < 6100, `${text.length}`);
  assert.deepEqual(warnings, [
    'The test "too many" found 5 failing rows, limit: 4; run_checks has rows of them.',
  ]);
  const told = checks.warnings.find(({ name }) => name === "test: too many");
  assert.equal(told?.figure, 5);
  assert.ok(!JSON.stringify({ warnings, checks }).includes("c-001"), "rows stay in the warehouse");
});

test("an error ends the run with 25 before anything is published, and its tables can be looked into until the next run", async (t) => {
  const { out, service, run } = await nights(t);
  const tests: readonly TestOptions[] = [
    { name: "five", sql: FIVE },
    { name: "all", sql: "FROM content", severity: "warning" },
    { name: "tags", sql: "FROM content LIMIT 2", limit: 1 },
  ];
  const error = await failsWith("audit.threshold", run(tests));
  assert.equal(error.exitCode, 25);
  assert.match(
    error.message,
    /^2 tests of the pipeline failed: "five" found 5 failing rows, limit: 0, "tags" found 2 failing rows, limit: 1; nothing was published\. /,
  );
  assert.deepEqual(await visibleIn(out), []);
  const [staged = ""] = await readdir(join(out, ".staging"));
  const found = await rowsOf(join(out, ".staging", staged, "result"), TESTS);
  assert.deepEqual(
    found.map(([name, verdict, figure]) => [name, verdict, figure]),
    [
      ["test: all", "warning", "12"],
      ["test: five", "failed", "5"],
      ["test: tags", "failed", "2"],
    ],
  );
  // The content was corrected: what was read is not read again from the disk.
  service.items = service.items.slice(5);
  const asked = service.questions.length;
  await run([{ name: "five", sql: FIVE }]);
  assert.ok(service.questions.length > asked);
  assert.deepEqual(await readdir(join(out, ".staging")).catch(() => []), []);
});

test("H17: what a misspelled field leaves empty is a warning: a custom table, its column, a test that compares it", async (t) => {
  const { out, run } = await nights(t);
  const columns = [text("headline", { comment: "x" }), integer("words", { comment: "x" })];
  const misspelled = ({ dynamic }: ItemDocuments): string | undefined => Reflect.get(dynamic ?? {}, "titel");
  const custom = { comment: "x", columns };
  const stages = {
    transform: [
      contentTables({ only: ["content"] }),
      customTable({ ...custom, name: "lost", rows: (item) => (misspelled(item) ? [{ words: 1 }] : []) }),
      customTable({
        ...custom,
        name: "headlines",
        rows: (item) => [{ headline: misspelled(item), words: 2 }],
      }),
    ],
    load: [duckdb()],
  };
  const sqlOf = {
    long: "FROM headlines AS h WHERE length(h.Headline) > 80",
    paid: "SELECT title FROM content JOIN headlines USING (content_id) WHERE payment > 5",
    // Here it is NULL that counts, or the column is shown alone, or another has values.
    missing: "FROM headlines WHERE headline IS NOT NULL",
    shown: "SELECT headline FROM headlines WHERE words > 2 ORDER BY headline",
    without: "FROM headlines WHERE coalesce(headline, '') = ''",
  };
  const tests = Object.entries(sqlOf).map(([name, sql]) => ({ name, sql, severity: "warning" as const }));
  const { warnings } = await run(tests, stages);
  assert.deepEqual(warnings, [
    "The pipeline has custom tables without rows: lost. Look for a misspelled field in the function or query that fills them.",
    "The pipeline has columns of custom tables without a value: headlines.headline. Look for a misspelled field in the function or query that fills them.",
    'The test "long" was skipped: it compares headlines.headline, which has no value in any row.',
    'The test "paid" was skipped: it compares content.payment, which has no value in any row.',
    'The test "without" found 12 failing rows, limit: 0; run_checks has rows of them.',
  ]);
  const passed = (await rowsOf(join(out, "current"), TESTS)).filter(([, verdict]) => verdict === "passed");
  assert.deepEqual(
    passed.map(([name]) => name),
    ["test: missing", "test: shown"],
  );
});

test("a query that cannot be asked is told before a request, with its name and what the engine says", async (t) => {
  const { out, service, run } = await nights(t);
  for (const [sql, said] of [
    ["SELEC 1", "syntax error at or near"],
    [
      "SELECT titel FROM content",
      'Referenced column "titel" not found in FROM clause; Candidate bindings: "title"',
    ],
    ["FROM contents", "Table with name contents does not exist"],
    ["FROM previous.content WHERE titel = ''", 'Referenced column "titel" not found'],
    ["FROM run_checks", "Table with name run_checks does not exist"],
    ["PRAGMA version", "it gives no rows to count; begin with SELECT, FROM or WITH"],
    ["DELETE FROM content", "Only reading is allowed"],
    ["SELECT 1; SELECT 2", "there are 2 SQL statements"],
    ["-- nothing", "the query has no SQL statement"],
    ["EXPLAIN FROM content", "it gives no rows to count"],
    ["FROM content WHERE title = $1", "it has parameters"],
    ["FROM read_text('/etc/passwd')", "file system operations are disabled"],
    ["FROM 'content.parquet'", "file system operations are disabled"],
    ["FROM read_csv('https://example.com/a.csv')", "disabled"],
  ] as const) {
    const { message } = await failsWith("config.invalid", run([{ name: "wrong", sql, severity: "warning" }]));
    assert.ok(message.startsWith('The test "wrong" of the pipeline cannot be run: '), message);
    assert.ok(message.includes(said), message);
  }
  assert.deepEqual([service.questions.length, await treeOf(out)], [0, []]);
});

/** Of Parquet files, without a database. */
async function rowsIn(sql: string): Promise<readonly (readonly unknown[])[]> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(sql)).getRowsJson();
  connection.closeSync();
  instance.closeSync();
  return rows;
}

suite("previous", () => {
  const GONE = {
    name: "none is gone",
    sql: "SELECT content_id FROM previous.content EXCEPT SELECT content_id FROM content",
    severity: "warning",
  } as const;

  const PEOPLE = [contentTables({ only: ["content", "users"] })];
  const NEEDLE = "Needle Roe 7f3a";
  const OF_BEFORE = [
    { name: "people", sql: "SELECT user_id, name FROM previous.users WHERE name IS NOT NULL" },
    { name: "hidden", sql: `SELECT name FROM query_table('previous.users')` },
    { name: "texts", sql: "SELECT title, repository_notes FROM previous.content" },
    { name: "own", sql: "SELECT content_id FROM content" },
  ].map((each) => ({ ...each, severity: "warning" as const }));
  const KEEP = { personalData: { policy: "keep", key: null } } as const;
  const withPeople = (service: Scripted) => {
    service.arrange = (items) =>
      items.map((each) => ({
        ...(each as object),
        author_details: { id: "u-1", name: NEEDLE },
      }));
  };

  for (const load of few([[duckdb(), parquet()], [parquet()]], 1)) {
    test(`is the run before; without one the test is passed over; where it kept personal data, its rows are withheld: ${load.length} loaders`, async (t) => {
      const { out, service, run } = await nights(t);
      withPeople(service);
      const stages = { transform: PEOPLE, load };
      const checks = async () => {
        const files = join(out, "current", "parquet/run_checks");
        const [file = ""] = await readdir(files);
        return rowsIn(`${TESTS.replace("run_checks", `'${join(files, file)}'`)}`);
      };
      const first = await run([GONE], stages, KEEP);
      const skipped = ["passed", "0", null, "skipped: there is no run before", null];
      assert.deepEqual(await checks(), [["test: none is gone", ...skipped]]);
      assert.deepEqual(first.warnings, []);

      const { directory, warnings } = await run(OF_BEFORE, stages);
      await assertNowhereIn(directory, [NEEDLE]);
      const found = await checks();
      const withheld = found.filter(([, , , , detail]) =>
        /its rows are withheld, because the run before/.test(String(detail)),
      );
      assert.deepEqual(
        found.filter(([, , , , , examples]) => examples !== null).map(([name]) => name),
        ["test: own"],
      );
      assert.ok(withheld.some(([name]) => name === "test: hidden"));
      assert.ok(warnings.includes('The test "hidden" found 1 failing row, limit: 0.'), String(warnings));

      service.items = service.items.slice(2);
      await run([GONE], stages);
      const gone = ["warning", "2", "0", "failing rows; more than 0 are a warning"];
      const examples = '[{"content_id":"c-000"},{"content_id":"c-001"}]';
      assert.deepEqual(await checks(), [["test: none is gone", ...gone, examples]]);
    });
  }

  long("a run before that lacks what is asked for is a warning, whatever the severity", async (t) => {
    const { out, run } = await nights(t);
    const fewer = { transform: [contentTables({ only: ["content"] })], load: [duckdb()] };
    await run([], fewer);
    const { warnings } = await run([{ name: "tags", sql: "FROM previous.content_tags WHERE tag = ''" }]);
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0] ?? "",
      /^The test "tags" was skipped: the run before lacks what it needs: .*Table with name content_tags does not exist/,
    );
    assert.deepEqual(
      (await rowsOf(join(out, "current"), TESTS)).map(([, verdict]) => verdict),
      ["warning"],
    );
  });

  test("its rows are shown by a run that keeps personal data, or treats the same fields alike", () => {
    const treated = (
      policy: RunAsked["personalData"]["policy"],
      keyId: string | null,
      personalFields: string,
    ) => ({
      ...ASKED,
      personalData: { policy, keyId, customFieldIds: [] },
      documentSettings: { ...ASKED.documentSettings, personalFields },
    });
    const own = treated("hash", "k", "f");
    const cases: readonly (readonly [other: Parameters<typeof mayShow>[0], shown: boolean])[] = [
      [own, true],
      [treated("keep", null, "f"), false],
      [treated("drop", null, "f"), false],
      [treated("hash", "other", "f"), false],
      [treated("hash", "k", "other"), false],
    ];
    for (const [other, shown] of cases) assert.equal(mayShow(other, own), shown, JSON.stringify(other));
    for (const [other] of cases) assert.ok(mayShow(other, treated("keep", null, "f")));
  });

  test("the report has the counts of tests, and no rows", async (t) => {
    const { service, run } = await nights(t);
    withPeople(service);
    const people = {
      name: "people",
      sql: "SELECT reverse(name) AS eman FROM users",
      severity: "warning",
    } as const;
    const { directory } = await run([people], ALL_TABLES, KEEP);
    const page = await readFile(join(directory, "report.html"), "utf8");
    assert.ok(!page.includes("a3f7 eoR"));
    assert.ok(page.includes("test: people"));
    assert.match(String(await rowsOf(directory, TESTS)), /a3f7 eoR/);
  });
});

test("a run of the first items asks no test, and says so", async (t) => {
  const { out, run } = await nights(t);
  const twelve = { name: "twelve", sql: "SELECT 1 FROM content HAVING count(*) < 12" };
  const { warnings } = await run([twelve], {}, { limit: 5 });
  assert.ok(
    warnings.some((each) => each.startsWith("The tests of the pipeline were skipped, because ")),
    String(warnings),
  );
  assert.deepEqual(await rowsOf(join(out, "current"), TESTS), []);
});

long(
  "a query that fails at a row shows no cell; a warning is passed over, an error ends the run with 2",
  async (t) => {
    const { out, run } = await nights(t);
    const sql = "FROM content WHERE CAST(title AS INTEGER) > 3";
    const { warnings } = await run([{ name: "number", sql, severity: "warning" }]);
    const said = `The test "number" of the pipeline cannot be run: its query failed: Conversion Error: Could not convert string '…' to INT32`;
    assert.equal(warnings.length, 1);
    assert.equal(
      warnings[0]?.replace("was skipped", "of the pipeline cannot be run").slice(0, said.length),
      said,
    );
    const { message } = await failsWith("config.invalid", run([{ name: "number", sql }]));
    assert.ok(message.startsWith(said), message);
    assert.ok(!`${message}${warnings}`.includes("Title"), message);
    const [current] = await rowsOf(join(out, "current"), "SELECT sequence FROM run");
    assert.deepEqual(current, [1]);
  },
);

long("a test of columns that only a run has is asked when they are there", async (t) => {
  const { out, service, run } = await nights(t);
  const wide = (column: string) => [
    { name: "wide", sql: `FROM content_wide WHERE ${column} = 'Red'`, limit: 3 },
  ];
  const field = { id: "f1", name: "color", field_type: "text", value: "Red" };
  service.arrange = (items, { mode }) =>
    items.map((each, n) => ({
      ...(each as object),
      ...(mode === "full" && n < 3 && { custom_fields: [field] }),
      ...(mode === "dynamic" && n < 3 && { custom_fields: { f1: "Red" } }),
    }));
  service.script = ({ kind }) =>
    kind === "custom_fields"
      ? { body: '[{"id":"f1","name":"color","field_type":"text","mappings":[]}]' }
      : undefined;
  await run(wide("color"), ALL_TABLES);
  const found = await rowsOf(join(out, "current"), TESTS);
  assert.deepEqual(
    found.map(([, verdict, figure]) => [verdict, figure]),
    [["passed", "3"]],
  );
  const { message } = await failsWith("config.invalid", run(wide("colour"), ALL_TABLES));
  assert.match(message, /^The test "wide" of the pipeline cannot be run: .*"colour" not found/);
});
