/** A run made anew from its raw documents alone: the same bytes, by the code that a run goes through. */
import assert from "node:assert/strict";
import { cp, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { TestContext } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { createService, runPipeline } from "../../src/index.ts";
import { WarehouseBuild } from "../../src/load/build-warehouse.ts";
import { findHistory } from "../../src/load/history-previous.ts";
import { Drift } from "../../src/raw/drift.ts";
import { readRaw } from "../../src/raw/read-raw.ts";
import { buildRequest } from "../../src/run/finalize.ts";
import { transformRaw } from "../../src/run/run-transform.ts";
import { isAboutTheRun } from "../../src/tables/all.ts";
import { loadPipeline } from "../../src/transform/pipelines.ts";
import { createStaging, outputFolder } from "../../src/warehouse/layout.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { long } from "../long.ts";
import { exportFrom, NIGHTLY, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, item, itemsOf, type Question, Scripted } from "./scripted.ts";

/** Digests of nothing are equal too: the tables that a test needs rows in are counted by it. */
type Bytes = ReadonlyMap<string, Buffer>;

/** By path: the Parquet files of all tables but those about the run itself. */
async function dataFilesIn(result: string): Promise<Bytes> {
  const parquet = join(result, "parquet");
  const names = (await readdir(parquet, { recursive: true })).filter((name) => name.endsWith(".parquet"));
  const data = names.toSorted().filter((name) => !isAboutTheRun(name.split("/", 1)[0] ?? ""));
  return new Map(
    await Promise.all(data.map(async (name) => [name, await readFile(join(parquet, name))] as const)),
  );
}

/** The data tables of a published run, from a copy of its raw folder and what the runs before it say of the past. */
async function rebuilt(t: TestContext, directory: string, before?: string): Promise<Bytes> {
  const { run } = await readManifest(directory);
  const folder = outputFolder(await temporaryFolder(t));
  const staging = await createStaging(folder, run);
  const copy = join(await temporaryFolder(t), "raw");
  await cp(join(directory, "raw"), copy, { recursive: true });
  const pipeline = await loadPipeline(NIGHTLY);
  const { items, index, lookups, record } = await readRaw(copy);
  const { signal } = new AbortController();
  const options = { pipeline: NIGHTLY, threads: 1, signal, onProgress: () => {} };
  const transformed = await transformRaw({
    options,
    pipeline,
    staging,
    record,
    takeIndex: () => ({ items, index }),
  });
  const history =
    before === undefined
      ? ({ kind: "none" } as const)
      : await findHistory(
          { run: basename(before), directory: before, manifest: await readManifest(before) },
          folder.staging,
        );
  const request = buildRequest({
    pipeline,
    staging,
    history,
    beginning: { startedMs: 0 },
    transformed,
    lookups,
    record,
    drift: new Drift(),
    signal,
    onTable: () => {},
  });
  await using build = await WarehouseBuild.open(request);
  await build.loadData();
  return dataFilesIn(staging.result);
}

async function assertSame(published: Bytes, made: Bytes): Promise<void> {
  assert.deepEqual([...made.keys()], [...published.keys()]);
  const other = [...published].filter(([name, bytes]) => made.get(name)?.equals(bytes) !== true);
  assert.deepEqual(
    other.map(([name]) => name),
    [],
  );
}

long("the sample's tables come from its raw documents again, byte for byte", async (t) => {
  const out = await temporaryFolder(t);
  const service = await createService({
    data: packagePath("data/sample"),
    now: () => Date.UTC(2026, 10, 20, 2),
  });
  t.after(() => service.close());
  const [token] = service.contentSet.tokens.keys();
  await runPipeline({
    pipeline: "nightly",
    url: service.url,
    warehouse: out,
    env: { CONTENT_API_TOKEN: token },
  });
  const directory = join(out, "current");
  const published = await dataFilesIn(directory);
  assert.ok(published.size > 35, `${published.size} files`);
  await assertSame(published, await rebuilt(t, directory));
});

const COLOR = `{"id":"f1","name":"color","field_type":"select","limit":12345678901234567890,
  "formatted_select_values":[{"id":"v1","display":"Red"}],
  "mappings":[{"id":"m1","external_site_id":"d1","field_name":"colour",
    "values":[{"id":"e1","value_id":"v1","value":"rouge"}]}]}`;

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

/** Two nights: before the second an item is removed and one is hidden, in it one is edited and one vanishes. */
async function twoNights(t: TestContext) {
  const service = await Scripted.start(t, itemsOf(30));
  service.arrange = withColor;
  const lookups = {
    destinations: `[{"id":"d1","identification":"Shop","platform":"External","contact_email":"a@b.example"}]`,
    custom_fields: `[${COLOR}]`,
  };
  service.script = ({ kind }) =>
    kind === "destinations" || kind === "custom_fields" ? { body: lookups[kind] } : undefined;
  const out = await temporaryFolder(t);
  const config = {
    perPage: 5,
    details: "all",
    destinations: [{ name: "Shop", platform: "External" }],
    personalData: { policy: "drop", key: null },
  } as const;
  const run = () => exportFrom({ url: service.url, out, pipelineUrl: NIGHTLY, config });
  const { directory } = await run();
  service.items = itemsOf(30).filter(({ id }) => id !== "c-004");
  service.arrange = (items, question) =>
    withColor(
      items.filter((each) => (each as Item).id !== "c-029"),
      question,
    );
  const answer = service.script;
  let changed = false;
  service.script = (question) => {
    if (!changed && question.kind === "list" && question.mode === "full") {
      changed = true;
      const edited = item("c-005", 5, { title: "Edited", updated_at: "2026-11-02T10:00:00Z" });
      service.items = service.items
        .filter((each) => (each as Item).id !== "c-007")
        .map((each) => ((each as Item).id === "c-005" ? edited : each));
    }
    return answer(question);
  };
  return { directory, second: await run() };
}

long(
  "a night with an edited, a vanished, a removed and an unlisted item comes from its raw documents again",
  async (t) => {
    const { directory: first, second } = await twoNights(t);
    const { directory, accounting } = second;
    assert.deepEqual([second.verdict, accounting.vanished], ["complete", 1]);
    const text = await readFile(join(directory, "raw/extract.json"), "utf8");
    const { bytesPerItem, extractedAt, ...decided } = JSON.parse(text);
    assert.deepEqual(Object.keys(JSON.parse(text)).slice(0, 3), [
      "bytesPerItem",
      "disagreements",
      "extractedAt",
    ]);
    assert.deepEqual([Object.keys(bytesPerItem), bytesPerItem[1].length], [["1", "2"], 6]);
    assert.match(extractedAt, /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual(decided, {
      disagreements: [],
      rejected: [],
      rejectedWithoutId: false,
      removed: ["c-004"],
      vanished: ["c-007"],
      verdict: "complete",
      version: 1,
    });
    const published = await dataFilesIn(directory);
    for (const [table, rows] of [
      ["content", "28"],
      ["content_mapped_values", "26"],
      ["destinations", "1"],
      ["mapped_value_history", "30"],
    ])
      assert.deepEqual(await rowsOf(directory, `SELECT count(*) FROM ${table}`), [[rows]], table);
    const readme = await readFile(packagePath("src/raw/README.md"), "utf8");
    const [, statement = ""] = /```sql\n(.*?);\n```/s.exec(readme) ?? [];
    const listed = await rowsOf(directory, statement.replaceAll("'raw/", `'${directory}/raw/`));
    const { items, index } = await readRaw(join(directory, "raw"));
    const counting = Array.from(items.sorted(), (item) =>
      items.idOf(item) === "c-007" ? [] : index.counting(item).map(() => items.idOf(item)),
    );
    assert.deepEqual(
      listed.map(([id]) => id),
      counting.flat(),
      "the statement of the page",
    );
    await assertSame(await dataFilesIn(first), await rebuilt(t, first));
    await assertSame(published, await rebuilt(t, directory, first));
  },
);
