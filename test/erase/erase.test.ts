import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import { findReadable } from "../../src/audit/open-run.ts";
import { type Clock, systemClock } from "../../src/common/clock.ts";
import { silentLog } from "../../src/common/log.ts";
import { Secret } from "../../src/common/secret.ts";
import { removeTree } from "../../src/common/tree.ts";
import type { PersonalData } from "../../src/config/config.ts";
import { type EraseOptions, type EraseReport, eraseUser } from "../../src/erase/erase.ts";
import { personalHash } from "../../src/raw/personal/policy.ts";
import { verifyReplay } from "../../src/run/replay/verify-replay.ts";
import { lake } from "../../src/targets/lake/lake.ts";
import { vacuumLake } from "../../src/targets/lake/vacuum.ts";
import { deliveredRun } from "../../src/targets/published-run.ts";
import { keepsRuns, restoreRun } from "../../src/targets/restore.ts";
import { freeBytes } from "../../src/warehouse/disk.ts";
import { DATABASE_FILE, type OutputFolder, outputFolder, prepareOutput } from "../../src/warehouse/layout.ts";
import { acquireLock } from "../../src/warehouse/lock.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { findRun, listRuns, prune, rollback } from "../../src/warehouse/retention.ts";
import { pointCurrentAt } from "../../src/warehouse/run-folders.ts";
import { verifyRuns } from "../../src/warehouse/verify-run.ts";
import { failsWith } from "../failing.ts";
import { either, few, long } from "../long.ts";
import {
  assertNowhereIn,
  exportFrom,
  HISTORY,
  NIGHTLY,
  openPublished,
  rowsOf,
  temporaryFolder,
  textsIn,
  treeOf,
} from "../run/running.ts";
import { type Item, item, type Json, Scripted } from "../run/scripted.ts";
import { memoryTarget } from "../targets/memory-target.ts";

const ANNA = "5f1e0c2ab4d3e90017c0ffe1";
const BERT = "5f1e0c2ab4d3e90017c0ffe2";

/** A description of a user whose every detail begins with a word that stands nowhere else. */
function personOf(id: string, word: string): Json {
  return {
    id,
    email: `${word}.mail@example.com`,
    name: `${word} Name`,
    name_sort: `${word} Sort`,
    bio: `${word} Bio`,
    short_bio: `${word} Short`,
    phone: `+43-${word}-PHONE`,
    slug: `${word}-slug`,
    avatar_feed_url: `https://${word}.example/feed.png`,
    avatar_profile_url: `https://${word}.example/profile.png`,
    nickname: `${word} Nick`,
    favorite_dish: `${word} Dish`,
    tz: "Europe/Vienna",
    role: "author",
  };
}

/** Everywhere that a service can say something of a person. */
function peopleIn(service: Scripted): void {
  const anna = personOf(ANNA, "CANARYANNA");
  const { id, email, name } = anna;
  const bert = personOf(BERT, "CANARYBERT");
  const managed: Json = { ...bert, manager: { id, email, name, level: 3 } };
  const people = new Map([
    ["c-1", [anna, managed]],
    ["c-2", [managed, managed]],
  ]);
  service.arrange = (items, { mode }) =>
    items.map((each) => {
      const { id } = each as Item;
      if (typeof id !== "string") return each;
      const [who = bert, other = bert] = people.get(id) ?? [];
      const unknown = {
        reviewer: { id: who.id, contact_email: who.email, rank: 1 },
        contact_email: who.email,
        // Longer than an example of the drift, which cuts it in the middle of a detail.
        signature: `${"x".repeat(170)}${who.email}, ${who.name}`,
      };
      const full = {
        owner_details: who,
        owner: who.id,
        last_updated_by: who,
        last_updated_by_details: other,
      };
      const editing = [
        {
          id: who.id,
          name: who.name,
          avatar_url: who.avatar_feed_url,
          last_seen: 1,
          mood: `${who.name} Mood`,
        },
        { id: other.id, name: other.name, avatar_url: null, last_seen: 2 },
      ];
      const dynamic = {
        author: who.id,
        author_details: who,
        creator_details: other,
        currently_editing: editing,
      };
      return { ...(each as Item), ...unknown, ...(mode === "full" ? full : dynamic) };
    });
  // Answers for one item say what listings say.
  service.script = (question) => {
    const found = service.items.find((each) => (each as Item).id === question.id);
    if (question.kind !== "item" || found === undefined) return undefined;
    return { body: { response: service.arrange([found], question)[0] } };
  };
}

const ITEMS = [
  item("c-1", 0),
  item("c-2", 1),
  {
    title: "No ID",
    author_details: personOf(ANNA, "CANARYANNA"),
    contact_email: "CANARYANNA.mail@example.com",
  },
];
const KEEP: PersonalData = { policy: "keep", key: null };

