/** A run built again from its raw documents, its facts and the run before: equal but for when its tables were built. */
import assert from "node:assert/strict";
import { cp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { findReadableRun } from "../../src/audit/open-run.ts";
import { systemClock } from "../../src/common/clock.ts";
import { silentLog } from "../../src/common/log.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { readRawFolder } from "../../src/raw/raw-folder.ts";
import { build } from "../../src/run/build.ts";
import { previousHistory, removePersonal } from "../../src/run/previous-history.ts";
import { StagedLoads } from "../../src/run/stage-loads.ts";
import { isRunTable } from "../../src/tables/all.ts";
import { loadPipeline, pipelineUrl } from "../../src/transform/pipelines.ts";
import { type Baseline, baselineOf } from "../../src/warehouse/baseline.ts";
import { freeBytes, PeakUse } from "../../src/warehouse/disk.ts";
import { previousOf } from "../../src/warehouse/identity.ts";
import { createStaging, outputFolder } from "../../src/warehouse/layout.ts";
import { readManifestFile } from "../../src/warehouse/manifest.ts";
import { publishRun } from "../../src/warehouse/publish.ts";
import { tablesSourceOf } from "../../src/warehouse/published-tables.ts";
import { listRuns, rollback } from "../../src/warehouse/retention.ts";
import { differingTables } from "../differing-tables.ts";
import { long, sweep } from "../long.ts";
import { exportFrom, NIGHTLY, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, item, itemsOf, type Question, Scripted } from "./scripted.ts";

const COLOR = (
  external: string,
) => `{"id":"f1","name":"color","field_type":"select","limit":12345678901234567890,
  "formatted_select_values":[{"id":"v1","display":"Red"}],
  "mappings":[{"id":"m1","external_site_id":"d1","field_name":"colour",
    "values":[{"id":"e1","value_id":"v1","value":"${external}"}]}]}`;

/** Listings in which every item has a value of the custom field. */
function withColor(items: readonly unknown[], { mode }: Question): unknown[] {
  const field = {
    id: "f1",
    name: "color",
    field_type: "select",
    value: "Red",
    select_value_ids: { v1: "Red" },
  };
  const color = {
    dynamic: { custom_fields: { f1: "Red" }, custom_field_value_ids: { f1: "v1" } },
    full: { custom_fields: [field] },
    basic: {},
  };
  return items.map((each) => ({ ...(each as Item), ...color[mode] }));
}

/** A service, and a warehouse of its nights. */
async function scripted(t: TestContext) {
  const service = await Scripted.start(t, itemsOf(30));
  service.arrange = withColor;
  const out = await temporaryFolder(t);
  let external = "rouge";
  /** Of the first night alone. */
  let mall = `,{"id":"d2","identification":"Mall","platform":"External"}`;
  const answer = ({ kind }: Question) => {
    if (kind === "destinations")
      return {
        body: `[{"id":"d1","identification":"Shop","platform":"External","contact_email":"a@b.example"}${mall}]`,
      };
    return kind === "custom_fields" ? { body: `[${COLOR(external)}]` } : undefined;
  };
  service.script = answer;
  const config = {
    perPage: 5,
    details: "all",
    destinations: [
      { name: "Shop", platform: "External" },
      { name: "Mall", platform: "External" },
    ],
    personalData: { policy: "drop", key: null },
  } as const;
  return {
    service,
    answer,
    folder: outputFolder(out),
    translate: (to: string) => {
      external = to;
    },
    run: async () => {
      const summary = await exportFrom({ url: service.url, out, pipelineUrl: NIGHTLY, config });
      mall = "";
      return summary;
    },
  };
}

type Nights = Awaited<ReturnType<typeof scripted>>;

/** Before it an item is removed and one is hidden, in it one is edited, one vanishes and one cannot be read singly. */
async function secondNight({ service, answer, run }: Nights) {
  // What cannot be read singly is asked for because the listing says that it was edited.
  service.items = itemsOf(30)
    .filter(({ id }) => id !== "c-004")
    .map((each) => (each.id === "c-011" ? { ...each, title: "Refused" } : each));
  service.arrange = (items, question) =>
    withColor(
      items.filter((each) => (each as Item).id !== "c-029"),
      question,
    );
  let changed = false;
  service.script = (question) => {
    if (question.kind === "item" && question.id === "c-011") return { body: { response: 5 } };
    if (!changed && question.kind === "list" && question.mode === "full") {
      changed = true;
      const edited = item("c-005", 5, { title: "Edited", updated_at: "2026-11-02T10:00:00Z" });
      service.items = service.items
        .filter((each) => (each as Item).id !== "c-007")
        .map((each) => ((each as Item).id === "c-005" ? edited : each));
    }
    return answer(question);
  };
  return run();
}

long(
  "nights with edited, vanished, removed, unlisted, rejected and returned items are built again",
  async (t) => {
    const nights = await scripted(t);
    const first = await nights.run();
    const second = await secondNight(nights);
    assert.deepEqual([second.verdict, second.accounting.vanished], ["complete", 1]);
    nights.service.items = itemsOf(30);
    nights.service.script = nights.answer;
    nights.translate("red");
    const third = await nights.run();
    await rollback(nights.folder, second.run);
    nights.translate("vermeil");
    const fork = await nights.run();
    assert.deepEqual([third.previousRun, fork.previousRun], [second.run, second.run]);

    const { directory } = second;
    for (const [table, rows] of [
      ["content", "28"],
      ["content_mapped_values", "26"],
      ["destinations", "1"],
      ["mapped_value_history", "30"],
      ["run_rejects", "1"],
    ])
      assert.deepEqual(await rowsOf(directory, `SELECT count(*) FROM ${table}`), [[rows]], table);
    await assertDocumented(directory);
    for (const { directory: night } of sweep([second, third, first, fork], 2)) {
      const made = await builtAgain(t, { directory: night });
      assert.equal((await assertSameRun(night, made))[0], 55);
      await assertSameReport(night, made);
    }
  },
);

/** The page on raw documents says which count, and the facts are read as they were stated. */
async function assertDocumented(directory: string): Promise<void> {
  const { facts, takeIndex } = await readRawFolder(join(directory, "raw"));
  const { vanished, removed, unlisted, detailsRejected, asked, unmatched } = facts;
  assert.deepEqual(
    [vanished, removed, unlisted, detailsRejected],
    [["c-007"], ["c-004"], ["c-029"], ["c-011"]],
  );
  assert.deepEqual([asked.shapes, asked.singleItems], [["dynamic", "full"], "all"]);
  assert.deepEqual(unmatched.destinations, [{ name: "Mall", platform: "External" }]);
  const text = await readFile(join(directory, "raw/extract.json"), "utf8");
  assert.deepEqual(Object.keys(JSON.parse(text)), Object.keys(JSON.parse(text)).toSorted());
  const readme = await readFile(packagePath("src/raw/README.md"), "utf8");
  const [, statement = ""] = /```sql\n(.*?);\n```/s.exec(readme) ?? [];
  const listed = await rowsOf(directory, statement.replaceAll("'raw/", `'${directory}/raw/`));
  const index = takeIndex();
  const { items } = index;
  const counting = Array.from(items.sorted(), (each) =>
    items.idOf(each) === "c-007" ? [] : index.counting(each).map(() => items.idOf(each)),
  );
  assert.deepEqual(
    listed.map(([id]) => id),
    counting.flat(),
  );
}

/**
 * Builds the run again from its raw documents, its facts and the run before, by the code that a nightly run goes through,
 * and publishes it in a warehouse of its own. Answers its folder there.
 */
async function builtAgain(t: TestContext, { directory }: { readonly directory: string }): Promise<string> {
  const folder = outputFolder(dirname(dirname(directory)));
  const published = await findReadableRun(folder, basename(directory));
  const { manifest } = published;
  const again = outputFolder(await temporaryFolder(t));
  const staging = await createStaging(again, manifest.run);
  await cp(join(directory, "raw"), join(staging.result, "raw"), { recursive: true });
  const landed = await readRawFolder(join(staging.result, "raw"));
  const { module, name } = landed.facts.pipeline;
  const url = module?.startsWith("file:") ? module : pipelineUrl(module ?? assert.fail(name), "");
  const pipeline = await loadPipeline(url);
  const runs = await listRuns(folder);
  const before = previousOf(manifest, runs);
  const baseline: Baseline = before ? await baselineOf(folder, before.run) : { kind: "none" };
  const [[endedMs] = []] = await rowsOf(directory, "SELECT epoch_ms(ended_at)::DOUBLE FROM run");
  const clock = { ...systemClock, now: () => Number(endedMs) };
  const past = await previousHistory(baseline, pipeline, folder);
  await using loads = new StagedLoads([]);
  const runtime = {
    clock,
    log: silentLog,
    signal: new AbortController().signal,
    onProgress: () => {},
    threads: 1,
    nodeVersion: manifest.versions.node,
    freeBytes,
  };
  await using peak = new PeakUse(staging.root, 0);
  const history = removePersonal(past, landed.facts.personalData);
  const run = { pipeline, pipelineUrl: url, folder, staging, baseline, history };
  const source = { landed, replayOf: manifest.replayOf ?? null };
  const built = await build(run, source, { loads, peak, runtime });
  await publishRun(again, staging, { ...built.statement, peakBytes: manifest.peakBytes }, clock);
  return join(again.runs, staging.run);
}

/**
 * Fails where two runs differ in the rows of a table, the bytes of a data file, or the manifest but for when it ended. Answers the number of tables, and of data files, that were compared.
 */
async function assertSameRun(published: string, again: string): Promise<[tables: number, files: number]> {
  const [one, other] = await Promise.all([published, again].map(async (each) => readManifestFile(each)));
  const { files, endedAt: _ended, ...stated } = one?.manifest ?? assert.fail();
  const { files: filesAgain, endedAt: _endedAgain, ...statedAgain } = other?.manifest ?? assert.fail();
  assert.deepEqual(statedAgain, stated);
  assert.deepEqual(
    filesAgain.map(({ path, rows }) => [path, rows]),
    files.map(({ path, rows }) => [path, rows]),
  );
  const tables = Object.keys(stated.rows);
  const [a, b] = [published, again].map((directory) => ({
    tables,
    source: tablesSourceOf({ directory, manifest: one?.manifest ?? assert.fail() }, { isQuestioned: true }),
  }));
  assert.ok(a !== undefined && b !== undefined);
  const compared = { published: a, rebuilt: b, temporaryDirectory: tmpdir() };
  assert.deepEqual(await differingTables(compared), []);
  const data = await dataFilesIn(published);
  const dataAgain = await dataFilesIn(again);
  assert.deepEqual([...dataAgain.keys()], [...data.keys()]);
  const others = [...data].filter(([name, bytes]) => dataAgain.get(name)?.equals(bytes) !== true);
  assert.deepEqual(
    others.map(([name]) => name),
    [],
  );
  return [tables.length, data.size];
}

async function assertSameReport(published: string, again: string): Promise<void> {
  const [page = [], pageAgain = []] = await Promise.all(
    [published, again].map(async (each) => (await readFile(join(each, "report.html"), "utf8")).split("\n")),
  );
  // All of it would be a message of megabytes.
  const other = page.findIndex((line, place) => line !== pageAgain[place]);
  assert.equal(pageAgain[other]?.slice(0, 2000), page[other]?.slice(0, 2000));
  assert.equal(pageAgain.length, page.length);
}

/** By path: the Parquet files of all tables but those about the run itself. */
async function dataFilesIn(directory: string): Promise<ReadonlyMap<string, Buffer>> {
  const parquet = join(directory, "parquet");
  const names = (await readdir(parquet, { recursive: true })).filter((name) => name.endsWith(".parquet"));
  const data = names.toSorted().filter((name) => !isRunTable(name.split("/", 1)[0] ?? ""));
  return new Map(
    await Promise.all(data.map(async (name) => [name, await readFile(join(parquet, name))] as const)),
  );
}
