/** Documents of the run before that stand in for requests for single items. */
import assert from "node:assert/strict";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { explainCommand } from "../../src/cli/commands/explain.ts";
import type { Log } from "../../src/common/log.ts";
import { silentLog } from "../../src/common/log.ts";
import type { Config } from "../../src/config/config.ts";
import { readRaw } from "../../src/raw/read-raw.ts";
import { isAboutTheRun } from "../../src/tables/all.ts";
import { currentRun, outputFolder } from "../../src/warehouse/layout.ts";
import { sampleNights } from "../audit/two-nights.ts";
import { outcome } from "../cli/capture.ts";
import { servedNight } from "./nights.ts";
import { exportFrom, failsWith, NIGHTLY, openPublished, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, itemsOf, listBody, type Question, type Reply, Scripted } from "./scripted.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A service that gives `payment` in single items alone, and whose answers have the time `now`. */
async function nights(t: TestContext, items: readonly Item[], settings: Partial<Config> = {}) {
  const service = await Scripted.start(t, items);
  const out = await temporaryFolder(t);
  const world = { now: Date.UTC(2026, 10, 20, 2), dated: true };
  const script = (question: Question): Reply | undefined => {
    const headers = { date: world.dated ? new Date(world.now).toUTCString() : "never" };
    if (question.kind === "item") {
      const found = service.items.find((each) => (each as Item).id === question.id);
      return found === undefined ? { status: 404, headers } : { headers, body: { response: found } };
    }
    if (question.kind !== "list") return { headers, body: [] };
    const listed = service.items.map((each) => {
      const { payment: _, ...rest } = each as Item;
      return rest;
    });
    return { headers, body: listBody(listed, question) };
  };
  service.script = script;
  const run = async (config: Partial<Config> = {}, log: Log = silentLog) => {
    service.questions.length = 0;
    const whole = { details: "all", perPage: 10, ...settings, ...config } as const;
    return exportFrom({ url: service.url, out, config: whole, log });
  };
  return {
    service,
    script,
    world,
    out,
    run,
    /** IDs that the last run asked for singly. */
    asked: () =>
      service
        .asked("item")
        .map(({ id }) => id)
        .sort(),
    edit: (id: string, changes: Readonly<Record<string, unknown>>) => {
      service.items = service.items.map((each) =>
        (each as Item).id === id ? { ...(each as Item), ...changes } : each,
      );
    },
  };
}

const paid = (count: number): Item[] =>
  itemsOf(count).map((item, index) => ({ ...item, payment: index + 0.5 }));

const ALL = paid(20).map(({ id }) => id);

/** Not the histories: they name the runs in which something changed. */
const isData = (table: string): boolean => !isAboutTheRun(table) && !table.includes("histor");

/** Rows of all tables of data, and of the drift. */
async function rowsIn(directory: string) {
  await using reader = await openPublished(directory);
  const tables = await reader.rows(
    "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' ORDER BY 1",
  );
  const rows: Record<string, unknown> = {};
  for (const [table] of tables.filter(([name]) => isData(String(name)))) {
    rows[String(table)] = await reader.rows(`SELECT * FROM "${table}" ORDER BY ALL`);
  }
  rows.run_drift = await reader.rows("SELECT * FROM run_drift ORDER BY ALL");
  return rows;
}