interface Warehouse {
  readonly out: string;
  readonly folder: OutputFolder;
  readonly service: Scripted;
  /** At two o'clock of a day of November; without one, now. `at`: the folder of another machine. */
  readonly run: (day?: number, at?: string) => Promise<string>;
  readonly erase: (userId: string, options?: Partial<EraseOptions>) => Promise<EraseReport>;
  /** Fails where a run is not as its manifest says. */
  readonly verify: () => Promise<void>;
}

async function warehouse(
  t: TestContext,
  { personalData = KEEP, pipelineUrl = HISTORY } = {},
): Promise<Warehouse> {
  const out = await temporaryFolder(t);
  const folder = outputFolder(out);
  const service = await Scripted.start(t, ITEMS);
  peopleIn(service);
  return {
    out,
    folder,
    service,
    run: async (day, at = out) => {
      const config = { details: "all", personalData, perPage: 100 } as const;
      const now = () => (day === undefined ? systemClock.now() : Date.UTC(2026, 10, day, 2));
      const clock: Clock = {
        now,
        elapsedMs: () => systemClock.elapsedMs(),
        sleep: (milliseconds, signal) => systemClock.sleep(milliseconds, signal),
      };
      return (await exportFrom({ url: service.url, out: at, pipelineUrl, threads: 1, config, clock })).run;
    },
    erase: async (userId, options = {}) => {
      await using _lock = await acquireLock(folder);
      const onStep = () => {};
      return await eraseUser(folder, {
        userId,
        clock: systemClock,
        threads: 1,
        freeBytes,
        onStep,
        ...options,
      });
    },
    verify: async () => {
      const place = await temporaryFolder(t);
      assert.deepEqual((await verifyRuns(folder, { all: true }, place)).findings, []);
    },
  };
}

const CANARIES = ["CANARYANNA", Buffer.from("CANARYANNA").toString("base64").slice(0, 12)];

/** Warehouses of two runs, made once, of which every test gets a copy. */
const made = new Map<string, { out: string; runs: string[] }>();

async function twoRuns(
  t: TestContext,
  pipelineUrl = HISTORY,
): Promise<Warehouse & { runs: readonly string[] }> {
  const place = await warehouse(t, { pipelineUrl });
  let two = made.get(pipelineUrl);
  if (two === undefined) {
    two = { out: await mkdtemp(join(tmpdir(), "erase-")), runs: [await place.run(), await place.run()] };
    made.set(pipelineUrl, two);
    await cp(place.out, two.out, COPY);
  } else {
    await cp(two.out, place.out, COPY);
  }
  return { ...place, runs: two.runs };
}

const COPY = { recursive: true, verbatimSymlinks: true, force: true } as const;

after(async () => {
  for (const { out } of made.values()) await removeTree(out);
});

/** Everything that stands in the runs, and in what was staged, by file. */
async function filesOf({ runs, staging }: OutputFolder): Promise<{ path: string; text: string }[]> {
  return [...(await textsIn(runs)), ...(await textsIn(staging))];
}

async function textsOf(folder: OutputFolder): Promise<string> {
  return (await filesOf(folder)).map(({ text }) => text).join("\n");
}

/** Answers what else stands there, by file. */
async function assertGone(folder: OutputFolder, texts: readonly string[]) {
  const files = await filesOf(folder);
  for (const { path, text } of files)
    for (const each of texts) assert.ok(!text.includes(each), `${each} stands in ${path}`);
  return files;
}

/** What every table says, but those of which an erasure changes rows. */
async function otherTables(directory: string): Promise<Record<string, unknown>> {
  await using reader = await openPublished(directory);
  const names = await reader.rows(
    "SELECT schema_name || '.' || table_name FROM duckdb_tables() ORDER BY ALL",
  );
  const changed = [
    "users",
    "content",
    "content_current_editors",
    "run_rejects",
    "run_drift",
    "run",
    "run_tables",
    "run_documents",
  ];
  const others = names
    .flat()
    .map(String)
    .filter((name) => !changed.includes(name.replace("main.", "")) && !name.endsWith("_history"));
  assert.ok(
    others.length > either(10, 30) && others.includes("content_warehouse_internal.custom_field_texts"),
  );
  // The digest of a document that changes is another.
  const cells = (name: string) => (name.endsWith("run_documents") ? "SELECT * EXCLUDE (sha256) " : "");
  const rows = others.map(async (name) => [name, await reader.rows(`${cells(name)}FROM ${name}`)] as const);
  return Object.fromEntries(await Promise.all(rows));
}

/** A cell in which an object that describes a person is left with the person's ID. */
function without(cell: unknown, described: Json): unknown {
  return typeof cell === "string"
    ? cell.replace(JSON.stringify(described), JSON.stringify({ id: described.id }))
    : cell;
}

