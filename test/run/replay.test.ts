/** The current run, built again from its raw documents and published as the next. */
import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { replayCommand } from "../../src/cli/commands/replay.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";
import { packagePath } from "../../src/common/package-root.ts";
import type { Config } from "../../src/config/config.ts";
import { readRawFolder } from "../../src/raw/raw-folder.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { acquireLock } from "../../src/warehouse/lock.ts";
import { readManifestFile } from "../../src/warehouse/manifest.ts";
import { listRuns } from "../../src/warehouse/retention.ts";
import { capture, outcome, ran } from "../cli/capture.ts";
import { differingTables } from "../differing-tables.ts";
import { long } from "../long.ts";
import { colored, RED, redService, SHOP } from "./colored.ts";
import { exportFrom, MAPPING, rowsOf, temporaryFolder, treeOf } from "./running.ts";
import type { Item, Json } from "./scripted.ts";

const TITLES = fileURLToPath(new URL("./titles-pipeline.ts", import.meta.url));
const LATER = fileURLToPath(new URL("./history-pipeline.ts", import.meta.url));
const BASE = new URL("./history-pipeline.ts", import.meta.url).href;
/** All that the two pipelines ask for: one with a function of its own asks for all that is configured. */
const COLUMNS = ["title", "custom_fields", "custom_field_value_ids"];

/** A service whose items have a mapped value, with its warehouse. */
async function warehouse(t: TestContext, items = 12) {
  const { service, sent: world, answer } = await redService(t, items);
  const out = await temporaryFolder(t);
  const run = async (config: Partial<Config> = {}, pipelineUrl = BASE) => {
    service.questions.length = 0;
    const whole = { details: "all", perPage: 20, destinations: [SHOP], ...config } as const;
    return await exportFrom({ url: service.url, out, pipelineUrl, config: whole });
  };
  const edit = (id: string, changes: Json) => {
    service.items = service.items.map((each) =>
      (each as Item).id === id ? { ...(each as Item), ...changes } : each,
    );
  };
  const replay = (...args: string[]) => ran(replayCommand, [...args, "--warehouse", out]);
  return { service, answer, world, out, folder: outputFolder(out), run, edit, replay };
}

type Warehouse = Awaited<ReturnType<typeof warehouse>>;

/** In the second night one item is edited, and all have another external value. */
async function twoNights(place: Warehouse, config: Partial<Config> = {}) {
  const first = await place.run(config);
  place.edit("c-003", { title: "Edited" });
  place.world.external = "red";
  const second = await place.run(config);
  assert.deepEqual(
    place.service.asked("item").map(({ id }) => id),
    ["c-003"],
  );
  return [first.run, second.run] as const;
}

const INTERVALS = `SELECT content_id, external_value, a.sequence, b.sequence FROM mapped_value_history
  JOIN run_history a ON a.run = valid_from_run LEFT JOIN run_history b ON b.run = valid_to_run ORDER BY ALL`;

async function replaceFile(file: string, content: string | Buffer): Promise<void> {
  await chmod(file, 0o600);
  await writeFile(file, content);
}

