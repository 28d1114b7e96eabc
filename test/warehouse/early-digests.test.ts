import assert from "node:assert/strict";
import { readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../src/common/clock.ts";
import { EarlyDigests } from "../../src/warehouse/early-digests.ts";
import { nextRun, prepareOutput, runsIn } from "../../src/warehouse/layout.ts";
import { publishRun } from "../../src/warehouse/publish.ts";
import { temporaryFolder } from "../load/fixtures.ts";
import { buildResult, NIGHT, statement } from "./published.ts";

const TAGS = ["0000", "0001"].map((bucket) => `parquet/content_tags/content_tags-000001-${bucket}.parquet`);
const [FIRST = ""] = TAGS;

async function digestedEarly(t: TestContext) {
  const folder = await prepareOutput(await temporaryFolder(t));
  const staging = await buildResult(folder, await nextRun(folder, NIGHT), 3);
  const early = new EarlyDigests(staging.result);
  early.begin(TAGS);
  const digests = await early.made();
  const publish = async (given = digests) =>
    publishRun(folder, staging, statement(staging, 3), systemClock, given);
  return { folder, staging, digests, publish };
}

test("the digests of finished files are those that the manifest states", async (t) => {
  const { digests, publish } = await digestedEarly(t);
  assert.deepEqual([...digests.keys()], TAGS);
  const { files } = await publish();
  for (const [path, { bytes, sha256 }] of digests) {
    const told = files.find((file) => file.path === path);
    assert.deepEqual([told?.bytes, told?.sha256], [bytes, sha256]);
  }
});

const AS_MADE = "0".repeat(64);

test("a digest that was made before counts, as long as the file is as it was", async (t) => {
  const { digests, publish } = await digestedEarly(t);
  const given = new Map(Array.from(digests, ([path, digest]) => [path, { ...digest, sha256: AS_MADE }]));
  const { files } = await publish(given);
  assert.deepEqual(
    TAGS.map((path) => files.find((file) => file.path === path)?.sha256),
    [AS_MADE, AS_MADE],
  );
});

test("a file that was written anew is digested anew, though nothing in it is another", async (t) => {
  const { staging, digests, publish } = await digestedEarly(t);
  const file = join(staging.result, FIRST);
  await writeFile(file, await readFile(file));
  const given = new Map(Array.from(digests, ([path, digest]) => [path, { ...digest, sha256: AS_MADE }]));
  const { files } = await publish(given);
  assert.equal(files.find(({ path }) => path === FIRST)?.sha256, digests.get(FIRST)?.sha256);
});

const changes: Record<string, (file: string) => Promise<unknown>> = {
  "is gone": (file) => rm(file),
  "was cut": (file) => writeFile(file, "PAR1"),
  "has another content of the same length": async (file) => {
    await writeFile(file, Buffer.alloc((await readFile(file)).length));
  },
};

for (const [what, change] of Object.entries(changes)) {
  test(`I4: a file that ${what} since its digest was made is not published`, async (t) => {
    const { folder, staging, publish } = await digestedEarly(t);
    await change(join(staging.result, FIRST));
    await assert.rejects(publish(), { code: "verify.failed" });
    assert.deepEqual(await runsIn(folder), []);
  });
}

test("what is given up gives nothing, and when it has ended no file is open", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  const { result } = await buildResult(folder, await nextRun(folder, NIGHT), 3);
  const paths = Array.from({ length: 1000 }, () => TAGS).flat();
  for (const milliseconds of [0, 10, 30]) {
    const early = new EarlyDigests(result);
    early.begin(paths);
    await delay(milliseconds);
    await early[Symbol.asyncDispose]();
    assert.deepEqual(await openFilesIn(result), []);
    assert.equal((await early.made()).size, 0);
  }
  await new EarlyDigests(result)[Symbol.asyncDispose]();
});

test("a file that cannot be read has no digest, and the others have theirs", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  const { result } = await buildResult(folder, await nextRun(folder, NIGHT), 3);
  await using early = new EarlyDigests(result);
  early.begin(["parquet/none.parquet", ...TAGS]);
  assert.deepEqual([...(await early.made()).keys()], TAGS);
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