test("S24: nothing of an erased user stands in any byte of the folder, and everything else is as it was", async (t) => {
  const { out, folder, erase, verify, runs } = await twoRuns(t, either(HISTORY, NIGHTLY));
  const before = await textsOf(folder);
  for (const word of ["Name", "Nick", "Dish", "Bio", "-PHONE"])
    assert.ok(before.includes(`CANARYANNA ${word}`) || before.includes(`CANARYANNA${word}`), word);
  const tables = await otherTables(join(out, "current"));
  const bert = await rowsOf(join(out, "current"), `FROM users WHERE user_id = '${BERT}'`);
  const comments =
    "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal ORDER BY ALL";
  const schema = await rowsOf(join(out, "current"), comments);
  const reused = `SELECT DISTINCT fingerprint <> '', read_by_run FROM '${out}/current/raw/item/item-*.parquet'`;
  assert.deepEqual(await rowsOf(join(out, "current"), reused), [[true, runs[0]]]);
  const report = await erase(ANNA);
  assert.deepEqual([report.searched, report.named], [2, 2]);
  assert.deepEqual(
    report.replaced.map(({ run, current }) => [run, current]),
    [
      [runs[0], false],
      [runs[1], true],
    ],
  );
  for (const { rows, documents } of report.replaced)
    assert.ok(rows >= 5 && documents >= 2, `${rows} ${documents}`);
  const files = await assertGone(folder, CANARIES);
  await verify();
  const directory = join(out, "current");
  // A digest of what was erased says something of it, too.
  assert.deepEqual(await rowsOf(directory, reused), [[false, report.replaced[0]?.replacedBy]]);
  assert.deepEqual(
    await rowsOf(
      directory,
      `SELECT user_id, email, name, tz, role, extra FROM users WHERE user_id = '${ANNA}'`,
    ),
    [[ANNA, null, null, "Europe/Vienna", "author", null]],
  );
  const managed = { id: ANNA, email: "CANARYANNA.mail@example.com", name: "CANARYANNA Name", level: 3 };
  const left = bert.map((row) => row.map((cell) => without(cell, managed)));
  assert.notDeepEqual(left, bert);
  assert.deepEqual(await rowsOf(directory, `FROM users WHERE user_id = '${BERT}'`), left);
  assert.deepEqual(await rowsOf(directory, comments), schema);
  let expected = JSON.stringify(tables);
  for (const { run, replacedBy } of report.replaced) expected = expected.replaceAll(run, replacedBy);
  assert.deepEqual(await otherTables(directory), JSON.parse(expected));
  for (const { path, text } of files) {
    // The manifest names the run that it supersedes.
    if (path.endsWith("/manifest.json")) continue;
    for (const { run } of report.replaced) assert.ok(!text.includes(run), `${run} stands in ${path}`);
  }
  for (const word of ["Name", "Nick", "Dish", "Bio"])
    assert.ok(
      files.some(({ text }) => text.includes(`CANARYBERT ${word}`)),
      word,
    );
  const editors =
    "SELECT user_id, name FROM content_current_editors WHERE content_id = 'c-1' ORDER BY ordinal";
  assert.deepEqual(await rowsOf(directory, editors), [
    [ANNA, null],
    [BERT, "CANARYBERT Name"],
  ]);
});

test("S24: rows that tests show of a person go, however a query has changed them, and also where no table knows the person any more", async (t) => {
  const pipelineUrl = new URL("./tested-pipeline.ts", import.meta.url).href;
  const { out, folder, service, run, erase, verify } = await warehouse(t, { pipelineUrl });
  const mirrored = [...CANARIES, "ANNAYRANAC"];
  await run(1);
  const before = await textsOf(folder);
  for (const text of ["CANARYANNA Name", "ANNAYRANAC"]) assert.ok(before.includes(text), text);
  // Anna leaves, and the run that knew her is pruned: her name is in the rows of a test alone.
  service.items = [item("c-3", 1)];
  await run(2);
  await prune(folder, 1);
  const gone =
    "SELECT count(*) FROM run_checks WHERE check_name = 'test: gone' AND examples::VARCHAR LIKE '%CANARYANNA%'";
  assert.deepEqual(await rowsOf(join(out, "current"), gone), [["1"]]);
  const counts = "SELECT check_name, verdict, figure FROM run_checks ORDER BY ALL";
  const checks = await rowsOf(join(out, "current"), counts);
  const { replaced } = await erase(ANNA);
  assert.equal(replaced.length, 1);
  await assertGone(folder, mirrored);
  await verify();
  assert.deepEqual(await rowsOf(join(out, "current"), counts), checks);
  const shown = "SELECT count(*) FROM run_checks WHERE check_name LIKE 'test: %' AND examples IS NOT NULL";
  assert.deepEqual(await rowsOf(join(out, "current"), shown), [["0"]]);
  const { differences } = await verifyReplay({
    folder,
    published: await findReadable(folder, "current"),
    place: await temporaryFolder(t),
    threads: 1,
    signal: new AbortController().signal,
    onProgress: () => {},
    log: silentLog,
  });
  assert.deepEqual(differences, []);
});