test("the current run is built again with a table that was written today, delivered, and gone on from; what cannot be is refused in one sentence, and nothing changes", async (t) => {
  const place = await warehouse(t);
  const { folder, out, service } = place;
  const asked = { columns: COLUMNS, personalFields: ["repository_notes"] };
  const [first, second] = await twoNights(place, asked);
  const since = await rowsOf(join(out, "current"), INTERVALS);
  service.questions.length = 0;
  const config = join(await temporaryFolder(t), "config.json");
  const configured = async (settings: object) => {
    await writeFile(config, JSON.stringify({ ...asked, destinations: [SHOP], ...settings }));
    return ["--pipeline", TITLES, "--config", config];
  };
  await refusals(place, second, configured);

  const lake = pathToFileURL(join(await temporaryFolder(t), "lake")).href;
  const targets = [{ type: "lake", url: lake, instance: "one" }];
  await mkdir(join(folder.staging, "000002-20261120T020000Z"));
  const { text, err, exitCode } = await place.replay(...(await configured({ targets })));
  assert.deepEqual([exitCode, service.questions], [0, []]);
  assert.match(err, /The next run starts over and does not resume the interrupted run 000002-\S+\./);
  const runs = await listRuns(folder);
  assert.deepEqual(
    runs.map(({ sequence, current }) => [sequence, current]),
    [
      [3, true],
      [2, false],
      [1, false],
    ],
  );
  const now = runs[0]?.directory ?? "";
  const before = join(folder.runs, second);
  assert.match(text, new RegExp(`, a replay of ${second}; `));
  assert.match(text, /, delivered to lake, /);
  assert.deepEqual(await differingTables(before, now), []);
  const titles = await rowsOf(now, "SELECT title FROM content_titles WHERE content_id = 'c-003'");
  assert.deepEqual(titles, [["EDITED"]]);
  const { manifest } = await readManifestFile(now);
  const { manifest: ofSecond, sha256 } = await readManifestFile(before);
  assert.deepEqual(
    [manifest.replayOf, manifest.previousRun, manifest.previousSha256, manifest.verdict],
    [second, second, sha256, ofSecond.verdict],
  );
  assert.deepEqual(manifest.changes, { new: 0, edited: 0, removed: 0 });
  assert.ok(manifest.found.startedAt > ofSecond.endedAt);
  assert.deepEqual(await rowsOf(now, "SELECT replay_of FROM run"), [[second]]);
  assert.deepEqual(await rowsOf(now, INTERVALS), since, "nothing changed");
  assert.deepEqual(await rowsOf(now, "SELECT run, previous_run FROM run_history ORDER BY sequence"), [
    [first, null],
    [second, first],
    [manifest.run, second],
  ]);
  const documents =
    "SELECT content_id, shape, observation, observed_at, sha256 FROM run_documents ORDER BY ALL";
  assert.deepEqual(await rowsOf(now, documents), await rowsOf(before, documents));
  const raw = manifest.files.filter(({ path }) => path.startsWith("raw/") && path.endsWith(".parquet"));
  assert.ok(
    raw.length > 3 && raw.every(({ path }) => path.includes("-000003-")),
    "names have the run's number",
  );
  for (const { path } of raw)
    assert.ok((await stat(join(now, path))).nlink > 1, `${path} is one file in both`);
  assert.match(
    await capture(verifyCommand, ["--all", "--warehouse", out]),
    /^Whole: run 000003-.*\nWhole: run 000002-/,
  );
  assert.match(
    await capture(runsCommand, ["list", "--warehouse", out]),
    new RegExp(`replay of [^]*${second}`),
  );

  place.edit("c-004", { title: "Edited later" });
  const third = await place.run({ ...asked, raw: false }, pathToFileURL(TITLES).href);
  assert.deepEqual(
    service.asked("item").map(({ id }) => id),
    ["c-004"],
    "the replay's documents are reused",
  );
  assert.deepEqual([third.sequence, third.previousRun], [4, manifest.run]);
  assert.deepEqual(await rowsOf(third.directory, INTERVALS), since);

  const { error } = await outcome(replayCommand, [...(await configured({})), "--warehouse", out]);
  assert.equal(error?.exitCode, 2);
  assert.match(error?.message ?? "", new RegExp(`^Run ${third.run} has no raw documents, because`));
});

