/** Runs that are built again from their raw documents, in place of the old ones. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, cp, mkdir, readdir, readFile, readlink, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isNew } from "../../src/audit/questions/drift.ts";
import { deliverCommand } from "../../src/cli/commands/deliver.ts";
import { diffCommand } from "../../src/cli/commands/diff.ts";
import { explainCommand } from "../../src/cli/commands/explain.ts";
import { lakeCommand } from "../../src/cli/commands/lake.ts";
import { replayCommand } from "../../src/cli/commands/replay.ts";
import { reportCommand } from "../../src/cli/commands/report.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { verifyCommand } from "../../src/cli/commands/verify.ts";
import { Secret } from "../../src/common/secret.ts";
import { removeTree } from "../../src/common/tree.ts";
import { type Config, configuredWishes } from "../../src/config/config.ts";
import { isAboutTheRun, TABLES } from "../../src/tables/all.ts";
import { differingTables } from "../../src/warehouse/differing-tables.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { acquireLock } from "../../src/warehouse/lock.ts";
import { readManifestFile } from "../../src/warehouse/manifest.ts";
import { sourceOf } from "../../src/warehouse/published-tables.ts";
import { listRuns, prune, rollback } from "../../src/warehouse/retention.ts";
import { verifyRuns } from "../../src/warehouse/verify-run.ts";
import { capture, outcome } from "../cli/capture.ts";
import { either, long } from "../long.ts";
import { assertNowhereIn, exportFrom, HISTORY, rowsOf, SMALL, temporaryFolder, treeOf } from "./running.ts";
import { type Item, itemsOf, type Question, Scripted } from "./scripted.ts";

const TITLES = fileURLToPath(new URL("./titles-pipeline.ts", import.meta.url));
const BASE = new URL("./history-pipeline.ts", import.meta.url).href;
/** All that the two pipelines ask for: one with a function of its own asks for all that is configured. */
const COLUMNS = ["title", "custom_fields", "custom_field_value_ids"];
const SHOP = { name: "Shop", platform: "External" };

/** A service whose items have a mapped value, with its warehouse. */
async function warehouse(t: TestContext) {
  const service = await Scripted.start(t, itemsOf(12));
  const world = { external: "rouge" };
  service.arrange = (items, { mode }) =>
    items.map((each) => {
      const color = {
        id: "f1",
        name: "color",
        field_type: "select",
        value: "Red",
        select_value_ids: { v1: "Red" },
      };
      const views = {
        dynamic: { custom_fields: { f1: "Red" }, custom_field_value_ids: { f1: "v1" } },
        full: { custom_fields: [color] },
        basic: {},
      };
      return { ...(each as Item), ...views[mode] };
    });
  service.script = ({ kind }: Question) => {
    if (kind === "destinations")
      return { body: [{ id: "d1", identification: "Shop", platform: "External" }] };
    if (kind !== "custom_fields") return undefined;
    const values = [{ id: "e1", value_id: "v1", value: world.external }];
    const mapping = { id: "m1", external_site_id: "d1", field_name: "colour", values };
    const select = { formatted_select_values: [{ id: "v1", display: "Red" }] };
    return { body: [{ id: "f1", name: "color", field_type: "select", ...select, mappings: [mapping] }] };
  };
  const out = await temporaryFolder(t);
  const run = async (config: Partial<Config> = {}, pipelineUrl = BASE) => {
    service.questions.length = 0;
    const whole = { details: "all", perPage: 20, destinations: [SHOP], ...config } as const;
    return await exportFrom({ url: service.url, out, pipelineUrl, config: whole });
  };
  const edit = (id: string, title: string) => {
    service.items = service.items.map((each) =>
      (each as Item).id === id ? { ...(each as Item), title } : each,
    );
  };
  const replay = (...args: string[]) => outcome(replayCommand, [...args, "--warehouse", out]);
  return { service, world, out, folder: outputFolder(out), run, edit, replay };
}

type Warehouse = Awaited<ReturnType<typeof warehouse>>;

/** In the second night one item is edited, and all have another external value. */
async function twoNights(place: Warehouse, config: Partial<Config> = {}) {
  const first = await place.run(config);
  place.edit("c-003", "Edited");
  place.world.external = "red";
  const second = await place.run(config);
  assert.deepEqual(
    place.service.asked("item").map(({ id }) => id),
    ["c-003"],
  );
  return [first.run, second.run] as const;
}

