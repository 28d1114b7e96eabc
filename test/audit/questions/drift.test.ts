import assert from "node:assert/strict";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { type DriftReport, driftOf } from "../../../src/audit/questions/drift.ts";
import { all, execute, scalar } from "../../../src/storage/duckdb.ts";
import { opened, sampleWarehouse } from "../sample.ts";

const DRIFT =
  "(path VARCHAR, kind VARCHAR, count BIGINT, example_content_id VARCHAR, example VARCHAR, items BIGINT)";
const STATED = "(path, kind, count, example_content_id, example)";

/** Two runs of three items: a field is renamed, another is new, one has another type, a person's field is dropped. */
const BOTH = `
  CREATE TABLE run_drift ${DRIFT};
  CREATE TABLE before_run_drift ${DRIFT};
  INSERT INTO run_drift ${STATED} VALUES
    ('owner.name', 'personal_dropped', 900, NULL, NULL),
    ('old_news', 'unknown_field', 9, 'a', 'known for long'),
    ('word_count', 'unknown_field', 3, 'b', '512'),
    ('contact_email', 'unknown_field', 2, 'b', NULL),
    ('title', 'type', 1, 'c', '{"en":"Bread"}'),
    ('event_start_date', 'unreadable', 2, 'a', 'Whitsun weekend');
  INSERT INTO before_run_drift ${STATED} VALUES
    ('owner.name', 'personal_dropped', 880, NULL, NULL),
    ('old_news', 'unknown_field', 7, 'a', 'known for long'),
    ('mood', 'unknown_field', 5, 'a', 'glad'),
    ('slug', 'type', 1, 'a', '7');
  CREATE TABLE run_checks (check_name VARCHAR, verdict VARCHAR, figure BIGINT, detail VARCHAR);
  CREATE TABLE before_run_checks AS FROM run_checks;
  INSERT INTO run_checks VALUES
    ('content.state has only values that the specification lists', 'warning', 4, 'archived'),
    ('unique key of content', 'passed', 0, '');
  CREATE TABLE run_lineage AS SELECT * FROM (VALUES
    ('content', 'wordcount', 'wordcount'), ('content', 'state', 'state')) AS t (table_name, column_name, path);
  CREATE TABLE before_content AS SELECT * FROM (VALUES (1, 480, 'a'), (2, 512, 'b'), (3, NULL, 'c')) AS t (content_id, wordcount, derived);
  CREATE TABLE before_content_tags AS SELECT 'a' AS content_id, 'bread' AS tag;
`;
const BEFORE = {
  rows: { content: 3, content_tags: 1 },
  emptyColumns: [],
  columns: ["content.wordcount", "content.derived"],
};
const NOW = { rows: { content: 3, content_tags: 0 }, emptyColumns: ["content.wordcount", "content.derived"] };

async function reportOf(before: typeof BEFORE | undefined, showsBefore = true): Promise<DriftReport> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    for (const statement of BOTH.split(";\n").filter((text) => text.trim() !== ""))
      await execute(connection, statement);
    return await driftOf({ connection, now: NOW, before, showsBefore });
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Path, count and the count before. */
function figures(lines: DriftReport["policy"]): (readonly [string, number, number | null])[] {
  return lines.map(({ path, count, before }) => [path, count, before]);
}

test("drift is new, known or gone since the run before, with counts, and examples that may be shown", async () => {
  const report = await reportOf(BEFORE);
  const found = Object.fromEntries(Object.entries(report).map(([part, lines]) => [part, figures(lines)]));
  assert.deepEqual(found, {
    newFields: [
      ["word_count", 3, 0],
      ["contact_email", 2, 0],
      ["old_news", 9, 7],
    ],
    vanishedFields: [
      ["mood", 0, 5],
      ["wordcount", 0, 2],
      ["content_tags", 0, 1],
    ],
    // `slug` has its type again.
    changedTypes: [["title", 1, 0]],
    outsideContract: [
      ["state", 4, 0],
      ["event_start_date", 2, 0],
    ],
    contradictions: [],
    policy: [["owner.name", 900, 880]],
  });
  const examples = ({ newFields, vanishedFields }: DriftReport) =>
    [...newFields.slice(0, 2), ...vanishedFields].map(({ example }) => example);
  assert.deepEqual(examples(report), ["512", null, "glad", "480", null]);
  assert.deepEqual(examples(await reportOf(BEFORE, false)), ["512", null, null, null, null]);
});

test("the drift of a first run has nothing to compare with, and lists all the same what there is", async () => {
  const { newFields, vanishedFields, policy } = await reportOf(undefined);
  assert.deepEqual(figures(newFields), [
    ["old_news", 9, null],
    ["word_count", 3, null],
    ["contact_email", 2, null],
  ]);
  assert.deepEqual(vanishedFields, []);
  assert.deepEqual(figures(policy), [["owner.name", 900, null]]);
});

test("items are those whose rows show a departure, however many of their documents do", async () => {
  await using run = await opened(await sampleWarehouse());
  const itemsOf = (path: string) =>
    scalar(run.connection, "SELECT coalesce(max(items), -1) FROM run_drift WHERE path = $1", [path]);
  for (const path of ["ai_summary", "ai_summary_version", "performance"]) {
    const shown = "SELECT count(*) FROM content WHERE json_exists(extra, $1)";
    assert.equal(await itemsOf(path), await scalar(run.connection, shown, [path]), path);
  }
  const misread = `SELECT count(DISTINCT content_id) FROM content_custom_field_values JOIN custom_fields USING (custom_field_id)
    WHERE name = 'production_hours' AND value <> '' AND try_cast(value AS DOUBLE) IS NULL`;
  const path = "content_wide.production_hours";
  const misfits = await scalar(run.connection, misread);
  const counted = "SELECT figure::INTEGER FROM run_checks WHERE verdict = 'warning' AND check_name = $1";
  assert.equal(await itemsOf(path), misfits);
  assert.equal(
    await scalar(run.connection, counted, [`values of ${path} that are not of its type`]),
    misfits,
  );
  const lacking = await all(
    run.connection,
    "SELECT DISTINCT kind FROM run_drift WHERE items IS NULL AND example IS NOT NULL",
  );
  assert.deepEqual(lacking, [], "only what was taken away is not counted by item");
});