long("S24: hashes of an erased user go as well", async (t) => {
  const key = new Secret("CANARY-KEY-0123456789abcdef0123456789abcdef");
  const { folder, run, erase, verify } = await warehouse(t, { personalData: { policy: "hash", key } });
  await run();
  const hash = (field: string, value: string) => personalHash(Buffer.from(key.reveal()), field, value);
  const hashes = [
    hash("email", "CANARYANNA.mail@example.com"),
    hash("name", "CANARYANNA Name"),
    hash("contact_email", "CANARYANNA.mail@example.com"),
    hash("nickname", "CANARYANNA Nick"),
  ];
  const before = await textsOf(folder);
  for (const each of hashes) assert.ok(before.includes(each));
  await erase(ANNA);
  await assertGone(folder, hashes);
  await verify();
  const later = await textsOf(folder);
  assert.ok(later.includes(hash("email", "CANARYBERT.mail@example.com")), "others stay");
});

long(
  "S24: an erased user goes from the raw documents of the lookups too, which say how many unknown fields are left",
  async (t) => {
    const { out, folder, service, erase, verify } = await warehouse(t);
    const reviewer = { id: ANNA, contact_email: "CANARYANNA.mail@example.com", rank: 1 };
    const color = { id: "f1", name: "color", contact_email: "CANARYANNA.mail@example.com", reviewer };
    service.script = ({ kind }) => (kind === "custom_fields" ? { body: [color] } : undefined);
    const config = { details: "all", personalData: KEEP, perPage: 100, customFields: ["color"] } as const;
    await exportFrom({ url: service.url, out, pipelineUrl: NIGHTLY, threads: 1, config });
    const kept = "unknown_fields, sha256 = sha256(document), document::VARCHAR";
    const raw = () =>
      rowsOf(join(out, "current"), `SELECT ${kept} FROM '${out}/current/raw/custom_fields/*.parquet'`);
    assert.deepEqual(await raw(), [[2, true, JSON.stringify(color)]]);
    await erase(ANNA);
    await assertGone(folder, ["CANARYANNA"]);
    assert.deepEqual(await raw(), [
      [1, true, '{"id":"f1","name":"color","reviewer":{"id":"XX"}}'.replace("XX", ANNA)],
    ]);
    await verify();
  },
);

long(
  "S24: the new runs say what they supersede and when, and their raw documents, numbers and sizes are true",
  async (t) => {
    const { out, folder, erase, verify, runs } = await twoRuns(t, NIGHTLY);
    const requests = await rowsOf(join(out, "current"), "FROM run_requests ORDER BY request");
    const { replaced } = await erase(ANNA);
    assert.deepEqual(
      replaced.map(({ replacedBy }) => replacedBy),
      runs.map((name, index) => `00000${index + 3}${name.slice(6)}`),
      "later numbers, and the nights of the old names",
    );
    for (const [index, { replacedBy }] of replaced.entries()) {
      const directory = join(folder.runs, replacedBy);
      const manifest = await readManifest(directory);
      assert.deepEqual(
        [manifest.run, manifest.supersedes, manifest.erasedAt?.length],
        [replacedBy, runs[index], 1],
      );
      assert.ok(!JSON.stringify(manifest).includes(ANNA), "of whom is not said");
      assert.equal(manifest.previousRun, index === 0 ? null : replaced[0]?.replacedBy);
      assert.deepEqual(await rowsOf(directory, "SELECT run, sequence FROM run"), [[replacedBy, index + 3]]);
      assert.deepEqual(
        await rowsOf(directory, `SELECT run, sequence FROM '${directory}/parquet/run/*.parquet'`),
        [[replacedBy, index + 3]],
      );
      const names = manifest.files.map(({ path }) => path).filter((path) => path.endsWith(".parquet"));
      for (const name of names) assert.match(name, new RegExp(`-00000${index + 3}-`));
      const report = await readFile(join(directory, "report.html"), "utf8");
      assert.ok(report.includes(replacedBy) && !report.includes(runs[index] ?? "-"));
      const wrong = `SELECT count(*) FROM '${directory}/raw/*/*.parquet' WHERE sha256(document) <> sha256`;
      assert.deepEqual(await rowsOf(directory, wrong), [["0"]]);
      const rejects =
        "SELECT count(*), count(*) FILTER (WHERE sha256(document::VARCHAR) = sha256) FROM run_rejects";
      assert.deepEqual(await rowsOf(directory, rejects), [["2", "2"]]);
      for (const [table, bytes] of await rowsOf(
        directory,
        "SELECT table_name, parquet_bytes::INTEGER FROM run_tables",
      )) {
        const files = manifest.files.filter(({ path }) => path.startsWith(`parquet/${table}/`));
        assert.equal(
          files.reduce((sum, file) => sum + file.bytes, 0),
          bytes,
          String(table),
        );
      }
      const users = files(
        manifest.files.map(({ path }) => path),
        "users",
      ).map((path) => `'${directory}/${path}'`);
      assert.deepEqual(
        await rowsOf(
          directory,
          `SELECT count(*) FROM (FROM users EXCEPT FROM read_parquet([${users.join()}]))`,
        ),
        [["0"]],
      );
    }
    assert.deepEqual(await rowsOf(join(out, "current"), "FROM run_requests ORDER BY request"), requests);
    const metadata = "SELECT decode(key) FROM parquet_kv_metadata(";
    const [users = ""] = (await readManifest(join(out, "current"))).files
      .map(({ path }) => path)
      .filter((path) => path.includes("/users/"));
    const keys = await rowsOf(join(out, "current"), `${metadata}'${out}/current/${users}') ORDER BY ALL`);
    assert.deepEqual(keys.flat(), ["columns", "comment", "key", "personal", "references", "table", "types"]);
    await verify();
  },
);