test("a night of edits has the rows of a full export, and asks for what was edited", async (t) => {
  const folder = await temporaryFolder(t);
  const [first, second] = await sampleNights(folder);
  const at = { out: join(folder, "warehouse"), pipelineUrl: NIGHTLY, config: { details: "all" } } as const;
  const { port, summary: full } = await servedNight({ ...at, data: first, port: 0 });
  const { summary: unchanged } = await servedNight({ ...at, data: first, port });
  assert.ok(unchanged.requests < full.requests / 2, `${unchanged.requests} of ${full.requests}`);
  const before = await rowsIn(full.directory);
  assert.deepEqual(await rowsIn(unchanged.directory), before);
  assert.deepEqual(unchanged.reused?.count, unchanged.reused?.wanted);
  const reused = "FROM run_documents WHERE read_by_run IS NOT NULL AND request IS NULL";
  assert.deepEqual(
    await rowsOf(unchanged.directory, `SELECT read_by_run, count(DISTINCT content_id) ${reused} GROUP BY 1`),
    [[full.run, String(unchanged.reused?.count)]],
  );
  const observed = "SELECT content_id, observed_at, sha256 FROM run_documents";
  const [answers, copies] = await Promise.all([
    rowsOf(
      full.directory,
      `${observed} WHERE request IN (SELECT request FROM run_requests WHERE mode = 'item') ORDER BY ALL`,
    ),
    rowsOf(unchanged.directory, `${observed} WHERE read_by_run IS NOT NULL ORDER BY ALL`),
  ]);
  assert.deepEqual(copies, answers);
  const [[id] = []] = copies;
  const told = await outcome(explainCommand, [String(id), "--steps", "--warehouse", at.out]);
  assert.ok(told.text.includes(`item document, read by run ${full.run}`), told.text);
  const { summary: edited } = await servedNight({ ...at, data: second, port });
  assert.equal(edited.verdict, "complete");
  const { summary: anew } = await servedNight({
    ...at,
    data: second,
    port,
    config: { ...at.config, rereadDays: 0 },
  });
  assert.ok(edited.requests < anew.requests, `${edited.requests} of ${anew.requests}`);
  const [rows, expected] = [await rowsIn(edited.directory), await rowsIn(anew.directory)];
  for (const table of Object.keys(expected)) assert.deepEqual(rows[table], expected[table], table);
});

test("an item is asked for where its listing says another thing of it, and where it is `rereadDays` old", async (t) => {
  const { run, asked, edit, world } = await nights(t, paid(20));
  await run();
  assert.deepEqual(asked(), ALL);
  edit("c-003", { title: "Edited" });
  edit("c-004", { favorite_count: 7, author_details: { id: "u1", tz: "Europe/Vienna" } });
  const { directory } = await run();
  assert.deepEqual(asked(), ["c-003"]);
  const payments = "SELECT count(*), count(payment), count(DISTINCT payment) FROM content";
  assert.deepEqual(await rowsOf(directory, payments), [["20", "20", "20"]]);
  const due = new Set<string>();
  for (let night = 1; night <= 7; night++) {
    world.now += DAY_MS;
    await run();
    assert.ok(asked().length < 12, `${asked().length} in the night ${night}`);
    for (const id of asked()) due.add(id);
  }
  assert.deepEqual([...due].sort(), ALL, "each within a week");
  await run({ rereadDays: 0 });
  assert.deepEqual(asked(), ALL);
});

test("age goes by the service's clock: where that went back, or is not told, items are asked for", async (t) => {
  const { run, asked, world } = await nights(t, paid(20));
  await run();
  world.now -= 60_000;
  await run();
  assert.deepEqual(asked(), ALL);
  world.dated = false;
  await run();
  assert.deepEqual(asked(), ALL);
  world.dated = true;
  await run();
  assert.deepEqual(asked(), ALL);
});

const SETTINGS: readonly Partial<Config>[] = [
  { personalData: { policy: "keep", key: null } },
  { personalFields: ["tags"] },
  { aliases: { paid_amount: "payment" } },
  { columns: ["id", "title", "updated_at", "payment", "tasks_begin_at"] },
];

test("under another policy, with other personal fields, aliases or columns of single items, all are asked for", async (t) => {
  const { run, asked } = await nights(t, paid(20));
  await run();
  for (const settings of SETTINGS) {
    await run(settings);
    assert.deepEqual(asked(), ALL, JSON.stringify(settings));
    await run(settings);
    assert.deepEqual(asked(), [], JSON.stringify(settings));
    await run();
  }
});

test("an item that was edited between its listing and its answer is asked for in the next night", async (t) => {
  const { run, asked, edit, service, script } = await nights(t, paid(20));
  service.script = (question) => {
    if (question.kind === "item" && question.id === "c-005")
      edit("c-005", { updated_at: "2026-11-20T01:00:00Z", title: "Edited" });
    return script(question);
  };
  await run();
  service.script = script;
  // The listing says again what it said before that answer.
  service.items = paid(20);
  await run();
  assert.deepEqual(asked(), ["c-005"]);
});

