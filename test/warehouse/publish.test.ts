import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { systemClock } from "../../src/common/clock.ts";
import { readTree } from "../../src/common/tree.ts";
import { openForReading } from "../../src/storage/database.ts";
import { scalar } from "../../src/storage/duckdb.ts";
import { nextRun, type OutputFolder, runsIn, type StagingFolder } from "../../src/warehouse/layout.ts";
import { prepareOutput } from "../../src/warehouse/lock.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { finishPublication, publishRun } from "../../src/warehouse/publish.ts";
import { findRun, listRuns, prune, prunedRuns, rollback } from "../../src/warehouse/retention.ts";
import { temporaryFolder } from "../load/fixtures.ts";
import { asOrdinaryUser } from "../run/as-ordinary-user.ts";
import {
  buildResult,
  emptyStatement,
  NIGHT,
  publish,
  publishEmpty,
  stageEmpty,
  statement,
} from "./published.ts";

const reader = (file: string) =>
  openForReading({ file, temporaryDirectory: "", allowedDirectories: [], memoryLimitMb: 64, threads: 1 });

async function staged(out: string, items = 3): Promise<{ folder: OutputFolder; staging: StagingFolder }> {
  const folder = await prepareOutput(out);
  return { folder, staging: await buildResult(folder, await nextRun(folder, NIGHT), items) };
}

test("a publication is what current names: the database, the Parquet files, and a manifest that accounts for each", async (t) => {
  const out = await temporaryFolder(t);
  const manifest = await publish(out, 3);
  assert.equal(await readlink(join(out, "current")), `runs/${manifest.run}`);
  const directory = join(out, "current");
  assert.deepEqual(await readManifest(directory), manifest);
  const { files } = await readTree(join(out, "runs", manifest.run));
  const names = files.map((file) => file.slice(join(out, "runs", manifest.run).length + 1));
  assert.deepEqual(
    names.filter((name) => name !== "manifest.json"),
    manifest.files.map(({ path }) => path),
  );
  assert.deepEqual(
    manifest.files.map(({ path, rows }) => [path, rows]),
    [
      ["parquet/content/content-000001-0000.parquet", 2],
      ["parquet/content/content-000001-0001.parquet", 1],
      ["parquet/content_tags/content_tags-000001-0000.parquet", 2],
      ["parquet/content_tags/content_tags-000001-0001.parquet", 1],
      ["warehouse.duckdb", null],
    ],
  );
  for (const { path, bytes, sha256 } of manifest.files) {
    const content = await readFile(join(directory, path));
    assert.deepEqual([content.length, createHash("sha256").update(content).digest("hex")], [bytes, sha256]);
  }
  assert.deepEqual(await readdir(join(out, ".staging")), []);
  assert.deepEqual((await readdir(out)).toSorted(), [".staging", "current", "runs"]);
});

test("I1, F16: a reader keeps its run while the next is published, and the next reader has the new one", async (t) => {
  const out = await temporaryFolder(t);
  const first = await publish(out, 3);
  await using early = await reader(join(out, "current", "warehouse.duckdb"));
  const second = await publish(out, 5);
  const title = "SELECT count(*) FROM content WHERE title = $1";
  assert.equal(await scalar(early.connection, title, [first.run]), 3);
  await using late = await reader(join(out, "current", "warehouse.duckdb"));
  assert.equal(await scalar(late.connection, title, [second.run]), 5);
  assert.equal(await scalar(early.connection, "SELECT count(*) FROM content"), 3);
});

test("I1: while it moves, current always names a run", async (t) => {
  const out = await temporaryFolder(t);
  const runs = [(await publishEmpty(out)).run, (await publishEmpty(out)).run];
  const folder = await prepareOutput(out);
  const watcher = new Worker(new URL("./watch-current.ts", import.meta.url), { workerData: folder.current });
  await once(watcher, "message");
  for (let move = 0; move < 60; move++) await rollback(folder, runs[move % 2] ?? "");
  const seen = once(watcher, "message");
  watcher.postMessage("stop");
  assert.deepEqual(await seen, [runs.map((run) => `runs/${run}`).toSorted()]);
});

test("F19, S21, Z8: nobody but root can change a published run, everybody can read it, and its owner can prune it", async (t) => {
  const result = await asOrdinaryUser(await temporaryFolder(t), "publish");
  assert.deepEqual(result, {
    modes: {
      runs: "755",
      staging: "700",
      run: "555",
      tables: "555",
      database: "444",
      manifest: "444",
      parquet: "444",
    },
    overwrite: "EACCES",
    addFile: "EACCES",
    removeFile: "EACCES",
    moveRun: "EACCES",
    openForWriting: "EACCES",
    openForReading: "done",
    prune: "done",
  });
});

