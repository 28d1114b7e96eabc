import assert from "node:assert/strict";
import { mkdir, readdir, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { rollback } from "../../src/warehouse/retention.ts";
import { program } from "../cli/running.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { publish } from "../warehouse/published.ts";
import { scriptedWorld, temporaryFolder } from "./running.ts";

/** Numbers of the published runs. */
async function numbersIn(out: string): Promise<number[]> {
  return (await readdir(join(out, "runs"))).map((run) => Number(run.slice(0, 6))).sort();
}

test("F19: a run that fails removes nothing, one that is published what is older than the kept ones, and undoes a rollback", async (t) => {
  const { out, exported } = await scriptedWorld(t);
  for (let night = 0; night < 2; night++) await exported();
  await rollback(outputFolder(out), "1");
  await failsWith("disk.full", exported({ config: { keepRuns: 1 }, freeBytes: async () => 0 }));
  assert.deepEqual(await numbersIn(out), [1, 2]);
  const { removedRuns } = await exported({ config: { keepRuns: 1 } });
  assert.equal(removedRuns.length, 2);
  assert.deepEqual(await numbersIn(out), [3]);
});

long("a failure to remove old runs is told, and takes nothing from the run that was published", async (t) => {
  const { out, exported } = await scriptedWorld(t);
  await exported();
  // Named as a run and none: nothing that can be removed.
  await symlink("nowhere", join(out, "runs", "000001-20251120T020000Z"));
  const { warnings, removedRuns, directory } = await exported({ config: { keepRuns: 1 } });
  assert.deepEqual(removedRuns, []);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /^Old runs could not be removed: .* does not exist/);
  assert.equal(join(out, await readlink(join(out, "current"))), directory);
});

long("runs prune keeps as many as the configuration in the working directory says", async (t) => {
  const out = await temporaryFolder(t);
  for (let night = 0; night < 4; night++) await publish(out, 1);
  const cwd = join(out, "work");
  await mkdir(cwd);
  await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify({ keepRuns: 3 }));
  assert.equal((await program(["runs", "prune", "--warehouse", out], { cwd })).code, 0);
  assert.deepEqual(await numbersIn(out), [2, 3, 4]);
  assert.equal((await program(["runs", "prune", "--keep", "1", "--warehouse", out], { cwd })).code, 0);
  assert.deepEqual(await numbersIn(out), [4]);
});

long("F6: without room for a quarter more than the last run took, no request is made", async (t) => {
  const { service, out, exported } = await scriptedWorld(t);
  const first = await exported({ freeBytes: async () => 0 });
  service.questions.length = 0;
  const asked: string[] = [];
  const free = (bytes: number | undefined) => async (folder: string) => {
    asked.push(folder);
    return bytes;
  };
  const { peakBytes = 0 } = await readManifest(first.directory);
  assert.ok(peakBytes >= first.bytesPublished, `${peakBytes} of ${first.bytesPublished} bytes`);
  const needed = Math.ceil(1.25 * peakBytes);
  const error = await failsWith("disk.full", exported({ freeBytes: free(needed - 1) }));
  assert.equal(error.exitCode, 30);
  assert.match(error.message, /has \d+\.\d MB free, and a run may take \d+\.\d MB; free space/);
  assert.deepEqual(service.questions, []);
  assert.deepEqual(asked, [out]);
  assert.equal(await readlink(join(out, "current")), `runs/${first.run}`);
  const second = await exported({ freeBytes: free(needed) });
  await exported({ freeBytes: free(undefined) });
  assert.equal(second.sequence, 2);
});