/** Data tables that differ, the histories apart: they name runs. */
async function differing(old: string, now: string): Promise<string[]> {
  const runs = await Promise.all(
    [old, now].map(async (directory) => ({ directory, ...(await readManifestFile(directory)) })),
  );
  const tables = Object.keys(runs[0]?.manifest.rows ?? {}).filter(
    (name) => !isAboutTheRun(name) && !name.endsWith("_history"),
  );
  assert.ok(tables.length > 10);
  const [published, rebuilt] = runs.map((run) => ({ tables, source: sourceOf(run, { isQuestioned: true }) }));
  assert.ok(published !== undefined && rebuilt !== undefined);
  const found = await differingTables({ published, rebuilt, declared: TABLES, temporaryDirectory: tmpdir() });
  return found.map(({ table }) => table);
}

const DOCUMENTS = "SELECT content_id, shape, observation, request, observed_at, sha256";
const INTERVALS = `SELECT content_id, external_value, a.sequence, b.sequence FROM mapped_value_history
  JOIN run_history a ON a.run = valid_from_run LEFT JOIN run_history b ON b.run = valid_to_run ORDER BY ALL`;

test("two nights are built again with a table that was written today, and the third goes on from them", async (t) => {
  const place = await warehouse(t);
  const { folder, out, service } = place;
  const config = join(await temporaryFolder(t), "config.json");
  await writeFile(config, JSON.stringify({ columns: COLUMNS }));
  const old = await twoNights(place, { columns: COLUMNS });
  const kept = join(await temporaryFolder(t), "old");
  await cp(folder.runs, kept, { recursive: true });
  service.questions.length = 0;
  const { text, error } = await place.replay("1", "--pipeline", TITLES, "--config", config);
  assert.equal(error, undefined);
  assert.deepEqual(service.questions, []);
  const names = old.map((run, index) => `00000${index + 3}${run.slice(6)}`);
  assert.deepEqual((await readdir(folder.runs)).toSorted(), names);
  assert.match(
    text,
    new RegExp(`^2 runs built again by version \\S+, in place of the old; current is now ${names[1]}\\.`),
  );
  assert.match(text, /"content-warehouse deliver --\S.*" gives it the current one\.\n$/);

  const [first = "", second = ""] = names.map((name) => join(folder.runs, name));
  for (const [index, now] of [first, second].entries()) {
    const before = join(kept, old[index] ?? "");
    assert.deepEqual(await differing(before, now), []);
    const one = (await readManifestFile(before)).manifest;
    const other = (await readManifestFile(now)).manifest;
    const times = ({ startedAt, endedAt, changes }: typeof one) => [startedAt, endedAt, changes];
    assert.deepEqual(times(other), times(one));
    assert.deepEqual([other.replayOf, other.supersedes], [old[index], old[index]]);
    assert.deepEqual(await rowsOf(now, "SELECT run, replay_of FROM run"), [[names[index], old[index]]]);
    assert.deepEqual(await rowsOf(now, "SELECT count(*) FROM content_titles"), [["12"]]);
    const documents = `${DOCUMENTS} FROM run_documents ORDER BY ALL`;
    assert.deepEqual(await rowsOf(now, documents), await rowsOf(before, documents));
  }
  assert.deepEqual(await rowsOf(first, "SELECT title FROM content_titles WHERE content_id = 'c-003'"), [
    ["TITLE OF C-003"],
  ]);
  assert.deepEqual(await rowsOf(second, "SELECT title FROM content_titles WHERE content_id = 'c-003'"), [
    ["EDITED"],
  ]);
  const readBy = "SELECT read_by_run, count(*) FROM run_documents WHERE read_by_run IS NOT NULL GROUP BY ALL";
  assert.deepEqual(await rowsOf(second, readBy), [[names[0], "11"]]);
  assert.equal(
    (await readManifestFile(second)).manifest.previousSha256,
    (await readManifestFile(first)).sha256,
  );
  const since = await rowsOf(second, INTERVALS);
  assert.deepEqual([since.length, since[0]?.slice(1)], [24, ["red", 4, null]]);

  const shown = JSON.parse(await capture(runsCommand, ["show", "4", "--format", "json", "--warehouse", out]));
  assert.deepEqual([shown.replayOf, shown.previousRun], [old[1], names[0]]);
  assert.match(
    await capture(runsCommand, ["show", "4", "--warehouse", out]),
    new RegExp(`Replay of +${old[1]}`),
  );
  assert.match(
    await capture(runsCommand, ["list", "--warehouse", out]),
    new RegExp(`replay of [^]*${old[1]}`),
  );
  for (const run of either([], ["3", "4"])) {
    const verified = await outcome(replayCommand, ["--verify", run, "--warehouse", out]);
    assert.equal(verified.error, undefined, verified.text);
    const page = join(kept, `${run}.html`);
    await capture(reportCommand, [run, "--warehouse", out, "--out", page]);
    const published = join(folder.runs, names[Number(run) - 3] ?? "", "report.html");
    assert.equal(await readFile(page, "utf8"), await readFile(published, "utf8"));
  }
  assert.match(
    await capture(verifyCommand, ["--all", "--warehouse", out]),
    /^Whole: run 000004-\S+ .*\nWhole: run 000003-/,
  );
  const steps = await capture(explainCommand, ["c-001", "--steps", "--warehouse", out]);
  assert.ok(steps.includes(names[0] ?? "-") && !steps.includes(old[0]), steps);
  const diff = await capture(diffCommand, ["--warehouse", out]);
  assert.match(diff, /mapping/);

  place.edit("c-004", "Edited later");
  const third = await place.run({ columns: COLUMNS }, pathToFileURL(TITLES).href);
  assert.deepEqual(
    service.asked("item").map(({ id }) => id),
    ["c-004"],
  );
  assert.deepEqual(
    [third.run.slice(0, 6), third.previousRun, third.changes],
    ["000005", names[1], { new: 0, changed: 0, removed: 0 }],
  );
  assert.deepEqual(await rowsOf(third.directory, INTERVALS), since);
  assert.deepEqual(
    (await listRuns(folder)).map(({ sequence, current }) => [sequence, current]),
    [
      [5, true],
      [4, false],
      [3, false],
    ],
  );
});

