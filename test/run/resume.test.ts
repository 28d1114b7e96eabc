import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../src/common/log.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import {
  assertSame,
  killed,
  oddItems,
  PAGES_PER_GROUP,
  SETTINGS,
  staged,
  stagedFiles,
  startWithSettings,
} from "../extract/landing/resuming.ts";
import { few, long } from "../long.ts";
import { until } from "../until.ts";
import { exportFrom, NIGHTLY, rowsOf, SMALL, scriptedWorld, temporaryFolder } from "./running.ts";
import { type Question, Scripted } from "./scripted.ts";

const ITEMS = 400;
const PAGES = ITEMS / SETTINGS.perPage;
/** Every tenth; they are asked for singly. */
const EVENTS = ITEMS / 10;

/** A service, and what an undisturbed run over it publishes. */
async function undisturbed(t: TestContext, pipelineUrl = SMALL) {
  const { service, exported } = await scriptedWorld(t, oddItems(ITEMS));
  return { service, whole: await exported({ config: SETTINGS, pipelineUrl }) };
}

async function emptyFolder(t: TestContext): Promise<string> {
  return join(await temporaryFolder(t), "warehouse");
}

/** What the run says of departures from the specification, and of listed things that are no items. */
async function oddities({ directory }: RunSummary) {
  return [await rowsOf(directory, "FROM run_drift"), await rowsOf(directory, "FROM run_rejects")];
}

interface Point {
  /** What is kept already when the run is killed. */
  readonly kept: string;
  readonly at: (question: Question) => boolean;
  /** Pages and single items that are not to be asked for again, at least. */
  readonly pages: number;
  readonly items: number;
  readonly passes: readonly string[];
}

const page = (mode: Question["mode"], at: number) => (question: Question) =>
  question.kind === "list" && question.mode === mode && question.page === at;

const POINTS: Readonly<Record<string, Point>> = {
  "the dynamic listing": {
    kept: "dynamic-00001",
    at: page("dynamic", 2 * PAGES_PER_GROUP + 20),
    pages: 2 * PAGES_PER_GROUP,
    items: 0,
    passes: ["dynamic", "full"],
  },
  "the single items": {
    kept: "dynamic-00003",
    at: ({ kind, id }) => kind === "item" && id === "c-0330",
    pages: PAGES,
    items: 0,
    passes: ["dynamic", "full"],
  },
  "the full listing": {
    kept: "full-00000",
    at: page("full", PAGES_PER_GROUP + 20),
    pages: PAGES + PAGES_PER_GROUP,
    items: 40,
    passes: ["dynamic", "full", "basic"],
  },
  "the lookups at the end": {
    kept: "full-00003",
    at: ({ kind }) => kind === "custom_fields",
    pages: 2 * PAGES,
    items: 40,
    passes: ["dynamic", "full", "basic"],
  },
};

test("G8: a run that is killed goes on, and publishes what an undisturbed run does", async (t) => {
  const { service, whole } = await undisturbed(t);
  for (const [where, { kept, at, pages, items, passes }] of few(Object.entries(POINTS), 1)) {
    await t.test(`killed in ${where}`, async (t) => {
      const out = await emptyFolder(t);
      await killed(service, out, at, { kept });
      const [run] = await staged(out);
      const before = service.questions.length;
      const summary = await exportFrom({ url: service.url, out, config: SETTINGS });
      assert.deepEqual([summary.run, summary.verdict], [run, "complete"]);
      assert.deepEqual(
        summary.found.passes.map(({ mode }) => mode),
        passes,
      );
      const { resumed } = summary;
      assert.ok((resumed?.pages ?? 0) >= pages, `${resumed?.pages} pages were kept`);
      assert.ok((resumed?.items ?? 0) >= items, `${resumed?.items} items were kept`);
      const asked = service.questions.slice(before);
      const [probe, ...listed] = asked.filter(({ kind, mode }) => kind === "list" && mode !== "basic");
      assert.deepEqual(
        [probe?.perPage, listed.length],
        [1, 2 * PAGES - (resumed?.pages ?? 0)],
        "one item, and no page that was kept",
      );
      assert.equal(asked.filter(({ kind }) => kind === "item").length, EVENTS - (resumed?.items ?? 0));
      assert.equal(asked.filter(({ mode }) => mode === "basic").length, passes.length === 3 ? PAGES : 0);
      assert.equal(asked.filter(({ kind }) => kind === "custom_fields").length, 1, "lookups are made anew");
      assert.equal((await readManifest(summary.directory)).found.resumedAt.length, 1);
      const requests =
        "SELECT mode, count(*) FROM run_requests WHERE mode IN ('dynamic', 'full', 'item') GROUP BY 1";
      assert.deepEqual(await rowsOf(summary.directory, `${requests} ORDER BY 1`), [
        ["dynamic", `${PAGES}`],
        ["full", `${PAGES}`],
        ["item", `${EVENTS}`],
      ]);
      await assertSame(summary, whole);
      // A third pass counts once more what is odd.
      if (passes.length === 2) assert.deepEqual(await oddities(summary), await oddities(whole));
      assert.deepEqual(await staged(out), []);
    });
  }
});

test("G8a: a run that is killed before it saved anything begins anew, and the next one says so", async (t) => {
  const service = await Scripted.start(t, oddItems(40));
  const out = await emptyFolder(t);
  await killed(service, out, page("dynamic", 4));
  const [run = ""] = await staged(out);
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => warnings.push(message) };
  const { resumed, verdict } = await exportFrom({ url: service.url, out, config: SETTINGS, log });
  assert.deepEqual([resumed, verdict], [null, "complete"]);
  assert.deepEqual(warnings, [
    `The interrupted run ${run} is not resumed: nothing that it read was saved, so this run starts from the beginning.`,
  ]);
});

long("G8: a run of all tables that is killed while it loads them goes on", async (t) => {
  const { service, whole } = await undisturbed(t, NIGHTLY);
  const out = await emptyFolder(t);
  const { child, ended } = await startWithSettings(service, out, NIGHTLY);
  const isLoading = async () =>
    (await stagedFiles(out)).some((path) => /parquet.content_tags.*parquet$/.test(path));
  await until("a table is loaded", isLoading, { ended });
  child.kill("SIGKILL");
  assert.equal((await ended).signal, "SIGKILL");
  const [run] = await staged(out);
  const summary = await exportFrom({ url: service.url, out, config: SETTINGS, pipelineUrl: NIGHTLY });
  assert.deepEqual([summary.run, summary.resumed], [run, { pages: 2 * PAGES, items: EVENTS }]);
  await assertSame(summary, whole);
});
