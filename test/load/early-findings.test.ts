import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
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

test("what is given up reads no further, and its failure is nobody's", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  const staging = await buildResult(folder, await nextRun(folder, NIGHT), 3);
  const early = earlyIn(staging);
  early.begin(TAGS);
  await early[Symbol.asyncDispose]();
  await assert.rejects(early.found(), { name: "AbortError" });
  await earlyIn(staging)[Symbol.asyncDispose]();
});