const files = (paths: readonly string[], table: string) =>
  paths.filter((path) => path.includes(`/${table}/`));

long(
  "S24: who has an old run open keeps reading it; runs, rollback, retention and the next run go on as before",
  async (t) => {
    const { out, folder, run, erase, verify, service } = await warehouse(t);
    await run();
    await run();
    await using reader = await openPublished(join(out, "current"));
    await erase(ANNA);
    assert.deepEqual(await reader.rows(`SELECT name FROM users WHERE user_id = '${ANNA}'`), [
      ["CANARYANNA Name"],
    ]);
    assert.deepEqual(
      (await listRuns(folder)).map(({ sequence, current }) => [sequence, current]),
      [
        [4, true],
        [3, false],
      ],
    );
    assert.equal((await rollback(folder, "3")).sequence, 3);
    service.items = [item("c-1", 0), item("c-2", 1), item("c-3", 2)];
    assert.equal((await run()).slice(0, 6), "000005");
    assert.equal((await readManifest(join(out, "current"))).previousRun?.slice(0, 6), "000003");
    const history =
      "SELECT sequence, previous_run IS NULL OR previous_run IN (SELECT run FROM run_history) FROM run_history";
    assert.deepEqual(await rowsOf(join(out, "current"), `${history} ORDER BY sequence`), [
      [3, true],
      [5, true],
    ]);
    const since = "SELECT DISTINCT valid_from_run IN (SELECT run FROM run_history) FROM content_history";
    assert.deepEqual(await rowsOf(join(out, "current"), since), [[true]]);
    assert.deepEqual(
      (await prune(folder, 1)).map(({ sequence }) => sequence),
      [4, 3],
    );
    await verify();
  },
);

long(
  "S24: runs that are newer than one with the user are numbered anew too, so that their order stays",
  async (t) => {
    const { folder, run, erase, service } = await warehouse(t);
    await run();
    service.items = [item("c-3", 1)];
    const second = await run();
    const { replaced } = await erase(ANNA);
    assert.deepEqual(
      replaced.map(({ run, rows }) => [Number(run.slice(0, 6)), rows > 0]),
      [
        [1, true],
        [2, false],
      ],
    );
    const manifest = await readManifest(join(folder.runs, replaced[1]?.replacedBy ?? ""));
    assert.equal(manifest.supersedes, second);
    await run();
    const again = await erase(BERT);
    assert.deepEqual(
      again.replaced.map(({ replacedBy }) => Number(replacedBy.slice(0, 6))),
      [6, 7, 8],
    );
    const [oldest] = (await listRuns(folder)).toReversed();
    assert.ok(oldest !== undefined && "erasedAt" in oldest.manifest);
    assert.equal(oldest.manifest.erasedAt?.length, 2, "every erasure is told");
  },
);

long(
  "S24: a lake, whose runs have files in common, holds nothing of the person once all but the newest versions are gone",
  async (t) => {
    const { folder, erase } = await twoRuns(t);
    const place = await temporaryFolder(t);
    const target = lake({ url: pathToFileURL(join(place, "lake")).href, instance: "one" });
    const { signal } = new AbortController();
    const deliverRun = async (run: string) => {
      const options = {
        runs: await listRuns(folder),
        temporaryDirectory: place,
        signal,
        onProgress: () => {},
      };
      const staged = await target.stage(await deliveredRun(await findRun(folder, run), options));
      await staged.commit();
    };
    await deliverRun("1");
    await deliverRun("2");
    const before = await target.last(null, signal);
    await erase(ANNA);
    await deliverRun("current");
    await target.open(signal, (at) => vacuumLake(at, { allVersions: true }));
    await assertNowhereIn(join(place, "lake"), CANARIES);
    const last = await target.last(null, signal);
    assert.ok(last !== null && before !== null && keepsRuns(target));
    const empty = await prepareOutput(join(place, "empty"));
    await assert.rejects(restoreRun(empty, target, before, signal), /keeps only the last run/);
    await restoreRun(empty, target, last, signal);
    assert.deepEqual((await verifyRuns(empty, { all: true }, place)).findings, []);
    await assertNowhereIn(empty.runs, CANARIES);
  },
);

