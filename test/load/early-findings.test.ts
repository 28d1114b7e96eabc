import assert from "node:assert/strict";
import { readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../src/clock.ts";
import { EarlyFindings } from "../../src/load/early-findings.ts";
import { publishRun } from "../../src/load/publish.ts";
import { nextRun, prepareOutput, runsIn, type StagingFolder } from "../../src/run/directory.ts";
import type { PublishedFile } from "../../src/run/manifest.ts";
import { temporaryFolder } from "./fixtures.ts";
import { buildResult, NIGHT, statement } from "./published.ts";

const TAGS = ["0000", "0001"].map((bucket) => `parquet/content_tags/content_tags-000001-${bucket}.parquet`);
const [FIRST = ""] = TAGS;

const earlyIn = ({ result, temporary }: StagingFolder) =>
  new EarlyFindings({ result, temporaryDirectory: join(temporary, "examined") });

async function examinedEarly(t: TestContext) {
  const folder = await prepareOutput(await temporaryFolder(t));
  const staging = await buildResult(folder, await nextRun(folder, NIGHT), 3);
  const early = earlyIn(staging);
  early.begin(TAGS);
  const found = await early.found();
  const publish = async () => publishRun(folder, staging, statement(staging, 3), systemClock, found);
  return { folder, staging, found, publish };
}

test("what was found of finished files is what the manifest says of them", async (t) => {
  const { found, publish } = await examinedEarly(t);
  assert.deepEqual([...found.files.keys()], TAGS);
  assert.deepEqual(found.unread, []);
  const { files } = await publish();
  const told = (path: string): PublishedFile | undefined => files.find((file) => file.path === path);
  for (const path of TAGS) assert.deepEqual(found.files.get(path)?.file, told(path));
  assert.deepEqual(
    TAGS.map((path) => told(path)?.rows),
    [2, 1],
  );
});

const AS_FOUND = "0".repeat(64);

test("what was found of a file that is as it was counts, unless it could not be read through", async (t) => {
  const { folder, staging, found } = await examinedEarly(t);
  const [first, second] = TAGS.map((path) => found.files.get(path));
  assert.ok(first !== undefined && second !== undefined);
  const files = new Map([
    [FIRST, { ...first, file: { ...first.file, sha256: AS_FOUND } }],
    [second.file.path, { ...second, file: { ...second.file, rows: null }, failure: "no memory for it" }],
  ]);
  const given = { files, unread: [] };
  const manifest = await publishRun(folder, staging, statement(staging, 3), systemClock, given);
  const [told, examinedAgain] = TAGS.map((path) => manifest.files.find((file) => file.path === path));
  assert.equal(told?.sha256, AS_FOUND);
  assert.deepEqual(examinedAgain, second.file);
});

const changes: Record<string, (file: string) => Promise<unknown>> = {
  "is gone": (file) => rm(file),
  "was cut": (file) => writeFile(file, "PAR1"),
  "has another content of the same length": async (file) => {
    await writeFile(file, Buffer.alloc((await readFile(file)).length));
  },
};

for (const [what, change] of Object.entries(changes)) {
  test(`I4: a file that ${what} since it was examined is not published`, async (t) => {
    const { folder, staging, publish } = await examinedEarly(t);
    await change(join(staging.result, FIRST));
    await assert.rejects(publish(), { code: "verify.failed" });
    assert.deepEqual(await runsIn(folder), []);
  });
}

test("I4: a finished file that is damaged is not published", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  const staging = await buildResult(folder, await nextRun(folder, NIGHT), 3);
  await writeFile(join(staging.result, FIRST), "PAR1");
  await using early = earlyIn(staging);
  early.begin(TAGS);
  const publishing = publishRun(folder, staging, statement(staging, 3), systemClock, await early.found());
  await assert.rejects(publishing, { code: "verify.failed", message: /content_tags-000001-0000/ });
});

test("what is given up finds nothing, and when it has ended no file is open", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  const staging = await buildResult(folder, await nextRun(folder, NIGHT), 3);
  // The same files a thousand times, for the count of rows takes longer then than the digests take to stop.
  const paths = Array.from({ length: 1000 }, () => TAGS).flat();
  for (const milliseconds of [0, 10, 30, 60, 100]) {
    const early = earlyIn(staging);
    early.begin(paths);
    await delay(milliseconds);
    await early[Symbol.asyncDispose]();
    assert.deepEqual(await openFilesIn(staging.result), []);
    assert.equal((await early.found()).files.size, 0);
  }
  await earlyIn(staging)[Symbol.asyncDispose]();
});

/** Files below a folder that this process has open; none where the system does not tell. */
async function openFilesIn(folder: string): Promise<string[]> {
  const open: string[] = [];
  for (const descriptor of await readdir("/proc/self/fd").catch(() => [])) {
    const file = await readlink(join("/proc/self/fd", descriptor)).catch(() => "");
    if (file.startsWith(folder)) open.push(file);
  }
  return open;
}