async function stagedEmpty(out: string): Promise<{ folder: OutputFolder; staging: StagingFolder }> {
  const folder = await prepareOutput(out);
  return { folder, staging: await stageEmpty(folder) };
}

const tampers: Record<string, (staging: StagingFolder) => Promise<unknown>> = {
  "a log beside the database": (staging) => writeFile(`${staging.database}.wal`, "stale"),
  "a half-written file": (staging) => writeFile(join(staging.result, "parquet", "tmp_content.parquet"), ""),
  "a link": (staging) => symlink("/etc/passwd", join(staging.result, "link")),
  "a damaged database": (staging) => writeFile(staging.database, "junk"),
  "no database": (staging) => rm(staging.database),
  "a missing Parquet file": (staging) =>
    rm(join(staging.result, "parquet/content_tags/content_tags-000001-0000.parquet")),
  "a cut Parquet file": (staging) =>
    writeFile(join(staging.result, "parquet/content_tags/content_tags-000001-0001.parquet"), "PAR1"),
  "a Parquet folder of no table": async (staging) => {
    await mkdir(join(staging.result, "parquet/other"));
    const tags = join(staging.result, "parquet/content_tags/content_tags-000001-0000.parquet");
    await writeFile(join(staging.result, "parquet/other/other.parquet"), await readFile(tags));
  },
};

test("I4: a result is not published with what a kill, a fault or a hand left in it", async (t) => {
  const out = await temporaryFolder(t);
  const { folder, staging } = await staged(out);
  const whole = `${staging.result}-whole`;
  await rename(staging.result, whole);
  for (const [what, tamper] of Object.entries(tampers)) {
    await cp(whole, staging.result, { recursive: true });
    await tamper(staging);
    const publishing = publishRun(folder, staging, statement(staging, 3), systemClock);
    await assert.rejects(publishing, { code: "verify.failed" }, what);
    assert.deepEqual([await runsIn(folder), existsSync(folder.current)], [[], false], what);
    assert.equal(existsSync(staging.result), true, "staged files are kept for inspection");
    await rm(staging.result, { recursive: true });
  }
  await rename(whole, staging.result);
  await publishRun(folder, staging, statement(staging, 3), systemClock);
});

test("I4: a result whose rows are not the expected ones is not published", async (t) => {
  const out = await temporaryFolder(t);
  const { folder, staging } = await staged(out);
  const stated = statement(staging, 3);
  const wrong = [
    {
      rows: { content: 3, content_tags: 4 },
      message: /content_tags has 3 rows in DuckDB where 4 are expected/,
    },
    { rows: { content: 3 }, message: /content_tags in DuckDB is not expected/ },
    { rows: { content: 3, content_tags: 3, users: 0 }, message: /users is missing in DuckDB/ },
  ];
  for (const { rows, message } of wrong) {
    await assert.rejects(publishRun(folder, staging, { ...stated, rows }, systemClock), {
      code: "verify.failed",
      message,
    });
  }
  assert.deepEqual(await runsIn(folder), []);
});

test("F1, I3: what a killed publication left is found, whatever step it died at, and the next run publishes", async (t) => {
  const out = await temporaryFolder(t);
  const first = await publishEmpty(out);
  const { folder, staging } = await stagedEmpty(out);
  await writeFile(join(staging.result, "manifest.json"), "{");
  assert.deepEqual(await readdir(folder.runs), [first.run], "what is being staged is not in runs");
  assert.equal(await finishPublication(folder), undefined, "died while the manifest was written");
  assert.equal((await findRun(folder, "current")).run, first.run);
  const third = await publishEmpty(out);
  assert.equal(third.sequence, 3);
  assert.equal((await findRun(folder, "current")).run, third.run);
});

test("I5: a run that has its final name but is not current yet becomes current at the next start", async (t) => {
  const out = await temporaryFolder(t);
  await publishEmpty(out);
  const { folder, staging } = await stagedEmpty(out);
  await publishRun(folder, staging, emptyStatement(staging), systemClock);
  await rm(folder.current);
  await symlink((await runsIn(folder)).map(({ run }) => `runs/${run}`)[1] ?? "", folder.current);
  await writeFile(join(folder.root, `.current-${staging.run}`), "of the killed run");
  assert.equal(await finishPublication(folder), staging.run);
  assert.equal((await findRun(folder, "current")).run, staging.run);
  assert.deepEqual(await readdir(folder.staging), []);
  assert.equal(await finishPublication(folder), undefined);
});

test("I5: a run that a closed folder keeps from being current says so with 2, and becomes it once that is open", async (t) => {
  const run = "000002-20261120T020000Z";
  assert.deepEqual(await asOrdinaryUser(await temporaryFolder(t), "publish with a closed folder"), {
    failed: `config.output The run ${run} is whole in OUT, but is not current yet: The output folder OUT cannot be used: permission is denied; fix it or name another with --warehouse. The next run makes it current first.`,
    finished: run,
    current: run,
  });
});