test("an item that is listed twice, and was edited in between, is asked for", async (t) => {
  const { run, edit, service, script } = await nights(t, paid(20));
  await run();
  service.script = (question) => {
    if (question.kind === "list" && question.mode === "dynamic" && question.page === 2) {
      edit("c-000", { title: "Edited" });
      const [edited, ...others] = service.items;
      service.items = [...others.slice(0, 15), edited, ...others.slice(15)];
      service.script = script;
    }
    return script(question);
  };
  const { directory } = await run({ concurrency: 1 });
  // Before the other listing: not only because the passes differ.
  const full = service.asked("list", "full").at(0)?.number ?? 0;
  const before = service.asked("item").filter(({ number }) => number < full);
  assert.deepEqual(
    before.map(({ id }) => id),
    ["c-000"],
  );
  const title = "SELECT title FROM content WHERE content_id = 'c-000'";
  assert.deepEqual(await rowsOf(directory, title), [["Edited"]]);
});

const DAMAGES: Readonly<Record<string, (file: string) => Promise<void>>> = {
  damaged: async (file) => {
    const bytes = await readFile(file);
    bytes[200] = (bytes[200] ?? 0) ^ 1;
    await chmod(file, 0o600);
    await writeFile(file, bytes);
  },
  missing: (file) => rm(file),
};

for (const [how, damage] of Object.entries(DAMAGES)) {
  test(`nothing is reused of a run of which one raw file is ${how}: one warning, and the night is complete`, async (t) => {
    const { run, asked, out } = await nights(t, paid(20));
    const { directory } = await run();
    const [file = ""] = (await readRaw(join(directory, "raw")))
      .takeItems()
      .index.files.filter((each) => each.includes("/item/"));
    await chmod(join(directory, "raw/item"), 0o700);
    await damage(file);
    const warnings: string[] = [];
    const summary = await run({}, { ...silentLog, warn: (message) => warnings.push(message) });
    assert.equal(summary.verdict, "complete");
    assert.deepEqual(asked(), ALL);
    assert.match(
      warnings.join("\n"),
      /^Nothing of the run \S+ is reused, and all single items are asked for: /,
    );
    assert.equal(warnings.length, 1);
    assert.ok(await currentRun(outputFolder(out)));
  });
}

test("limits of failures are of what was asked, without the items that failed in the night before", async (t) => {
  const many = paid(60);
  const { run, asked, edit, service, script } = await nights(t, many);
  const refused = ["c-001", "c-002", "c-003", "c-004"];
  const refusing = (question: Question) =>
    question.kind === "item" && refused.includes(question.id) ? { status: 403 } : script(question);
  service.script = refusing;
  await run();
  refused.push("c-005");
  edit("c-005", { title: "Edited" });
  edit("c-006", { title: "Edited" });
  await run();
  assert.deepEqual(asked(), ["c-001", "c-002", "c-003", "c-004", "c-005", "c-006"]);
  const gone = ["c-011", "c-012", "c-013", "c-014", "c-015"];
  for (const id of gone) edit(id, { title: "Edited" });
  service.script = (question) =>
    question.kind === "item" && gone.includes(question.id) ? { status: 404 } : refusing(question);
  const { message } = await failsWith("source.rejects", run());
  assert.match(message, /^3 of 5 listed items returned 404 or 410 when asked for singly, limit: 2;/);
});

test("a run that goes on keeps what it reused, and reuses the rest", async (t) => {
  const { run, asked, edit, service, script } = await nights(t, paid(20));
  await run();
  edit("c-019", { title: "Edited" });
  service.script = (question) =>
    question.kind === "list" && question.mode === "full" ? { status: 401 } : script(question);
  await failsWith("source.credentials", run());
  assert.deepEqual(asked(), ["c-019"]);
  service.script = script;
  const { directory, resumed } = await run();
  assert.deepEqual([resumed?.items, asked()], [20, []]);
  assert.deepEqual(await rowsOf(directory, "SELECT count(payment) FROM content"), [["20"]]);
  const { facts } = await readRaw(join(directory, "raw"));
  assert.deepEqual([facts.detailsAsked, facts.detailsReused.count], [1, 19]);
});