/** Makes a run say that another version of the program made it. */
async function byOtherVersion(directory: string): Promise<void> {
  const file = join(directory, "manifest.json");
  const manifest = JSON.parse(await readFile(file, "utf8"));
  await replaceFile(
    file,
    JSON.stringify({ ...manifest, versions: { ...manifest.versions, package: "0.0.1" } }),
  );
}

async function replaceFile(file: string, content: string | Buffer): Promise<void> {
  await chmod(file, 0o600);
  await writeFile(file, content);
}

/** Makes the facts of a run say something else, and its manifest the same of them. */
async function withFacts(directory: string, change: (facts: string) => string): Promise<void> {
  const path = "raw/extract.json";
  const text = change(await readFile(join(directory, path), "utf8"));
  await replaceFile(join(directory, path), text);
  const file = join(directory, "manifest.json");
  const manifest = JSON.parse(await readFile(file, "utf8"));
  const sha256 = createHash("sha256").update(text).digest("hex");
  const files = manifest.files.map((each: { path: string }) =>
    each.path === path ? { ...each, bytes: Buffer.byteLength(text), sha256 } : each,
  );
  await replaceFile(file, JSON.stringify({ ...manifest, files }));
}

long("what cannot be built again is refused in one sentence, and nothing changes", async (t) => {
  const place = await warehouse(t);
  const { folder, out } = place;
  const { run, directory } = await place.run({}, SMALL);
  const withoutRaw = await place.run({ raw: false }, SMALL);
  const before = await treeOf(out);
  const refused = async (code: number, message: RegExp, ...args: string[]) => {
    const { text, error } = await place.replay(...args);
    assert.deepEqual([text, error?.exitCode], ["", code], error?.message);
    assert.match(error?.message ?? "", message);
    assert.doesNotMatch(error?.message ?? "", /\n/);
    assert.deepEqual(await treeOf(out), before);
  };
  await refused(2, /^There is no run "7" in /, "7");
  await refused(2, /^Run 000002-\S+ has no raw documents; name a run/, "2");
  // The run before and the second, which has none and goes on from it.
  await refused(2, /^Run 000002-\S+ has no raw documents; name a run/, "1");
  await rollback(folder, "1");
  await removeTree(withoutRaw.directory);
  before.splice(0, before.length, ...(await treeOf(out)));
  await refused(
    2,
    /^The pipeline "titles" needs what run 000001-\S+ did not ask for: the columns \S+, .* and \d+ more; replay it /,
    "1",
    "--pipeline",
    TITLES,
  );
  const config = join(await temporaryFolder(t), "config.json");
  await writeFile(config, JSON.stringify({ personalData: "keep" }));
  await refused(
    2,
    /were kept with `personalData: "drop"`, and the configuration says "keep"/,
    "1",
    "--config",
    config,
  );
  await writeFile(
    config,
    JSON.stringify({ details: "all", destinations: [SHOP, { name: "Mall", platform: "External" }] }),
  );
  const asked = new URL("./history-pipeline.ts", import.meta.url).pathname;
  await refused(2, /; the destination Mall; replay it/, "1", "--pipeline", asked, "--config", config);
  const unknown = await outcome(replayCommand, ["--reread", "--warehouse", out]).catch((thrown) => thrown);
  assert.match(String(unknown), /unknown option '--reread'/);

  const left = join(folder.staging, "000009-20261120T020000Z");
  await mkdir(left, { recursive: true });
  before.splice(0, before.length, ...(await treeOf(out)));
  await refused(2, /^What the interrupted run 000009-\S+ has read will be gone; .* give --yes\.$/, "1");
  await refused(2, /^There is no run "7"/, "7", "--yes");
  const [full = ""] = await readdir(join(directory, "raw/full"));
  const file = join(directory, "raw/full", full);
  const bytes = await readFile(file);
  const damaged = Buffer.from(bytes);
  damaged[1000] = (damaged[1000] ?? 0) ^ 1;
  await replaceFile(file, damaged);
  await refused(
    31,
    new RegExp(`^The raw documents of run ${run} are damaged: its file raw/full/${full} `),
    "1",
    "--yes",
  );
  await replaceFile(file, bytes);
  const lock = await acquireLock(folder);
  await refused(75, /another run/i, "1", "--yes");
  await lock[Symbol.asyncDispose]();
  const { error } = await place.replay("1", "--yes");
  assert.equal(error, undefined);
  assert.deepEqual(await readdir(folder.staging), []);
});

