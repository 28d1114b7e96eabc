/** Limited runs: the first items that the service lists, each in full, and nothing of others. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import type { Config } from "../../src/config/config.ts";
import { definePipeline } from "../../src/define-pipeline.ts";
import { listing } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import { exitCodeOf } from "../../src/observe/outcome.ts";
import { contentTables } from "../../src/transform/stages.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { NOBODY } from "../observe/observing.ts";
import { memoryTarget } from "../targets/memory-target.ts";
import { HurriedClock, publishedIds, rowsOf, scriptedWorld, temporaryFolder, visibleIn } from "./running.ts";
import { item, itemsOf } from "./scripted.ts";

/** Pages have five items, unless a limit is less. */
async function world(t: TestContext, items: number) {
  const { service, out, exported } = await scriptedWorld(t, itemsOf(items));
  const run = (limit: number | null, more: Partial<Config> = {}) => exported({ config: { limit, ...more } });
  return { service, out, exported, run };
}

const firstIds = (count: number) => itemsOf(count).map(({ id }) => id);

suite("a limited run", () => {
  test("reads the pages that its items fill, singly its items alone, and publishes these", async (t) => {
    const { service, run } = await world(t, 40);
    const summary = await run(11, { details: "events" });
    // The last place of the last page is beyond the limit.
    const pages = service.questions.filter(({ kind }) => kind === "list");
    assert.deepEqual(
      pages.map(({ mode, page, perPage }) => `${mode} ${page}/${perPage}`).toSorted(),
      ["dynamic", "full"].flatMap((mode) => [1, 2, 3].map((page) => `${mode} ${page}/4`)),
    );
    assert.deepEqual(
      service.asked("item").map(({ id }) => id),
      ["c-000", "c-010"],
    );
    assert.deepEqual([summary.verdict, exitCodeOf(summary)], ["limited", 0]);
    assert.deepEqual(summary.reasons, ["--limit: only the first 11 items were read; the service counts 40"]);
    assert.deepEqual(await publishedIds(summary.directory), firstIds(11));
    const documents = "SELECT DISTINCT content_id FROM run_documents ORDER BY 1";
    assert.deepEqual((await rowsOf(summary.directory, documents)).flat(), firstIds(11));
    assert.deepEqual(
      await rowsOf(summary.directory, "SELECT verdict, reason, items_listed, items_loaded FROM run"),
      [["limited", summary.reasons[0], "11", "11"]],
    );
    assert.deepEqual(await rowsOf(summary.directory, "SELECT DISTINCT clean FROM run_passes"), [[false]]);
  });

  long("asks singly for what the other listing has elsewhere, and has no other items for it", async (t) => {
    const { service, run } = await world(t, 20);
    service.arrange = (items, { mode }) => (mode === "full" ? items.toReversed() : items);
    const summary = await run(5);
    assert.deepEqual(await publishedIds(summary.directory), firstIds(5));
    assert.deepEqual([...new Set(service.asked("item").map(({ id }) => id))].toSorted(), firstIds(5));
    const shapes = "SELECT DISTINCT shape FROM run_documents GROUP BY content_id, shape ORDER BY 1";
    assert.deepEqual(await rowsOf(summary.directory, shapes), [["dynamic"], ["full"]]);
  });

  test("is on its own: it may read more than there is, and a later one has no run before it", async (t) => {
    const { service, out, run } = await world(t, 3);
    const first = await run(5);
    assert.deepEqual([first.verdict, exitCodeOf(first)], ["limited", 0]);
    assert.deepEqual(await publishedIds(first.directory), firstIds(3));
    service.items = itemsOf(10).toReversed();
    const second = await run(2);
    assert.deepEqual([first.sequence, second.sequence], [1, 2]);
    assert.deepEqual([second.comparedWith, second.changes, second.found.singleItems.reused], [null, null, 0]);
    assert.deepEqual(await publishedIds(join(out, "current")), ["c-008", "c-009"]);
    const manifest = JSON.parse(await readFile(join(out, "current", "manifest.json"), "utf8"));
    assert.deepEqual([manifest.verdict, manifest.previousRun], ["limited", null]);

    const questions = service.questions.length;
    const refused = await failsWith("config.invalid", run(null));
    assert.match(refused.message, /has limited runs, and this run is a full one; name another folder/);
    assert.equal(service.questions.length, questions);
  });

  test("lies in no folder with full runs, and says nothing of rows that name items it has not read", async (t) => {
    const { service, exported, run } = await world(t, 0);
    service.items = [item("c-000", 1, { localized_from_id: "c-900", assignee_id: "u-900" })];
    const full = await run(null);
    const refused = await failsWith("config.invalid", run(1));
    assert.match(refused.message, /has full runs, and this run is limited; name another folder/);
    const limited = await exported({ out: await temporaryFolder(t), config: { limit: 1 } });
    const foreign = ({ checks }: typeof full) =>
      checks.warnings.filter(({ name }) => name.startsWith("foreign key"));
    assert.notEqual(foreign(full).length, 0);
    assert.deepEqual(foreign(limited), []);
  });

  long("is delivered to no target and by no loader, and no observer is told", async (t) => {
    const { exported } = await world(t, 10);
    const target = memoryTarget();
    const told: unknown[] = [];
    const metricsFile = join(await temporaryFolder(t), "metrics.prom");
    const loader = { name: "mine", stage: async () => assert.fail("a loader was asked for") };
    const { deliveries } = await exported({
      pipelineUrl: definePipeline({
        name: "loading",
        extract: [listing("dynamic")],
        transform: [contentTables({ only: ["content"] })],
        load: [duckdb(), parquet(), loader],
      }),
      config: {
        limit: 2,
        targets: [target],
        observe: { ...NOBODY, onFinish: (outcome) => told.push(outcome), metricsFile },
      },
    });
    assert.deepEqual([target.seen, deliveries, told, existsSync(metricsFile)], [[], [], [], false]);
  });

  long("that was interrupted begins again", async (t) => {
    const { service, out, exported } = await world(t, 40);
    const stop = new AbortController();
    const interrupted = new WarehouseError("run.interrupted", "Interrupted; nothing was published.");
    service.script = ({ mode, kind }) => {
      if (kind === "list" && mode === "full") stop.abort(interrupted);
      return undefined;
    };
    const config = { limit: 20 };
    await failsWith("run.interrupted", exported({ config, signal: stop.signal }));
    assert.deepEqual(await visibleIn(out), []);
    service.script = () => undefined;
    service.questions.length = 0;
    const { resumed } = await exported({ config, clock: new HurriedClock() });
    assert.equal(resumed, null);
    assert.equal(service.asked("list", "dynamic").length, 4);
  });
});
