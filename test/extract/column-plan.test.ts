/** A run asks for no more than its tables are made from. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DYNAMIC_COLUMN_NAMES, DYNAMIC_COLUMNS } from "../../src/api/dynamic.ts";
import { definePipeline } from "../../src/define-pipeline.ts";
import { type ColumnPlan, type ColumnSettings, planColumns } from "../../src/extract/column-plan.ts";
import { customFields, destinations, listing, singleItems } from "../../src/extract/stages.ts";
import { duckdb } from "../../src/load/stages.ts";
import type { Extractor, Transformer } from "../../src/pipeline.ts";
import { text } from "../../src/tables/declare.ts";
import { contentTables, customTable, sqlTable } from "../../src/transform/stages.ts";
import { exportFrom, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

const EVERY = [destinations(), customFields(), listing("dynamic"), singleItems(), listing("full")];
const CONFIG: ColumnSettings = { columns: DYNAMIC_COLUMN_NAMES, details: undefined, aliases: {} };
const ONLY_CONTENT = contentTables({ only: ["content"] });

function wanted(
  transform: readonly Transformer[],
  config: Partial<ColumnSettings> = {},
  extract: readonly Extractor[] = EVERY,
): ColumnPlan {
  const pipeline = definePipeline({ name: "some", extract, transform, load: [duckdb()] });
  return planColumns(pipeline, { ...CONFIG, ...config });
}

/** Columns that only a list of their own, or a single item, is made from. */
const LISTS = ["tags", "attachments", "published_urls", "task_deadlines", "custom_field_values", "campaigns"];

test("of content alone, neither a column of a list nor a single item is asked for", () => {
  const { columns, details } = wanted([ONLY_CONTENT]);
  assert.equal(details, "none");
  for (const column of ["title", "body_type", "updated_at"].filter((name) => name in DYNAMIC_COLUMNS))
    assert.ok(columns.includes(column), column);
  for (const column of LISTS) assert.ok(!columns.includes(column), column);
  assert.ok(columns.length < DYNAMIC_COLUMN_NAMES.length);
  assert.deepEqual(
    columns,
    DYNAMIC_COLUMN_NAMES.filter((name) => columns.includes(name)),
    "in the order of the configuration",
  );
});

test("of single items, what the event table needs is asked for, and body_type, by which events are known", () => {
  const { columns, details } = wanted([contentTables({ only: ["content_events"] })]);
  assert.equal(details, "events");
  assert.ok(columns.includes("body_type"));
  assert.ok(columns.some((name) => DYNAMIC_COLUMNS[name as keyof typeof DYNAMIC_COLUMNS].eventOnly));
  assert.equal(new Set(columns).size, columns.length);
  const without = wanted([contentTables({ only: ["content_events"] })], {}, [listing("dynamic")]);
  assert.equal(without.details, "none");
});

test("single items of all are asked for only where a table is made from what they alone give", () => {
  const all = [listing("dynamic"), singleItems({ of: "all" })];
  const only = DYNAMIC_COLUMN_NAMES.filter((name) => DYNAMIC_COLUMNS[name].singleItemOnly);
  assert.notEqual(only.length, 0);
  assert.deepEqual(wanted([contentTables()], {}, all).itemColumns, only);
  assert.equal(wanted([contentTables()], {}, all).details, "all");
  assert.equal(wanted([contentTables({ only: ["content_tags"] })], {}, all).details, "none");
});

test("a function may read any field, so all configured columns are asked for; a query reads tables alone", () => {
  const titles = customTable({
    name: "titles",
    comment: "x",
    columns: [text("title", { comment: "x" })],
    rows: () => [],
  });
  assert.deepEqual(wanted([ONLY_CONTENT, titles]).columns, DYNAMIC_COLUMN_NAMES);
  assert.equal(wanted([ONLY_CONTENT, titles]).details, "events");
  const columns = [text("title", { from: ["dynamic:tags"], comment: "x", required: true })] as const;
  const query = sqlTable({
    name: "titles",
    comment: "x",
    key: ["title"],
    columns,
    reads: ["content"],
    sql: "SELECT 1",
  });
  assert.deepEqual(wanted([ONLY_CONTENT, query]), wanted([ONLY_CONTENT]));
});

test("a column is asked for by the name that the service has for it", () => {
  const aliases = { headline: "title", kind: "body_type", labels: "tags" };
  const columns = ["headline", "labels", "slug"];
  assert.deepEqual(wanted([ONLY_CONTENT], { aliases, columns }).columns, ["headline", "slug"]);
  const events = wanted([contentTables({ only: ["content_events"] })], {
    aliases,
    columns,
    details: "events",
  });
  assert.deepEqual([events.columns.at(-1), events.details], ["kind", "events"]);
});

test("what the configuration says of single items goes before the pipeline", () => {
  assert.equal(wanted([contentTables()], { details: "none" }).details, "none");
  assert.equal(wanted([contentTables()], { details: "all" }).details, "all");
  assert.equal(wanted([ONLY_CONTENT], { details: "events" }).details, "events");
  const narrow = wanted([ONLY_CONTENT], { details: "events", columns: ["title"] });
  assert.deepEqual(narrow.columns, ["title", "body_type"]);
});

test("a run asks the service for just that", async (t) => {
  const service = await Scripted.start(t, itemsOf(12));
  const pipelineUrl = new URL("./content-pipeline.ts", import.meta.url).href;
  await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    pipelineUrl,
    config: { details: undefined },
  });
  assert.deepEqual(service.asked("item"), []);
  const { columns } = wanted([ONLY_CONTENT], {}, [listing("dynamic"), singleItems()]);
  const [first] = service.asked("list", "dynamic");
  assert.deepEqual(first?.columns.toSorted(), columns.toSorted());
  assert.deepEqual(service.asked("destinations"), []);
  assert.deepEqual(service.asked("custom_fields"), []);
});