test("I6: a rollback makes an earlier run current, by name or number, and stays when the next run starts", async (t) => {
  const out = await temporaryFolder(t);
  const first = await publishEmpty(out);
  const { folder, staging } = await stagedEmpty(out);
  await publishRun(folder, staging, emptyStatement(staging), systemClock);
  const rolledBack = await rollback(folder, "1");
  assert.deepEqual([rolledBack.run, rolledBack.current], [first.run, true]);
  assert.equal(await readlink(folder.current), `runs/${first.run}`);
  assert.equal(await finishPublication(folder), undefined);
  assert.equal(await readlink(folder.current), `runs/${first.run}`);
  assert.equal((await publishEmpty(out)).sequence, 3);
  assert.equal((await rollback(folder, staging.run)).sequence, 2);
  assert.deepEqual(
    (await listRuns(folder)).map(({ sequence, current }) => [sequence, current]),
    [
      [3, false],
      [2, true],
      [1, false],
    ],
  );
});

test("I6: a rollback to a run that is damaged or unknown changes nothing", async (t) => {
  const out = await temporaryFolder(t);
  const first = await publishEmpty(out);
  const second = await publishEmpty(out);
  const folder = await prepareOutput(out);
  const directory = join(folder.runs, first.run);
  const [file] = first.files;
  const path = join(directory, file?.path ?? "");
  await assert.rejects(rollback(folder, "7"), { code: "config.not_found" });
  await assert.rejects(rollback(folder, "../.."), { code: "config.not_found" });
  await chmod(path, 0o644);
  await appendFile(path, "x");
  await assert.rejects(rollback(folder, "1"), { code: "verify.failed", message: /bytes instead of/ });
  await chmod(directory, 0o755);
  await rename(path, `${path}.away`);
  await assert.rejects(rollback(folder, "1"), { code: "verify.failed", message: /is missing/ });
  await rename(`${path}.away`, path);
  await truncate(path, file?.bytes);
  await writeFile(join(directory, "warehouse.duckdb.wal"), "");
  await assert.rejects(rollback(folder, "1"), { code: "verify.failed", message: /duckdb\.wal is not in/ });
  assert.equal(await readlink(folder.current), `runs/${second.run}`);
});

test("F19: pruning keeps the newest runs and the current one, and a reader of a pruned run keeps reading", async (t) => {
  const out = await temporaryFolder(t);
  for (let run = 1; run <= 5; run++) await (run === 3 ? publish(out, 3) : publishEmpty(out));
  const folder = await prepareOutput(out);
  await mkdir(join(folder.runs, "mine"));
  await rollback(folder, "2");
  await using open = await reader(join(folder.runs, (await findRun(folder, "3")).run, "warehouse.duckdb"));
  const pruned = await prune(folder, 2);
  assert.deepEqual(
    pruned.map(({ sequence }) => sequence),
    [3, 1],
  );
  assert.deepEqual(
    (await listRuns(folder)).map(({ sequence, current }) => [sequence, current]),
    [
      [5, false],
      [4, false],
      [2, true],
    ],
  );
  assert.equal(await scalar(open.connection, "SELECT count(*) FROM content_tags"), 3);
  assert.deepEqual(await readdir(folder.staging), []);
  assert.equal((await readdir(folder.runs)).at(-1), "mine", "a folder of others is left alone");
  assert.deepEqual(await prune(folder, 7), []);
  for (const keep of [0, -1, 1.5, Number.NaN])
    await assert.rejects(prune(folder, keep), { code: "config.invalid" });
});

test("runs that were rolled back are known once they are pruned, as long as one before them is there", async (t) => {
  const out = await temporaryFolder(t);
  for (let run = 1; run <= 3; run++) await publishEmpty(out);
  const folder = await prepareOutput(out);
  const known = async () => (await prunedRuns(folder)).map(({ sequence }) => sequence);
  await rollback(folder, "1");
  const [removed, kept] = [await prune(folder, 1), await listRuns(folder)];
  assert.deepEqual(
    [removed, kept].map((runs) => runs.map(({ sequence }) => sequence)),
    [[2], [3, 1]],
  );
  assert.deepEqual(await known(), [2]);
  await publishEmpty(out);
  await prune(folder, 1);
  assert.deepEqual([await known(), (await listRuns(folder)).length], [[], 1]);
  await writeFile(folder.pruned, "[{");
  await assert.rejects(known(), {
    exitCode: 31,
    message: /\.pruned\.json is damaged.* remove it, and check with/,
  });
});
