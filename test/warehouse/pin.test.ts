/** What is pinned stays current, whatever is published, replaced, restored or removed, and wherever a kill falls. */
import assert from "node:assert/strict";
import { mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/common/clock.ts";
import { readBaseline } from "../../src/warehouse/baseline.ts";
import { nextRun, type OutputFolder, prepareOutput } from "../../src/warehouse/layout.ts";
import { pinInEffect, removePin, writePin } from "../../src/warehouse/pin.ts";
import { prunedRuns } from "../../src/warehouse/pruned.ts";
import { finishPublication, publishRun } from "../../src/warehouse/publish.ts";
import { commitPlan, finishReplacement, stagedReplacement } from "../../src/warehouse/replacement/commit.ts";
import { listRuns, prune, rollback, unpin } from "../../src/warehouse/retention.ts";
import { pointCurrentAt } from "../../src/warehouse/run-folders.ts";
import { verifyRuns } from "../../src/warehouse/verify-run.ts";
import { temporaryFolder } from "../load/fixtures.ts";
import { buildResult, NIGHT, publish, statement } from "./published.ts";

const SINCE = new Date("2026-11-21T08:30:00.000Z");
const PINNED = { isPinned: true, at: SINCE };

/** Runs 1, 2, ... of which the last is current. */
async function warehouse(t: TestContext, runs: number) {
  const out = await temporaryFolder(t);
  for (let run = 1; run <= runs; run++) await publish(out, 1);
  return { out, folder: await prepareOutput(out) };
}

/** Numbers: the current run, the one that the next goes on from, and the pinned one. */
async function standing(folder: OutputFolder) {
  const runs = await listRuns(folder);
  const of = (is: (run: (typeof runs)[number]) => boolean) => runs.find(is)?.sequence ?? null;
  return {
    current: of((run) => run.current),
    latest: of((run) => run.latest),
    pinned: of((run) => run.pinnedSince !== null),
  };
}

const runOf = (sequence: number) => `${String(sequence).padStart(6, "0")}-20261120T020000Z`;

test("runs that are published while one is pinned go on from each other, and the last is current once it is unpinned", async (t) => {
  const { out, folder } = await warehouse(t, 2);
  assert.equal((await rollback(folder, "1", PINNED)).pinnedSince?.getTime(), SINCE.getTime());
  assert.deepEqual(await standing(folder), { current: 1, latest: 1, pinned: 1 });
  await publish(out, 1);
  const before = await readBaseline(folder);
  assert.deepEqual(before.kind === "run" && before.run, runOf(3));
  await publish(out, 1);
  assert.deepEqual(await standing(folder), { current: 1, latest: 4, pinned: 1 });
  assert.equal(await readlink(folder.current), `runs/${runOf(1)}`);
  assert.deepEqual(await unpin(folder), { run: runOf(1), latest: runOf(4), since: SINCE });
  assert.deepEqual(await standing(folder), { current: 4, latest: 4, pinned: null });
  await publish(out, 1);
  assert.deepEqual(await standing(folder), { current: 5, latest: 5, pinned: null });
  await assert.rejects(unpin(folder), {
    code: "config.invalid",
    exitCode: 2,
    message: /^Nothing is pinned in /,
  });
});

test("the current run can be pinned where it is, and pinning it again changes nothing", async (t) => {
  const { out, folder } = await warehouse(t, 2);
  await rollback(folder, "current", PINNED);
  await publish(out, 1);
  await rollback(folder, "2", { isPinned: true });
  assert.deepEqual(await standing(folder), { current: 2, latest: 3, pinned: 2 });
  assert.equal((await pinInEffect(folder))?.since.getTime(), SINCE.getTime());
});

test("a rollback while a run is pinned takes the pin along, and the next run goes on from there", async (t) => {
  const { out, folder } = await warehouse(t, 3);
  await rollback(folder, "2", PINNED);
  await publish(out, 1);
  const at = new Date("2026-11-23T09:00:00.000Z");
  await rollback(folder, "1", { at });
  assert.deepEqual(await standing(folder), { current: 1, latest: 1, pinned: 1 });
  assert.deepEqual((await pinInEffect(folder))?.since, at, "it is pinned there since then");
});

test("neither the pinned run nor the latest is ever removed", async (t) => {
  const { out, folder } = await warehouse(t, 2);
  await rollback(folder, "1", PINNED);
  await publish(out, 1);
  await publish(out, 1);
  await rollback(folder, "1");
  await writePin(folder, { run: runOf(1), latest: runOf(3), since: SINCE });
  const removed = await prune(folder, 1);
  assert.deepEqual(
    removed.map(({ sequence }) => sequence),
    [2],
  );
});

test("runs that were rolled back are known once they are pruned, as long as one before them is there", async (t) => {
  const { out, folder } = await warehouse(t, 3);
  const known = async () => (await prunedRuns(folder)).map(({ sequence }) => sequence);
  await rollback(folder, "1", PINNED);
  await publish(out, 1);
  await prune(folder, 1);
  assert.deepEqual(await known(), [3, 2]);
  await unpin(folder);
  await publish(out, 1);
  await prune(folder, 1);
  assert.deepEqual([await known(), (await listRuns(folder)).length], [[], 1]);
  await writeFile(folder.pruned, "[{");
  await assert.rejects(known(), {
    exitCode: 31,
    message: /\.pruned\.json is not as it was written.* remove it, and see with/,
  });
});

test("a kill leaves the run pinned or not, and the next command that changes the warehouse takes the rest", async (t) => {
  const { out, folder } = await warehouse(t, 2);
  // Pinning died before `current` was moved.
  await writePin(folder, { run: runOf(1), latest: runOf(1), since: SINCE });
  assert.deepEqual(await standing(folder), { current: 2, latest: 2, pinned: null });
  await finishPublication(folder);
  assert.deepEqual(await standing(folder), { current: 1, latest: 1, pinned: 1 });
  // A publication died before the pin knew of it.
  const staging = await buildResult(folder, await nextRun(folder, NIGHT), 1);
  await publishRun(folder, staging, statement(staging, 1), systemClock);
  await writePin(folder, { run: runOf(1), latest: runOf(1), since: SINCE });
  assert.equal(await finishPublication(folder), staging.run);
  assert.deepEqual(await standing(folder), { current: 1, latest: 3, pinned: 1 });
  // Unpinning died before the pin was gone.
  await pointCurrentAt(folder, runOf(3));
  await finishPublication(folder);
  assert.deepEqual(await standing(folder), { current: 1, latest: 3, pinned: 1 });
  await removePin(folder);
  await publish(out, 1);
  assert.deepEqual(await standing(folder), { current: 4, latest: 4, pinned: null });
});

test("runs that are replaced take the pin along, also where a kill fell into it", async (t) => {
  const { out, folder } = await warehouse(t, 2);
  await rollback(folder, "1", PINNED);
  await publish(out, 1);
  const replacements = [1, 2, 3].map((sequence) => ({ from: runOf(sequence), to: runOf(sequence + 3) }));
  for (const { to } of replacements) {
    const staging = await buildResult(folder, to, 1);
    await publishRun(folder, staging, statement(staging, 1), systemClock);
  }
  await rollback(folder, "1");
  await writePin(folder, { run: runOf(1), latest: runOf(3), since: SINCE });
  await prepareReplacement(folder, replacements);
  // The pin was moved, and nothing else.
  await writePin(folder, { run: runOf(4), latest: runOf(6), since: SINCE });
  await finishReplacement(folder);
  assert.deepEqual(await standing(folder), { current: 4, latest: 6, pinned: 4 });
  assert.deepEqual(
    (await listRuns(folder)).map(({ sequence }) => sequence),
    [6, 5, 4],
  );
});

/** As a kill left it that came once all replacements had their names. */
async function prepareReplacement(
  folder: OutputFolder,
  replacements: readonly { readonly from: string; readonly to: string }[],
): Promise<void> {
  for (const { to } of replacements)
    await mkdir(stagedReplacement(folder, to).root, { recursive: true, mode: 0o700 });
  await commitPlan(folder, replacements);
}

test("a pin that is not as it was written ends with 31, and one whose latest run is gone is a finding", async (t) => {
  const { out, folder } = await warehouse(t, 2);
  await rollback(folder, "1", PINNED);
  assert.deepEqual(JSON.parse(await readFile(folder.pin, "utf8")), {
    run: runOf(1),
    latest: runOf(1),
    since: SINCE.toISOString(),
  });
  await writePin(folder, { run: runOf(1), latest: runOf(9), since: SINCE });
  const { findings, runs } = await verifyRuns(folder, { run: "current" }, join(out, "tmp"));
  assert.match(findings.join(), /^The next run would go on from 000009-\S+, which is not there: /);
  assert.deepEqual(runs[0]?.pinnedSince, SINCE);
  for (const text of ["", "{", '{"run":"../..","latest":"x","since":"y"}']) {
    await writeFile(folder.pin, text);
    await assert.rejects(listRuns(folder), {
      exitCode: 31,
      message: new RegExp(`${basename(folder.pin)} is not as it was written.* remove it, and pin one with`),
    });
  }
});
