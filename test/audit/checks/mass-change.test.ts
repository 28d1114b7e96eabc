import assert from "node:assert/strict";
import { chmod, readdir, readFile, readlink, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { compareRowCounts, findVanished } from "../../../src/audit/checks/publish-gates.ts";
import type { RunSummary } from "../../../src/observe/run-summary.ts";
import { readManifest } from "../../../src/warehouse/manifest.ts";
import { failsWith } from "../../failing.ts";
import { long } from "../../long.ts";
import { exportFrom, MAPPING, rowsOf, SMALL, temporaryFolder } from "../../run/running.ts";
import { itemsOf, type Json, Scripted } from "../../run/scripted.ts";

interface Warehouse {
  readonly service: Scripted;
  readonly out: string;
  /** One more run of what the service has then. */
  readonly run: (config?: Parameters<typeof exportFrom>[0]["config"]) => Promise<RunSummary>;
  readonly current: () => Promise<string>;
}

async function warehouse(t: TestContext, items: readonly unknown[], pipelineUrl = SMALL): Promise<Warehouse> {
  const service = await Scripted.start(t, items);
  const out = await temporaryFolder(t);
  return {
    service,
    out,
    run: (config = {}) =>
      exportFrom({ url: service.url, out, pipelineUrl, config: { perPage: 100, ...config } }),
    current: () => readlink(join(out, "current")),
  };
}

const CHECKS = "SELECT check_name, verdict, figure, expected, detail FROM run_checks";
const COMPARED = `${CHECKS} WHERE check_name LIKE '%the run before' ORDER BY check_name`;
const BASELINE = `${CHECKS} WHERE check_name = 'earlier runs that this one was compared with'`;

test("D20: far fewer items than in the run before are not published, and the sentence says what to do", async (t) => {
  const { service, out, run, current } = await warehouse(t, itemsOf(100));
  const first = await run();
  service.items = itemsOf(60);
  const error = await failsWith("guard.shrink", run());
  assert.equal(error.exitCode, 24);
  assert.equal(
    error.message,
    `There are far fewer rows than in run ${first.run}: items from 100 to 60; nothing was published. ` +
      "If that is right, run again with --accept-shrink; `maxShrinkPercent` and `minShrink` set the limits.",
  );
  assert.equal(await current(), `runs/${first.run}`);
  assert.deepEqual(await readdir(join(out, "runs")), [first.run]);
  assert.equal((await readdir(join(out, ".staging"))).length, 1, "what explicit approval goes on from");
  await failsWith("guard.shrink", run({ maxShrinkPercent: 30 }));
  assert.equal((await run({ maxShrinkPercent: 40 })).changes?.removed, 40);
});

test("D20: the settings say how many fewer are far fewer, and that there are none is too few anyway", () => {
  const shrunk = (before: number, now: number, maxShrinkPercent: number, minShrink: number) =>
    compareRowCounts({ content: before }, { content: now }, { maxShrinkPercent, minShrink })[0]?.shrunk;
  const cases = [
    [1000, 900, 10, 20, false],
    [1000, 899, 10, 20, true],
    [100, 80, 10, 20, false],
    [1000, 499, 50, 0, true],
    [1000, 999, 0, 0, true],
    [1000, 1, 100, 0, false],
    [2, 0, 100, 20, true],
  ] as const;
  for (const [before, now, percent, least, expected] of cases)
    assert.equal(shrunk(before, now, percent, least), expected, `${before} ${now} ${percent} ${least}`);
});

long(
  "D20: with explicit approval they are published, run_checks says so, and the next run needs no word",
  async (t) => {
    const { service, run, current } = await warehouse(t, itemsOf(100));
    const first = await run();
    assert.deepEqual(await rowsOf(first.directory, BASELINE), [
      ["earlier runs that this one was compared with", "passed", "0", null, "none was published yet"],
    ]);
    assert.deepEqual(await rowsOf(first.directory, COMPARED), []);
    service.items = itemsOf(60);
    const accepted = await run({ acceptShrink: true });
    assert.equal(await current(), `runs/${accepted.run}`);
    assert.deepEqual(await rowsOf(accepted.directory, COMPARED), [
      [
        "items, compared with the run before",
        "warning",
        "60",
        "100",
        "far fewer, accepted with --accept-shrink",
      ],
    ]);
    assert.deepEqual(await rowsOf(accepted.directory, BASELINE), [
      ["earlier runs that this one was compared with", "passed", "1", null, first.run],
    ]);
    const next = await run();
    assert.deepEqual(await rowsOf(next.directory, COMPARED), [
      ["items, compared with the run before", "passed", "60", "60", "not far fewer"],
    ]);
  },
);

long("D21: no items where the run before had some are not published, however few those were", async (t) => {
  const { service, run, current } = await warehouse(t, itemsOf(3));
  const first = await run();
  service.items = [];
  const error = await failsWith("guard.shrink", run());
  assert.match(error.message, /items from 3 to 0/);
  assert.equal(await current(), `runs/${first.run}`);
  const { items: accounting } = await run({ acceptShrink: true });
  assert.equal(accounting.loaded, 0);
  await run();
});

const VALUES = Array.from({ length: 40 }, (_, index) => ({
  id: `value-${index}`,
  display: `Value ${index}`,
  value: `V${index}`,
  archived: false,
}));

/** A custom field whose first `mapped` values are mapped for a destination. */
function definition(mapped: number): Json {
  const values = VALUES.slice(0, mapped).map(({ id }) => ({ id: `m-${id}`, value_id: id, value: `x-${id}` }));
  const mappings = [{ id: "mapping-1", field_name: "market", external_site_id: "d-1", values }];
  return { id: "f-1", field_type: "select", name: "region", formatted_select_values: VALUES, mappings };
}

long(
  "D20: far fewer mapped values, or mapping values, than in the run before are not published either",
  async (t) => {
    const withField = (value: (index: number) => string | null) =>
      itemsOf(40).map((item, index) => ({ ...item, custom_fields: { "f-1": value(index) } }));
    const { service, run } = await warehouse(
      t,
      withField((index) => `value-${index}`),
      MAPPING,
    );
    // The full view has a list of fields here, which is of no use for mapping.
    service.arrange = (items, { mode }) =>
      mode === "full" ? items.map((item) => ({ ...(item as Json), custom_fields: [] })) : items;
    let mapped = 40;
    service.script = ({ kind }) => (kind === "custom_fields" ? { body: [definition(mapped)] } : undefined);
    const named = () => run({ customFields: ["region"] });
    await named();
    mapped = 19;
    assert.match((await failsWith("guard.shrink", named())).message, /: mapping values from 40 to 19;/);
    mapped = 40;
    service.items = withField((index) => (index < 10 ? `value-${index}` : null));
    assert.match(
      (await failsWith("guard.shrink", named())).message,
      /: rows of mapped values from 40 to 10;/,
    );
  },
);

const DAMAGES: Readonly<Record<string, (text: string) => string>> = {
  "cut off": (text) => text.slice(0, -20),
  empty: () => "",
  zeroed: (text) => "\0".repeat(text.length),
  "not JSON": () => "manifest",
  "of another form": () => "{}",
  "of another run": (text) => text.replace('"run": "000001-', '"run": "000009-'),
};

/** Overwrites the manifest of the current run. */
async function writeManifest(out: string, change: (text: string) => string): Promise<void> {
  const file = join(out, "current/manifest.json");
  await chmod(file, 0o644);
  await writeFile(file, change(await readFile(file, "utf8")));
}

long(
  "G1: a published manifest that is damaged is no baseline, and a run needs explicit approval",
  async (t) => {
    const { service, out, run } = await warehouse(t, itemsOf(5));
    const { directory } = await run();
    const whole = await readFile(join(directory, "manifest.json"), "utf8");
    service.questions.length = 0;
    for (const [damage, change] of Object.entries(DAMAGES)) {
      await writeManifest(out, () => change(whole));
      const error = await failsWith("guard.shrink", run());
      assert.match(error.message, /^The published run 000001-\S+ is damaged, .*--accept-shrink\.$/, damage);
    }
    assert.deepEqual(service.questions, []);
    const accepted = await run({ acceptShrink: true });
    const [check] = await rowsOf(accepted.directory, BASELINE);
    assert.deepEqual(check?.slice(1, 4), ["warning", "0", null]);
    assert.match(String(check?.[4]), /is damaged, and --accept-shrink was given: Its manifest is that of/);
    await chmod(accepted.directory, 0o755);
    await rename(accepted.directory, join(out, "elsewhere"));
    await failsWith("guard.shrink", run());
    assert.equal((await run({ acceptShrink: true })).sequence, 3);
  },
);

test("G2: a run of a newer program is not built upon, and costs no request", async (t) => {
  const { service, out, run } = await warehouse(t, itemsOf(5));
  await run();
  await writeManifest(out, (text) => text.replace('"manifestVersion": 1', '"manifestVersion": 2'));
  service.questions.length = 0;
  for (const acceptShrink of [false, true]) {
    const error = await failsWith("config.newer_version", run({ acceptShrink }));
    assert.equal(error.exitCode, 2);
    assert.match(error.message, /was written by a newer version of content-warehouse/);
  }
  assert.deepEqual(service.questions, []);
});

test("G3: a warehouse of another service is left alone, both are named, and no request is made", async (t) => {
  const { service, out, run } = await warehouse(t, itemsOf(5));
  const { directory } = await run();
  const other = await Scripted.start(t, itemsOf(5));
  const error = await failsWith(
    "config.other_instance",
    exportFrom({ url: other.url, out, config: { acceptShrink: true } }),
  );
  assert.equal(error.exitCode, 2);
  assert.ok(error.message.includes(`the content of ${service.url}, and this run reads ${other.url};`));
  assert.deepEqual(other.questions, []);
  assert.equal((await readManifest(directory)).instance.origin, service.url);
});

long("G3: so it is where the same address answers with the content of another instance", async (t) => {
  const of = (instance: string) => itemsOf(5).map((item) => ({ ...item, newsroom_id: instance }));
  const { service, run, current } = await warehouse(t, of("one"));
  const first = await run();
  service.items = of("two");
  const error = await failsWith("config.other_instance", run());
  assert.match(error.message, /\(instance one\), and this run reads .* \(instance two\);/);
  assert.equal(await current(), `runs/${first.run}`);
});

test("what all items have lost is told, and not what a history that begins anew has not yet", () => {
  const rows = { content: 3, content_tags: 2, run_history: 2, mapping_history: 5 };
  const columns = ["content.slug", "content.title", "run_history.previous_run"];
  const before = { rows, emptyColumns: ["content.slug"], columns };
  const now = {
    rows: { ...rows, content_tags: 0, run_history: 1, mapping_history: 0 },
    emptyColumns: ["content.mood", ...columns],
  };
  assert.deepEqual(findVanished(before, now), ["content_tags", "content.title"]);
  const withoutTitle = { ...before, columns: ["content.slug"] };
  assert.deepEqual(findVanished(withoutTitle, now), ["content_tags"], "it did not have the column");
});
