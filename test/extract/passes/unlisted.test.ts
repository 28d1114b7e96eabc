import assert from "node:assert/strict";
import { chmod, readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { failsWith } from "../../failing.ts";
import { few, long } from "../../long.ts";
import {
  type ExportOptions,
  exportFrom,
  HISTORY,
  publishedIds,
  rowsOf,
  SMALL,
  temporaryFolder,
} from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { interrupted } from "../landing/resuming.ts";

const DUCKDB = new URL("../../run/duckdb-pipeline.ts", import.meta.url).href;

/** A warehouse with one run of thirty items. */
async function warehouse(t: TestContext, options: Partial<ExportOptions> = {}) {
  const service = await Scripted.start(t, itemsOf(30));
  const out = await temporaryFolder(t);
  const run = (config: ExportOptions["config"] = {}) =>
    exportFrom({ url: service.url, out, ...options, config: { perPage: 10, ...config } });
  const { directory } = await run();
  return { service, out, run, directory };
}

/** Listings without the items; asked singly, the service has them. */
function hide(service: Scripted, ids: readonly string[]): void {
  service.arrange = (items) => items.filter((item) => !ids.includes((item as { id: string }).id));
}

const CHECKS =
  "SELECT verdict, figure, detail FROM run_checks WHERE check_name LIKE 'items%that no pass listed%' ORDER BY check_name";

for (const [what, pipelineUrl] of few(
  [
    ["a database alone", DUCKDB],
    ["Parquet files", SMALL],
  ] as const,
  1,
)) {
  test(`E1a: an item that is listed no more is asked for singly, once, and its removal is on record, where the run before has ${what}`, async (t) => {
    const { service, run } = await warehouse(t, { pipelineUrl });
    service.items = itemsOf(30).filter(({ id }) => id !== "c-004" && id !== "c-017");
    const before = service.questions.length;
    const { directory, items: accounting, verdict } = await run();
    assert.deepEqual(
      [verdict, accounting.listed, accounting.loaded, accounting.vanished],
      ["complete", 28, 28, 0],
    );
    const asked = service.questions.slice(before).filter(({ kind }) => kind === "item");
    assert.deepEqual(asked.map(({ id }) => id).sort(), ["c-004", "c-017"]);
    const requests = "SELECT content_id, status FROM run_requests WHERE mode = 'item' ORDER BY ALL";
    assert.deepEqual(await rowsOf(directory, requests), [
      ["c-004", 404],
      ["c-017", 404],
    ]);
    assert.deepEqual(await rowsOf(directory, CHECKS), [
      ["passed", "2", "requested singly: 2 are gone, 0 are there"],
      ["passed", "0", "loaded besides those that were listed"],
    ]);
  });
}

test("E1a: runs that are ended among and after these requests ask once for each item that is gone, all together", async (t) => {
  const { service, out, run } = await warehouse(t, { pipelineUrl: DUCKDB });
  const [gone, left] = [itemsOf(30).slice(0, 16), itemsOf(30).slice(16)];
  service.items = left;
  service.questions.length = 0;
  const config = { perPage: 10, details: "none", concurrency: 1, customFields: ["Region"] } as const;
  const ended = { out, config, pipelineUrl: DUCKDB };
  await interrupted(service, ended, ({ kind, id }) => kind === "item" && id === "c-009");
  await interrupted(service, ended, ({ kind }) => kind === "custom_fields");
  const { directory, resumed, items } = await run(config);
  assert.ok((resumed?.items ?? 0) > 0);
  assert.equal(items.loaded, left.length);
  // The one that the first run was ended in was not answered.
  assert.deepEqual(
    service.asked("item").map(({ id }) => id),
    [...gone.slice(0, 10), ...gone.slice(9)].map(({ id }) => id),
  );
  const requests = "SELECT content_id FROM run_requests WHERE mode = 'item' ORDER BY ALL";
  assert.deepEqual(
    await rowsOf(directory, requests),
    gone.map(({ id }) => [id]),
  );
});

test("E1a: an item that is gone when its fields are asked for, and then is not listed, is not asked for again", async (t) => {
  const service = await Scripted.start(t, itemsOf(30));
  service.script = ({ kind, id }) => {
    if (kind !== "item" || id !== "c-004") return undefined;
    service.items = itemsOf(30).filter((each) => each.id !== id);
    return { status: 404 };
  };
  const out = await temporaryFolder(t);
  const { verdict, items } = await exportFrom({ url: service.url, out, config: { details: "all" } });
  assert.deepEqual([verdict, items.loaded, items.vanished], ["complete", 29, 1]);
  assert.equal(service.asked("item").filter(({ id }) => id === "c-004").length, 1);
});

long("an item that the listing hides is an item like any other, and the account still holds", async (t) => {
  const { service, run, directory: first } = await warehouse(t);
  hide(service, ["c-000", "c-029"]);
  const summary = await run();
  const { directory, items: accounting } = summary;
  assert.deepEqual(
    [summary.verdict, accounting.listed, accounting.loaded, accounting.counted],
    ["complete", 28, 28, 28],
  );
  assert.equal((await publishedIds(directory)).length, 30);
  for (const table of ["content", "content_tags"]) {
    const rows = `FROM ${table} ORDER BY ALL`;
    assert.deepEqual(await rowsOf(directory, rows), await rowsOf(first, rows), table);
  }
  assert.deepEqual(await rowsOf(directory, CHECKS), [
    ["passed", "2", "requested singly: 0 are gone, 2 are there"],
    ["warning", "2", "loaded besides those that were listed"],
  ]);
  const raw = `SELECT DISTINCT content_id, shape FROM '${directory}/raw/item/*.parquet' ORDER BY ALL`;
  assert.equal((await rowsOf(directory, raw)).length, 4);
});

test("an item that is gone by one of two answers is a removal, and one that one mode refuses is loaded with a warning", async (t) => {
  const { service, run } = await warehouse(t);
  const [removed] = itemsOf(30).slice(28, 29);
  service.items = itemsOf(30).filter(({ id }) => id !== "c-028");
  hide(service, ["c-029"]);
  service.script = ({ kind, id, mode }) => {
    if (kind !== "item") return undefined;
    if (id === "c-029") return mode === "full" ? { status: 403 } : undefined;
    return id === "c-028" && mode === "dynamic" ? { body: { response: removed } } : undefined;
  };
  const { directory, items: accounting, verdict, warnings } = await run();
  assert.deepEqual([verdict, accounting.listed, accounting.loaded], ["complete", 28, 28]);
  assert.equal((await publishedIds(directory)).length, 29);
  assert.equal((await rowsOf(directory, CHECKS))[0]?.[2], "requested singly: 1 are gone, 1 are there");
  const raw = `SELECT DISTINCT content_id FROM '${directory}/raw/item/*.parquet' ORDER BY ALL`;
  assert.deepEqual(await rowsOf(directory, raw), [["c-028"], ["c-029"]]);
  assert.match(
    warnings.join(),
    /1 listed item could be read in only one mode, dynamic or full \(c-029\): .* see run_rejects/,
  );
  const counted =
    "SELECT figure FROM run_checks WHERE check_name LIKE 'listed items that could not be read%'";
  assert.deepEqual(await rowsOf(directory, counted), [["1"]]);
});

test("where too many may not be read singly any more, the others are not asked for, a warning says so, and none is a removal", async (t) => {
  const { service, run } = await warehouse(t, { pipelineUrl: HISTORY });
  service.items = itemsOf(14);
  service.script = ({ kind }) => (kind === "item" ? { status: 403 } : undefined);
  const { directory, verdict, warnings } = await run({ concurrency: 1 });
  assert.equal(verdict, "complete");
  const refused = new Set(service.asked("item").map(({ id }) => id)).size;
  assert.ok(refused > 5 && refused < 16, `${refused} of 16 were asked for`);
  const fates = `0 are gone, 0 are there, ${refused} could not be read`;
  assert.deepEqual((await rowsOf(directory, CHECKS))[0], [
    "warning",
    "16",
    `requested singly: ${fates}; after too many failures, ${16 - refused} were not requested`,
  ]);
  assert.deepEqual(warnings, [
    "No pass listed 16 items of the run before, and whether they are gone is unknown; see run_rejects.",
  ]);
  const history = "SELECT count(*) FILTER (valid_to_run IS NULL), count(*) FROM content_history";
  assert.deepEqual(await rowsOf(directory, history), [["30", "30"]]);
});

long(
  "where more are missing than the guard lets go, none is asked for; with explicit approval all are",
  async (t) => {
    const { service, run } = await warehouse(t);
    service.items = itemsOf(5);
    await failsWith("guard.shrink", run());
    assert.deepEqual(service.asked("item"), []);
    const { directory } = await run({ acceptShrink: true });
    assert.equal(new Set(service.asked("item").map(({ id }) => id)).size, 25);
    assert.equal((await rowsOf(directory, CHECKS))[0]?.[2], "requested singly: 25 are gone, 0 are there");
  },
);

long("where the run before cannot be read, none is asked for", async (t) => {
  const { service, run, directory: first } = await warehouse(t);
  const folder = join(first, "parquet/content");
  const [file = ""] = await readdir(folder);
  await chmod(join(folder, file), 0o644);
  await truncate(join(folder, file), 100);
  service.items = itemsOf(29);
  const { directory } = await run();
  assert.deepEqual(service.asked("item"), []);
  const [check] = await rowsOf(directory, CHECKS);
  assert.equal(check?.[0], "warning");
  assert.match(String(check?.[2]), /^none was requested singly: the run before cannot be read/);
});