long(
  "a shrink that was accepted that night is taken as accepted, and history is carried on though the run before is gone",
  async (t) => {
    const place = await warehouse(t);
    const { folder, service } = place;
    const first = await place.run();
    service.items = service.items.slice(0, 8);
    place.world.external = "red";
    const second = await place.run({ acceptShrink: true, maxShrinkPercent: 0, minShrink: 1 });
    const history =
      "SELECT content_id, external_value, valid_from, valid_to, valid_to_cause::VARCHAR FROM mapped_value_history ORDER BY ALL";
    const before = await rowsOf(second.directory, history);
    await prune(folder, 1);
    const { error } = await place.replay("--warehouse", folder.root);
    assert.equal(error, undefined);
    const [now] = await listRuns(folder);
    assert.deepEqual([now?.run, now?.current], [`000003${second.run.slice(6)}`, true]);
    assert.deepEqual(await rowsOf(now?.directory ?? "", history), before);
    const runs = "SELECT run, previous_run FROM run_history ORDER BY sequence";
    assert.deepEqual(await rowsOf(now?.directory ?? "", runs), [
      [first.run, null],
      [now?.run, first.run],
    ]);
  },
);

long("a night whose files are gone keeps its place between those that are built again", async (t) => {
  const place = await warehouse(t);
  const { folder } = place;
  const first = await place.run();
  place.world.external = "red";
  const second = await place.run();
  place.world.external = "vermeil";
  const third = await place.run();
  await rollback(folder, "1");
  assert.deepEqual(
    (await prune(folder, 1)).map(({ run }) => run),
    [second.run],
  );
  const before = await rowsOf(third.directory, INTERVALS);
  assert.equal((await place.replay("1")).error, undefined);
  const [one, two, three] = [first, second, third].map(({ run }, at) => `00000${at + 4}${run.slice(6)}`);
  assert.deepEqual((await readdir(folder.runs)).toSorted(), [one, three]);
  assert.equal(await readlink(folder.current), `runs/${one}`);
  const now = join(folder.runs, three ?? "");
  assert.equal((await readManifestFile(now)).manifest.previousRun, two);
  assert.deepEqual(await rowsOf(now, "SELECT run, previous_run FROM run_history ORDER BY sequence"), [
    [one, null],
    [two, one],
    [three, two],
  ]);
  const later = (cells: readonly unknown[]) =>
    cells.map((cell) => (typeof cell === "number" ? cell + 3 : cell));
  assert.deepEqual(await rowsOf(now, INTERVALS), before.map(later));
});