/** Replays of the run that end with a code and one sentence. */
async function refusals(
  { folder, out }: Warehouse,
  run: string,
  configured: (settings: object) => Promise<string[]>,
): Promise<void> {
  const before = await treeOf(out);
  const refused = async (code: number, message: RegExp, settings: object = {}) => {
    const args = [...(await configured(settings)), "--warehouse", out];
    const { text, error } = await outcome(replayCommand, args);
    assert.deepEqual([text, error?.exitCode], ["", code], error?.message);
    assert.match(error?.message ?? "", message);
    assert.doesNotMatch(error?.message ?? "", /\n/);
    assert.deepEqual(await treeOf(out), before);
  };
  const treated = /were kept with `personalData: "drop"`, and with other `personalData` or `personalFields`/;
  for (const settings of [
    { personalData: "keep" },
    { personalData: "hash" },
    { personalFields: [] },
    { personalFields: ["color", "repository_notes"] },
  ])
    await refused(2, treated, settings);
  const lacks =
    /^The pipeline "titles" needs data that run 000002-\S+ did not request: \S+, .* and \d+ more; replay with /;
  await refused(2, lacks, { columns: undefined });
  const destinations = [SHOP, { name: "Mall", platform: "External" }];
  await refused(2, /: Mall \(External\); replay with/, { destinations });
  const raw = join(folder.runs, run, "raw");
  const [full = ""] = await readdir(join(raw, "full"));
  const file = join(raw, "full", full);
  const bytes = await readFile(file);
  const damaged = Buffer.from(bytes);
  damaged[1000] = (damaged[1000] ?? 0) ^ 1;
  await replaceFile(file, damaged);
  await refused(31, new RegExp(`^The raw documents of run ${run} are damaged: its file raw/full/${full} `));
  await replaceFile(file, bytes);
  const lock = await acquireLock(folder);
  await refused(75, /another run/i);
  await lock[Symbol.asyncDispose]();
}

long("a night with edited, vanished, removed, unlisted and unreadable items is built again", async (t) => {
  const place = await warehouse(t, 30);
  const { service, answer } = place;
  const config = { perPage: 5 } as const;
  await place.run(config);
  const without = (...ids: readonly string[]) =>
    service.items.filter((each) => !ids.includes((each as Item).id));
  service.items = without("c-004");
  // What cannot be read singly is asked for because the listing says that it was edited.
  place.edit("c-011", { title: "Refused" });
  service.arrange = (items, question) =>
    colored(RED)(
      items.filter((each) => (each as Item).id !== "c-029"),
      question,
    );
  let isChanged = false;
  service.script = (question) => {
    if (question.kind === "item" && question.id === "c-011") return { body: { response: 5 } };
    if (!isChanged && question.kind === "list" && question.mode === "full") {
      isChanged = true;
      place.edit("c-005", { title: "Edited", updated_at: "2026-11-02T10:00:00Z" });
      service.items = without("c-007");
    }
    return answer(question);
  };
  const { verdict, directory } = await place.run(config);
  assert.equal(verdict, "complete");
  const { facts, takeIndex } = await readRawFolder(join(directory, "raw"));
  assert.deepEqual(
    [facts.items.vanished, facts.items.removed, facts.items.unlisted, facts.items.singlyRejected],
    [["c-007"], ["c-004"], ["c-029"], ["c-011"]],
  );
  // The page on raw documents says which count.
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
  const settings = join(await temporaryFolder(t), "config.json");
  await writeFile(settings, JSON.stringify({ destinations: [SHOP] }));
  assert.equal((await place.replay("--config", settings)).exitCode, 0);
  assert.deepEqual(await differingTables(directory, join(place.out, "current")), []);
  assert.deepEqual(await rowsOf(join(place.out, "current"), "SELECT count(*) FROM content"), [["28"]]);
});

test("what a replay changes in the history is dated by its start, and its exit code is that of the run", async (t) => {
  const place = await warehouse(t);
  const { service, folder } = place;
  const { arrange } = service;
  let answers = 0;
  service.arrange = (items, question) => {
    answers += 1;
    const updated_at = `2026-11-0${1 + (answers % 8)}T10:00:00Z`;
    return arrange(items, question).map((each) => ({ ...(each as Item), updated_at }));
  };
  const run = await place.run({}, MAPPING);
  assert.equal(run.verdict, "unsettled");
  const { exitCode } = await place.replay("--pipeline", LATER);
  assert.equal(exitCode, 10);
  const [now] = await listRuns(folder);
  assert.ok(now !== undefined && !(now.manifest instanceof Error));
  assert.deepEqual([now.manifest.verdict, now.manifest.reasons], ["unsettled", run.reasons]);
  const since = "SELECT DISTINCT valid_from_run, epoch_ms(valid_from)::DOUBLE FROM custom_field_history";
  assert.deepEqual(await rowsOf(now.directory, since), [[now.run, now.startedAt.getTime()]]);
});
