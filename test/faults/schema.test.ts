import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { RunSummary } from "../../src/run/outcome.ts";
import { exportFrom, NIGHTLY, type Row, rowsOf, temporaryFolder } from "../run/running.ts";
import { item, type Json, Scripted } from "../run/scripted.ts";

/** One run a night into the same warehouse; each night the twelve items have these fields besides their own. */
async function nights(t: TestContext, ...fields: ((index: number) => Json)[]): Promise<RunSummary[]> {
  const service = await Scripted.start(t, []);
  const out = await temporaryFolder(t);
  const summaries: RunSummary[] = [];
  for (const more of fields) {
    service.items = Array.from({ length: 12 }, (_, index) => item(`c-${index}`, 1, more(index)));
    const options = { url: service.url, out, threads: 1, pipelineUrl: NIGHTLY, config: { perPage: 20 } };
    const summary = await exportFrom(options);
    assert.deepEqual([summary.verdict, summary.accounting.loaded], ["complete", 12]);
    summaries.push(summary);
  }
  return summaries;
}

/** What the last night published. */
function last(summaries: readonly RunSummary[], sql: string): Promise<Row[]> {
  return rowsOf(String(summaries.at(-1)?.directory), sql);
}

/** The full view has no `body_type`, which the scripted service sends in both. */
const DRIFT = "SELECT path, kind, count FROM _drift WHERE path <> 'body_type' ORDER BY ALL";

test("H1: a field that nobody knows is kept with its item and counted, once an answer", async (t) => {
  const summaries = await nights(
    t,
    () => ({}),
    (index) => ({ mood: { of: index } }),
  );
  assert.deepEqual(await rowsOf(String(summaries[0]?.directory), DRIFT), []);
  assert.deepEqual(await last(summaries, DRIFT), [["mood", "unknown_field", "24"]]);
  const kept = "SELECT extra::VARCHAR FROM content WHERE content_id = 'c-7'";
  assert.deepEqual(await last(summaries, kept), [['{"body_type":"html","mood":{"of":7}}']]);
});

test("H2, H7, H11: columns and their types are the same every night, whatever the values are", async (t) => {
  const shapes: ((index: number) => Json)[] = [
    () => ({ created_at: null, wordcount: null, source: null, title: null }),
    () => ({ created_at: "2026-01-01T00:00:00Z", wordcount: 12, source: { id: "s-1", name: "Blog" } }),
    (index) => ({ wordcount: index % 2 === 0 ? 7 : null, source: index % 2 === 0 ? "s-1" : null }),
  ];
  const summaries = await nights(t, ...shapes);
  const columns =
    "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT starts_with(table_name, '_') ORDER BY ALL";
  const [first, ...others] = await Promise.all(summaries.map(({ directory }) => rowsOf(directory, columns)));
  assert.ok(first !== undefined && first.length > 100);
  for (const each of others) assert.deepEqual(each, first);
  const absent = "SELECT count(created_at), count(wordcount) FROM content";
  assert.deepEqual(await last(summaries, absent), [["0", "6"]]);
});

test("H3: a field that is absent and one that is null are told apart in the raw documents", async (t) => {
  const summaries = await nights(t, (index) => (index === 0 ? {} : { excerpt: null }));
  const directory = String(summaries[0]?.directory);
  const raw = `SELECT count(*) FROM '${directory}/raw/dynamic/*.parquet' WHERE json_exists(document, '$.excerpt')`;
  assert.deepEqual(await rowsOf(directory, raw), [["11"]]);
});

test("H4, H9: a value of another kind is NULL in its column, kept in extra, and counted", async (t) => {
  const summaries = await nights(t, () => ({
    wordcount: "many",
    title: { en: "T" },
    created_at: 1_760_000_000,
  }));
  const columns = "SELECT DISTINCT wordcount, title, created_at, extra::VARCHAR FROM content";
  const [row, ...others] = await last(summaries, columns);
  assert.deepEqual([row?.slice(0, 3), others], [[null, null, null], []]);
  assert.deepEqual(JSON.parse(String(row?.[3])), {
    body_type: "html",
    wordcount: "many",
    title: { en: "T" },
    created_at: 1_760_000_000,
  });
  const drift = "SELECT path, count FROM _drift WHERE kind = 'type' ORDER BY path";
  assert.deepEqual(await last(summaries, drift), [
    ["created_at", "12"],
    ["title", "12"],
    ["wordcount", "12"],
  ]);
});

test("H6: a word that no enumeration had yet is taken as it is", async (t) => {
  const summaries = await nights(t, () => ({ body_type: "Hologram", status: "PUBLISHED-ish" }));
  assert.deepEqual(await last(summaries, "SELECT DISTINCT body_type, status FROM content"), [
    ["Hologram", '"PUBLISHED-ish"'],
  ]);
});