long("runs that go on from it are replaced, and those beside it are not", async (t) => {
  const place = await warehouse(t);
  const { folder } = place;
  await place.run();
  await place.run();
  await rollback(folder, "1");
  place.edit("c-001", "Beside");
  const beside = await place.run();
  const facts = await readFile(join(beside.directory, "raw/extract.json"), "utf8");
  const elsewhere = "https://elsewhere.example";
  await withFacts(beside.directory, (text) => text.replace(/"origin":"[^"]*"/, `"origin":"${elsewhere}"`));
  const other = await place.replay("3");
  assert.equal(other.error?.code, "config.other_instance");
  assert.match(
    other.error?.message ?? "",
    /has the content of http:\/\/127\S+, and this run reads https:\/\/elsewhere/,
  );
  await withFacts(beside.directory, () => facts);
  const { error } = await place.replay("2");
  assert.equal(error, undefined);
  assert.deepEqual(
    (await listRuns(folder)).map(({ sequence, current }) => [sequence, current]),
    [
      [4, false],
      [3, true],
      [1, false],
    ],
  );
});

/** A service whose items show a person, also in a field that the specification does not know. */
function withPerson(t: TestContext): Promise<Scripted> {
  const shown = {
    contact_email: "CANARYANNA@example.com",
    author_details: { id: "u1", name: "CANARYANNA" },
    content_type_details: { id: "t1", owner_email: "CANARYANNA@example.com" },
  };
  return Scripted.start(
    t,
    itemsOf(3).map((each) => ({ ...each, colour: "red", ...shown })),
  );
}

const UNKNOWN = "SELECT path, kind, count FROM run_drift WHERE kind = 'unknown_field' ORDER BY ALL";
const DROPPED = "SELECT path, kind FROM run_drift WHERE kind = 'personal_dropped' ORDER BY ALL";

for (const policy of either(["drop"], ["drop", "hash"]))
  long(
    `another version drops what it alone knows as personal under "${policy}", and counts unknown fields anew`,
    async (t) => {
      const service = await withPerson(t);
      const out = await temporaryFolder(t);
      const config = { details: "all", personalData: { policy: "keep", key: null } } as const;
      const { directory } = await exportFrom({ url: service.url, out, pipelineUrl: HISTORY, config });
      const before = await rowsOf(directory, UNKNOWN);
      assert.ok(before.length > 0);
      await byOtherVersion(directory);
      const replay = () => outcome(replayCommand, ["--warehouse", out]);
      assert.equal((await replay()).error, undefined);
      const current = join(out, "current");
      assert.deepEqual(await rowsOf(current, UNKNOWN), before);

      const real = await realpath(current);
      await byOtherVersion(real);
      const otherwise = (text: string) => text.replace(/"policy":\s*"keep"/, `"policy":"${policy}"`);
      await withFacts(real, otherwise);
      const file = join(real, "manifest.json");
      await replaceFile(file, otherwise(await readFile(file, "utf8")));
      const { text, error } = await replay();
      assert.equal(error, undefined);
      assert.match(
        text,
        /values that the program did not know as personal that night were dropped, of contact_email, name, owner_email/,
      );
      await assertNowhereIn(join(out, "runs"), ["CANARYANNA"]);
      assert.deepEqual(await rowsOf(current, UNKNOWN), before);
      const fingerprints = `SELECT DISTINCT fingerprint FROM '${current}/raw/item/*.parquet'`;
      assert.deepEqual(await rowsOf(current, fingerprints), [[""]]);
      assert.deepEqual(await rowsOf(current, DROPPED), [
        ["contact_email", "personal_dropped"],
        ["name", "personal_dropped"],
        ["owner_email", "personal_dropped"],
      ]);
      await byOtherVersion(await realpath(current));
      assert.equal((await replay()).error, undefined);
      assert.deepEqual(await rowsOf(current, UNKNOWN), before);
    },
  );

const DRIFT = "SELECT path, kind, count FROM run_drift ORDER BY ALL";

const TREATMENTS: readonly Config["personalData"][] = [
  { policy: "drop", key: null },
  { policy: "hash", key: new Secret("0123456789abcdef0123456789abcdef") },
];

for (const personalData of TREATMENTS)
  long(
    `what another version did under "${personalData.policy}" stays as it is, as does what it found`,
    async (t) => {
      const service = await withPerson(t);
      const out = await temporaryFolder(t);
      const config = { details: "all", personalData } as const;
      const night = () => exportFrom({ url: service.url, out, pipelineUrl: HISTORY, config });
      const { directory } = await night();
      const people = "SELECT user_id, name FROM users";
      const [before, drift] = [await rowsOf(directory, people), await rowsOf(directory, DRIFT)];
      if (personalData.policy === "hash") assert.match(String(before[0]?.[1]), /^[0-9a-f]{64}$/);
      await byOtherVersion(directory);
      const { text, error } = await outcome(replayCommand, ["--warehouse", out]);
      assert.equal(error, undefined);
      assert.doesNotMatch(text, /dropped/);
      assert.deepEqual(await rowsOf(join(out, "current"), people), before);
      assert.deepEqual(await rowsOf(join(out, "current"), DRIFT), drift);
      const { drift: next } = await night();
      assert.deepEqual(next?.newFields.filter(isNew), []);
    },
  );

long("a lake takes the run that took the place of the one that it has, and the night after it", async (t) => {
  const place = await warehouse(t);
  const store = await temporaryFolder(t);
  const instance = { type: "lake", url: pathToFileURL(store).href, instance: "main" } as const;
  const config = join(await temporaryFolder(t), "config.json");
  await writeFile(config, JSON.stringify({ targets: [instance] }));
  const { targets } = await configuredWishes({ cwd: place.out, env: {}, flags: { config } });
  await place.run({ targets });
  place.world.external = "red";
  await place.run({ targets });
  const { text } = await place.replay("1", "--config", config);
  assert.match(
    text,
    /lake still has the old run: "content-warehouse deliver --\S.*" gives the current one\.\n$/,
  );
  const at = ["--config", config, "--warehouse", place.out];
  assert.match(await capture(deliverCommand, at), /^lake: delivered 000004-/);
  const verified = async () =>
    assert.match(await capture(lakeCommand, ["verify", "--config", config]), /^Whole: /m);
  await verified();
  const third = await place.run({ targets });
  assert.deepEqual(
    third.deliveries.map(({ state }) => state),
    ["delivered"],
  );
  await verified();
});

const KILLS = either(["commit", "replace"], ["prove 1", "make 1", "commit", "replace", "after 2000"]);

long("a replay that is killed leaves all runs as they were, or all new", async (t) => {
  const place = await warehouse(t);
  const old = await twoNights(place);
  const pristine = await temporaryFolder(t);
  await cp(place.out, pristine, { recursive: true, verbatimSymlinks: true });
  for (const step of KILLS) {
    const out = await temporaryFolder(t);
    await cp(pristine, out, { recursive: true, verbatimSymlinks: true, force: true });
    const folder = outputFolder(out);
    const script = new URL("./killed-replay.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [script, out, "1", step], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [, signal] = await once(child, "exit");
    // A machine may have ended a replay, or have decided it, before a time that is counted in milliseconds.
    const timed = step.startsWith("after ");
    if (!timed) assert.equal(signal, "SIGKILL", step);
    const { findings } = await verifyRuns(folder, { all: true }, await temporaryFolder(t));
    assert.deepEqual(findings, [], step);
    // Whichever command comes next finishes what was decided, and forgets the rest.
    await prune(folder, 7);
    const names = (await readdir(folder.runs)).toSorted();
    const all = old.map((run, index) => `00000${index + 3}${run.slice(6)}`);
    const isNew = timed ? names[0] === all[0] : step === "replace";
    assert.deepEqual(names, isNew ? all : [...old], step);
    assert.equal(await readlink(folder.current), `runs/${names[1]}`, step);
    assert.deepEqual(await readdir(folder.staging), [], step);
  }
});
