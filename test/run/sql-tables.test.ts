/** Tables that a pipeline makes by queries over the others. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { diffCommand } from "../../src/cli/commands/diff.ts";
import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import type { Pipeline, PipelineSpec } from "../../src/pipeline.ts";
import { bigint, date, integer, json, text, timestamp } from "../../src/tables/custom-tables.ts";
import { contentTables, customTable, history, mappedValues, sqlTable } from "../../src/transform/stages.ts";
import { capture } from "../cli/capture.ts";
import { failsWith } from "../failing.ts";
import { few } from "../long.ts";
import { redService, SHOP } from "./colored.ts";
import { MAPPING_TABLES } from "./mapping-pipeline.ts";
import { exportFrom, openPublished, scriptedWorld, temporaryFolder, visibleIn } from "./running.ts";
import { itemsOf } from "./scripted.ts";

const CONTENT = contentTables({ only: ["content"] });

const COUNTS = sqlTable({
  name: "counts",
  comment: "Items by what 'kind' they are.",
  key: ["kind", "place"],
  columns: [
    bigint("items", { comment: "How many; it's a count." }),
    text("kind", { comment: "Kind.", required: true }),
    integer("place", { comment: "Place.", required: true }),
    timestamp("latest", { comment: "Latest." }),
    date("day", { comment: "Day." }),
    json("ids", { comment: "IDs." }),
  ],
  reads: ["content"],
  sql: `SELECT 2 - row_number() OVER (ORDER BY body_type) AS place, body_type AS kind, count(*) AS items, 'more' AS more,
    max(updated_at) AS latest, DATE '1969-12-31' AS day, to_json(list(content_id ORDER BY content_id)) AS ids
    FROM content GROUP BY body_type -- a comment ends the query`,
});

/** A pipeline of one listing with these tables. */
function pipelineOf(...transform: PipelineSpec["transform"]): Pipeline {
  return definePipeline({
    name: "queries",
    extract: [listing("dynamic")],
    transform,
    load: [duckdb(), parquet()],
  });
}

function counting(name: string, reads: readonly string[], sql: string) {
  const items = bigint("items", { comment: "x", required: true });
  return sqlTable({ name, comment: "x", key: ["items"], reads, columns: [items], sql });
}

test("a query makes a table like any other: sorted by its key, with comments, in both files; queries read each other, however they stand", async (t) => {
  const { exported } = await scriptedWorld(t);
  const more = "SELECT items + (SELECT count(*) FROM letters) AS items FROM first";
  const pipelineUrl = pipelineOf(
    counting("third", ["second"], "SELECT items + 1 AS items FROM second"),
    counting("second", ["first", "letters"], more),
    counting("first", ["content"], "SELECT count(*) AS items FROM content"),
    customTable({ name: "letters", comment: "x", columns: [], rows: () => [{}] }),
    COUNTS,
    CONTENT,
  );
  const summary = await exported({ pipelineUrl });
  const at = "2026-11-01 10:00:00+00";
  const others = itemsOf(12).flatMap(({ id }) => (id.endsWith("0") ? [] : [id]));
  const expected = [
    ["2", "event", 1, at, "1969-12-31", '["c-000","c-010"]'],
    ["10", "html", 0, at, "1969-12-31", JSON.stringify(others)],
  ];
  await using reader = await openPublished(summary.directory);
  await reader.connection.run("SET TimeZone = 'UTC'");
  assert.deepEqual(await reader.rows("FROM third"), [["25"]]);
  const columns = "items, kind, place, latest::VARCHAR, day, ids::VARCHAR";
  assert.deepEqual(await reader.rows(`SELECT ${columns} FROM counts ORDER BY kind, place`), expected);
  const files = join(summary.directory, "parquet/counts");
  assert.deepEqual((await readdir(files)).length, 1);
  const inFile = await reader.rows(`SELECT ${columns} FROM '${files}/*.parquet'`);
  assert.deepEqual(inFile, expected, "in the order of the key");
  assert.deepEqual(await reader.rows("SELECT comment FROM duckdb_tables() WHERE table_name = 'counts'"), [
    ["Items by what 'kind' they are. Key: kind, place."],
  ]);
  assert.deepEqual(
    await reader.rows(
      "SELECT comment, data_type, is_nullable FROM duckdb_columns() WHERE table_name = 'counts' ORDER BY column_index LIMIT 2",
    ),
    [
      ["How many; it's a count.", "BIGINT", true],
      ["Kind.", "VARCHAR", false],
    ],
  );
  assert.equal(summary.rows.counts, 2);
});