long("S24: two runs of one name, of which one is another machine's, are two runs afterwards", async (t) => {
  const { out, folder, run, erase, verify, service } = await warehouse(t);
  const elsewhere = join(await temporaryFolder(t), "elsewhere");
  await run(1);
  await cp(out, elsewhere, COPY);
  service.items = [item("c-1", 0), item("ours", 1)];
  const ours = await run(2);
  service.items = [item("c-1", 0), item("theirs", 1)];
  const theirs = await run(2, elsewhere);
  assert.equal(ours, theirs);
  const { sha256 } = await findRun(outputFolder(elsewhere), "current");
  const keeper = {
    ...memoryTarget(),
    restore: (_: unknown, directory: string) =>
      cp(join(elsewhere, "runs", theirs), directory, {
        recursive: true,
        filter: (path) => !path.endsWith(DATABASE_FILE),
      }),
  };
  const restored = { run: theirs, sequence: 2, sha256 };
  await restoreRun(folder, keeper, restored, new AbortController().signal);
  assert.equal((await readManifest(join(out, "current"))).restored?.sha256, sha256);
  service.items = [item("c-1", 0), item("theirs", 1), item("new", 2)];
  await run(3);
  await erase(ANNA);
  await verify();
  const runs = await listRuns(folder);
  assert.deepEqual(
    runs.map(({ sequence }) => sequence),
    [7, 6, 5, 4],
  );
  const again = await Promise.all(runs.map(({ directory }) => readManifest(directory)));
  assert.ok(again.every((stated) => stated.restored === undefined));
  const { previousRun, changes } = await readManifest(join(out, "current"));
  assert.deepEqual(changes, { new: 1, changed: 0, removed: 0 });
  const itemsIn = (name: string) =>
    rowsOf(join(folder.runs, name), "SELECT content_id FROM content ORDER BY ALL");
  assert.deepEqual(await itemsIn(previousRun ?? ""), [["c-1"], ["theirs"]]);
  const others = runs.filter((each) => ![previousRun, runs[0]?.run].includes(each.run));
  assert.deepEqual(await itemsIn(others[0]?.run ?? ""), [["c-1"], ["ours"]]);
  const history = "SELECT run, previous_run FROM run_history ORDER BY sequence DESC";
  const [last, before, first] = [runs[0]?.run, previousRun, runs[3]?.run];
  assert.deepEqual(await rowsOf(join(out, "current"), history), [
    [last, before],
    [before, first],
    [first, null],
  ]);
});

long("S24: the past is what it was, also that of a night whose run was removed between others", async (t) => {
  const { out, folder, run, erase, verify, service } = await warehouse(t);
  const nights = [
    ["c-1", "c-2"],
    ["c-1", "c-2", "c-3"],
    ["c-1", "c-3"],
  ];
  const runs: string[] = [];
  for (const [index, ids] of nights.entries()) {
    service.items = ids.map((id, place) => item(id, place));
    runs.push(await run(index + 1));
  }
  await rollback(folder, "1");
  const [gone] = await prune(folder, 1);
  assert.equal(gone?.run, runs[1], "the newest is kept, and the current one");
  // What is asked for at noon of each day, as the macros ask.
  const asOf = (day: number) => `
    SELECT content_id, since.started_at::VARCHAR, until.started_at::VARCHAR FROM content_history
    JOIN run_history AS since ON since.run = valid_from_run
    LEFT JOIN run_history AS until ON until.run = valid_to_run,
    (SELECT max(sequence) AS sequence FROM run_history WHERE started_at <= TIMESTAMPTZ '2026-11-0${day} 12:00:00+00') AS night
    WHERE since.sequence <= night.sequence AND (until.sequence IS NULL OR until.sequence > night.sequence)
    ORDER BY ALL`;
  const past = async (run: string) =>
    await Promise.all([1, 2, 3].map((day) => rowsOf(join(folder.runs, run), asOf(day))));
  const before = await past(runs[2] ?? "");
  assert.deepEqual(
    before.map((rows) => rows.map(([id]) => id)),
    nights,
  );
  const { replaced } = await erase(ANNA);
  await rollback(folder, "6");
  assert.deepEqual(await past("../current"), before);
  const known = "SELECT run, sequence, previous_run FROM run_history ORDER BY started_at";
  const [first, second, third] = runs.map((name, index) => `00000${index + 4}${name.slice(6)}`);
  assert.deepEqual(
    replaced.map(({ replacedBy }) => replacedBy),
    [first, third],
  );
  assert.deepEqual(await rowsOf(join(out, "current"), known), [
    [first, 4, null],
    [second, 5, first],
    [third, 6, second],
  ]);
  assert.equal((await readManifest(join(out, "current"))).previousRun, second);
  const own = (sql: string) => rowsOf(join(out, "current"), sql);
  const inverted = `SELECT count(*) FROM content_history
    JOIN run_history AS since ON since.run = valid_from_run JOIN run_history AS until ON until.run = valid_to_run
    WHERE until.sequence <= since.sequence`;
  assert.deepEqual(await own(inverted), [["0"]]);
  await verify();
});

long(
  "S24: a user whom no run knows, and one known by ID alone, are no failure and change nothing",
  async (t) => {
    const { out, erase, runs: both } = await twoRuns(t);
    assert.deepEqual(await erase("5f1e0c2ab4d3e90017c0ffe9"), { searched: 2, named: 0, replaced: [] });
    assert.deepEqual(await readdir(join(out, "runs")), both);
    await erase(ANNA);
    const runs = await readdir(join(out, "runs"));
    assert.deepEqual(await erase(ANNA), { searched: 2, named: 2, replaced: [] });
    assert.deepEqual(await readdir(join(out, "runs")), runs);
    assert.deepEqual(await readdir(join(out, ".staging")), []);
  },
);

long(
  "S24: an ID that is no user's changes no byte, and one of another thing is refused with what it is",
  async (t) => {
    const { folder, run, erase, service } = await warehouse(t, { pipelineUrl: NIGHTLY });
    const details = { name: "Name of a thing", contact_email: "thing@example.com", slug: "slug-of-a-thing" };
    const id = (thing: string) => `5f1e0c2ab4d3e90017c0${thing}`;
    const named = {
      campaign_details: [{ id: id("ca01"), ...details }],
      content_type_details: { id: id("c701"), ...details },
      custom_fields_details: [{ id: id("cf01"), ...details, field_type: "text", value: "x" }],
      gadget: { id: id("9ad1"), ...details, parts: [{ id: id("9ad2"), ...details }] },
      // The text shows an ID of nobody; so does the example of the drift.
      gadget_link: `https://example.com/${id("9ad1")}/${id("ca01")}`,
    };
    service.items = [...ITEMS, item("c-3", 2, named), { title: "No ID either", ...named }];
    await run();
    const before = await bytesOf(folder.runs);
    const others = [
      [id("ca01"), "a campaign", "campaigns"],
      [id("c701"), "a content type", "content_types"],
      [id("cf01"), "a custom field", "custom_fields"],
      ["c-3", "an item", "content"],
    ] as const;
    for (const [other, what, table] of others) {
      const { message } = await failsWith("config.not_found", erase(other));
      assert.ok(
        message.startsWith(`"${other}" is the ID of ${what} (table ${table}), not of a user`),
        message,
      );
      assert.deepEqual(await bytesOf(folder.runs), before, table);
    }
    for (const unknown of [id("9ad1"), id("9ad2")]) {
      assert.deepEqual(await erase(unknown), { searched: 1, named: 0, replaced: [] });
      assert.deepEqual(await bytesOf(folder.runs), before);
    }
  },
);

/** Digests of all files below a folder. */
async function bytesOf(folder: string): Promise<Record<string, string>> {
  const digests = (await treeOf(folder))
    .filter((path) => !path.endsWith("/"))
    .map(async (path) => {
      const bytes = await readFile(join(folder, path));
      return [path, createHash("sha256").update(bytes).digest("hex")] as const;
    });
  return Object.fromEntries(await Promise.all(digests));
}

long("S24: staged files of a killed run go too, whoever is in them", async (t) => {
  const { out, erase } = await twoRuns(t);
  const left = join(out, ".staging", "000009-20261120T020000Z", "result", "raw");
  await mkdir(left, { recursive: true });
  await writeFile(join(left, "dynamic.parquet"), "CANARYANNA");
  await erase("5f1e0c2ab4d3e90017c0ffe9");
  assert.deepEqual(await readdir(join(out, ".staging")), []);
});

long(
  "S24: a damaged run, one of a newer program, and a full disk are said, and change nothing",
  async (t) => {
    const { folder, erase, runs } = await twoRuns(t, NIGHTLY);
    const intact = async () => {
      assert.deepEqual(await readdir(folder.runs), runs);
      assert.equal(await readlink(folder.current), `runs/${runs[1]}`);
      assert.deepEqual(await readdir(folder.staging), []);
    };
    await assert.rejects(erase(ANNA, { freeBytes: async () => 1 }), {
      code: "disk.full",
      message: /nothing was erased/,
    });
    await intact();
    const file = join(folder.runs, runs[0] ?? "", "manifest.json");
    const { manifestVersion: _, ...manifest } = await readManifest(join(folder.runs, runs[0] ?? ""));
    await chmod(file, 0o644);
    await writeFile(file, JSON.stringify({ ...manifest, manifestVersion: 99 }));
    await assert.rejects(erase(ANNA), { code: "config.newer_version" });
    await intact();
    await writeFile(file, "{");
    await assert.rejects(erase(ANNA), { code: "verify.failed", message: /manifest/ });
    await writeFile(file, JSON.stringify({ ...manifest, manifestVersion: 1 }));
    const tags = join(
      folder.runs,
      runs[0] ?? "",
      manifest.files.find(({ path }) => path.includes("/content_tags/"))?.path ?? "",
    );
    await chmod(tags, 0o644);
    await appendFile(tags, "x");
    await assert.rejects(erase(ANNA), { code: "verify.failed", message: /damaged .*nothing was erased/ });
    await intact();
  },
);