test("between two nights a new column has not vanished, an emptied one has, and diff tells the rows that came", async (t) => {
  const { service, out, exported } = await scriptedWorld(t, itemsOf(3));
  const content_id = text("content_id", { comment: "x", required: true });
  const ofItems = { comment: "x", key: ["content_id"], reads: ["content"] } as const;
  const toReview = sqlTable({
    ...ofItems,
    name: "to_review",
    columns: [content_id],
    sql: "SELECT content_id FROM content WHERE title LIKE '%?'",
  });
  /** The items by ID, with these further columns, without any value or as the query has them. */
  const night = (columns: readonly string[], selected: string) =>
    exported({
      pipelineUrl: pipelineOf(
        CONTENT,
        sqlTable({
          ...ofItems,
          name: "titles",
          columns: [content_id, ...columns.map((name) => text(name, { comment: "x" }))],
          sql: `SELECT content_id, ${selected} FROM content`,
        }),
        toReview,
      ),
    });
  await night(["title"], "title");
  service.items = itemsOf(3).map((each, at) => (at === 1 ? { ...each, title: "Ready?" } : each));
  const { changes, drift, warnings } = await night(["title", "mood"], "NULL AS title, NULL AS mood");
  assert.deepEqual(changes, { new: 0, edited: 0, removed: 0 });
  // Drift is about API fields; an emptied column of a query is a warning alone.
  assert.deepEqual(drift?.vanishedFields, []);
  const vanished = warnings.filter((each) => /could not be compared|none now/.test(each));
  assert.deepEqual(vanished, ["titles.title had values in the run before, and has none now."]);
  const told = await capture(diffCommand, ["--content", "--format", "json", "--warehouse", out]);
  const { changes: shown }: { changes: Record<string, unknown>[] } = JSON.parse(told);
  assert.deepEqual(
    shown
      .filter(({ table }) => table !== "titles")
      .map(({ content_id, table, change }) => [content_id, table, change]),
    [
      ["c-001", "content", "changed"],
      ["c-001", "to_review", "added"],
    ],
  );
});

test("a query reads mapped values and the history", async (t) => {
  const { service } = await redService(t, 3);
  const pipelineUrl = definePipeline({
    name: "queries",
    extract: [destinations(), customFields(), listing("dynamic"), listing("full")],
    transform: [
      contentTables({ only: MAPPING_TABLES }),
      mappedValues(),
      history(),
      counting("mapped", ["content_mapped_values"], "SELECT count(*) AS items FROM content_mapped_values"),
      counting("versions", ["mapped_value_history"], "SELECT count(*) AS items FROM mapped_value_history"),
    ],
    load: [duckdb()],
  });
  const out = await temporaryFolder(t);
  const config = { destinations: [SHOP] };
  const { directory } = await exportFrom({ url: service.url, out, pipelineUrl, config });
  await using reader = await openPublished(directory);
  assert.deepEqual(await reader.rows("FROM mapped UNION ALL FROM versions"), [["3"], ["3"]]);
});

test("a run is not published where a query fails: table and cause are told", async (t) => {
  const FAILING: Readonly<Record<string, readonly [sql: string, why: RegExp]>> = {
    "a query cannot be parsed": ["SELEC 1 AS items", /Parser Error: syntax error/],
    "it reads a table that is not there": [
      "SELECT count(*) AS items FROM contents",
      /Table with name contents does not exist/,
    ],
    "it does not give a column": ["SELECT 1 AS item", /"items" not found/],
    "it gives a text for a number": [
      "SELECT 'many' AS items",
      /Conversion Error: Could not convert string '…' to INT64/,
    ],
    "it gives NULL where a value is required": [
      "SELECT NULL AS items",
      /NOT NULL constraint failed: wrong\.items/,
    ],
    "it reads other files": [
      "SELECT length(content) AS items FROM read_text('/etc/hostname')",
      /Permission Error/,
    ],
  };
  const { out, exported } = await scriptedWorld(t);
  const run = (sql: string) =>
    exported({ pipelineUrl: pipelineOf(CONTENT, counting("wrong", ["content"], sql)) });
  for (const [sql, why] of few(Object.values(FAILING), 2)) {
    const error = await failsWith("config.invalid", run(sql));
    assert.match(error.message, /^The table wrong of the pipeline cannot be made: its query failed: /);
    assert.match(error.message, why);
    assert.ok(error.cause instanceof Error);
    assert.deepEqual(await visibleIn(out).catch(() => []), []);
  }
  const { message } = await failsWith("verify.failed", run("SELECT 1 AS items FROM range(3)"));
  assert.match(message, /"unique key of wrong" failed \(1, expected 0/);
  assert.deepEqual(await visibleIn(out), []);
});