/** Erasing in a process of its own, which ends itself at a step as a kill would. */
async function killedAt(folder: OutputFolder, step: string): Promise<void> {
  const child = spawn(
    process.execPath,
    [new URL("./killed-erase.ts", import.meta.url).pathname, folder.root, ANNA, step],
    {
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  const [, signal] = await once(child, "exit");
  assert.equal(signal, "SIGKILL");
}

for (const step of few(["make 2", "commit", "replace"], 1)) {
  long(
    `S24: an erasure that is killed at "${step}" shows no half run, and the next one finishes it`,
    async (t) => {
      const { folder, erase, verify, runs } = await twoRuns(t);
      await killedAt(folder, step);
      assert.deepEqual(await readdir(folder.runs), runs);
      await verify();
      const { replaced } = await erase(ANNA);
      // Once it was decided, the next command finishes it, and finds nothing more to do.
      assert.equal(replaced.length, step === "replace" ? 0 : 2);
      assert.deepEqual(
        (await listRuns(folder)).map(({ sequence }) => sequence),
        [4, 3],
      );
      await assertGone(folder, CANARIES);
      await verify();
    },
  );
}

/** What a kill lets happen of a replacement that was decided, one step more from line to line. */
const STEPS: readonly ((
  folder: OutputFolder,
  from: readonly string[],
  to: readonly string[],
) => Promise<void>)[] = [
  ({ staging, runs }, _, [first = ""]) =>
    rename(join(staging, ".replace", first, "result"), join(runs, first)),
  ({ staging, runs }, _, [, second = ""]) =>
    rename(join(staging, ".replace", second, "result"), join(runs, second)),
  async (folder, _, [, second = ""]) => await pointCurrentAt(folder, second),
  ({ staging, runs }, [first = ""]) => takenAway(join(runs, first), join(staging, `.pruned-${first}`)),
  ({ staging, runs }, [, second = ""]) => takenAway(join(runs, second), join(staging, `.pruned-${second}`)),
];

async function takenAway(directory: string, away: string): Promise<void> {
  await chmod(directory, 0o755);
  await rename(directory, away);
}

const FINISHERS = {
  rollback: (folder: OutputFolder) => rollback(folder, "3"),
  prune: (folder: OutputFolder) => prune(folder, 2),
};

long(
  "S24: whichever steps of the replacement a kill let happen, the next command takes the rest",
  async (t) => {
    const { folder, runs } = await twoRuns(t);
    await killedAt(folder, "replace");
    const replaced = runs.map((name, index) => `00000${index + 3}${name.slice(6)}`);
    for (const [index, step] of STEPS.entries()) {
      await step(folder, runs, replaced);
      // The short form takes each of them in turn.
      const finishers = index % 2 === 0 ? Object.entries(FINISHERS) : Object.entries(FINISHERS).toReversed();
      for (const [name, finish] of few(finishers, 1)) {
        const { out, folder: copy, verify } = await warehouse(t);
        await cp(folder.root, out, COPY);
        await finish(copy);
        const then = `${name} after step ${index + 1}`;
        const left = (await listRuns(copy)).map(({ sequence }) => sequence);
        assert.deepEqual(left, [4, 3], then);
        assert.deepEqual(await readdir(copy.staging), [], then);
        await assertGone(copy, CANARIES);
        if (index === 0 || index === STEPS.length - 1) await verify();
      }
    }
  },
);

for (const load of ["duckdb", "parquet"] as const) {
  long(`S24: a run that was published as ${load} alone is erased like any other`, async (t) => {
    const { out, folder, service, erase, verify } = await warehouse(t);
    const module = new URL(`./${load}-pipeline.ts`, import.meta.url).href;
    const config = { details: "none", personalData: KEEP, perPage: 100 } as const;
    await exportFrom({ url: service.url, out, pipelineUrl: module, threads: 1, config });
    assert.ok((await textsOf(folder)).includes("CANARYANNA"));
    const { replaced } = await erase(ANNA);
    assert.equal(replaced.length, 1);
    await assertGone(folder, CANARIES);
    await verify();
    const users = load === "duckdb" ? "users" : `'${out}/current/parquet/users/*.parquet'`;
    const instance = await DuckDBInstance.create(
      load === "duckdb" ? join(out, "current", "warehouse.duckdb") : ":memory:",
      load === "duckdb" ? { access_mode: "READ_ONLY" } : {},
    );
    const connection = await instance.connect();
    const rows = await connection.runAndReadAll(`SELECT user_id, name FROM ${users} ORDER BY ALL`);
    assert.deepEqual(rows.getRowsJson(), [
      [ANNA, null],
      [BERT, "CANARYBERT Name"],
    ]);
    connection.closeSync();
    instance.closeSync();
  });
}
