import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cp, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { WarehouseError } from "../../src/common/errors.ts";
import { removeTree } from "../../src/common/tree.ts";
import type { Target, TargetRun } from "../../src/pipeline.ts";
import { probeTargets, readTargetBaseline, restoreNewest } from "../../src/targets/restore.ts";
import { createStaging, nextRun, outputFolder, pointCurrentAt, runsIn } from "../../src/warehouse/layout.ts";
import { prepareOutput } from "../../src/warehouse/lock.ts";
import { finishPublication } from "../../src/warehouse/publish.ts";
import { verifyRuns } from "../../src/warehouse/verify-run.ts";
import { temporaryFolder } from "../folders.ts";
import { NIGHT, publish } from "../warehouse/published.ts";
import { memoryTarget } from "./memory-target.ts";

/** Two runs that another machine published. */
const elsewhere = join(await temporaryFolder({ after }), "elsewhere");
const kept = join(elsewhere, "runs");
const keptRun = ({ run, sequence }: TargetRun): TargetRun => ({ run, sequence });
const [first, last] = [keptRun(await publish(elsewhere)), keptRun(await publish(elsewhere))];

/** A target that keeps them. */
function keeping(last: TargetRun) {
  return {
    ...memoryTarget("keeper"),
    last: async () => last,
    restore: async ({ run }: TargetRun, directory: string) =>
      cp(join(kept, run), directory, { recursive: true }),
  };
}

async function meet(out: string, targets: readonly Target[]): Promise<string[]> {
  const folder = await prepareOutput(out);
  const warnings: string[] = [];
  const signal = new AbortController().signal;
  const options = { instance: null, signal, warn: (message: string) => void warnings.push(message) };
  await restoreNewest(folder, await probeTargets(folder, targets, options), options);
  return warnings;
}

const current = (out: string) => readlink(join(out, "current"));

test("an empty disk gets the run that the target keeps, whole and current", async (t) => {
  const out = join(await temporaryFolder(t), "here");
  assert.deepEqual(await meet(out, [keeping(last)]), [
    `Restored the run ${last.run} from the target keeper: this run continues from it.`,
  ]);
  assert.equal(await current(out), `runs/${last.run}`);
  const { findings, runs } = await verifyRuns(outputFolder(out), undefined, join(out, "tmp"));
  assert.deepEqual([findings, runs.map(({ run }) => run)], [[], [last.run]]);
  assert.match(await nextRun(outputFolder(out), NIGHT), /^000003-/);
  assert.deepEqual(await meet(out, [keeping(last)]), []);
});

test("a run of another machine wins over one that is not later, and a later one stays", async (t) => {
  const out = join(await temporaryFolder(t), "here");
  const { run: own } = await publish(out);
  const [warning = ""] = await meet(out, [keeping(last)]);
  assert.match(
    warning,
    new RegExp(`continues from it, not from ${own} on this machine; ${own} stays in runs/`),
  );
  assert.equal(await current(out), `runs/${last.run}`);
  const { run: later } = await publish(out, 3, last.run);
  await removeTree(join(out, "runs", last.run));
  assert.deepEqual(await meet(out, [keeping(last)]), []);
  assert.equal(await current(out), `runs/${later}`);
});

test("a run of the same name is restored beside one's own, also where that was killed before it was current", async (t) => {
  const sha256 = createHash("sha256")
    .update(await readFile(join(kept, first.run, "manifest.json")))
    .digest("hex");
  const out = join(await temporaryFolder(t), "here");
  const { run: own } = await publish(out, 4);
  assert.equal(own, first.run);
  const keeper = keeping({ ...first, sha256 });
  assert.equal((await meet(out, [keeper])).length, 1);
  const beside = `${own}-${sha256.slice(0, 8)}`;
  assert.equal(await current(out), `runs/${beside}`);
  const folder = outputFolder(out);
  await pointCurrentAt(folder, own);
  await createStaging(folder, beside);
  await finishPublication(folder);
  assert.equal(await current(out), `runs/${beside}`);
  const { findings, runs } = await verifyRuns(folder, undefined, join(out, "tmp"));
  assert.deepEqual([findings, runs.map(({ run }) => run)], [[], [beside, own]]);
  assert.deepEqual(await meet(out, [keeper]), []);
  assert.match(await nextRun(folder, NIGHT), /^000002-/);
});

test("another run than the one that was asked for is refused", async (t) => {
  const out = join(await temporaryFolder(t), "here");
  await assert.rejects(meet(out, [keeping({ ...first, sha256: "0".repeat(64) })]), {
    code: "verify.failed",
    message:
      /returned the run 1 \(000001-\S+ manifest \w{8}\) instead of the run 1 \(000001-\S+ manifest 00000000\)/,
  });
  assert.deepEqual(await runsIn(outputFolder(out)), []);
});

test("what does not come as it was published is refused, and nothing is changed", async (t) => {
  const damaged: Target = {
    ...keeping(first),
    restore: async ({ run }, directory) => {
      await cp(join(kept, run), directory, { recursive: true });
      const file = join(directory, "parquet/content/content-000001-0000.parquet");
      const bytes = await readFile(file);
      bytes[10] = 255 - (bytes[10] ?? 0);
      await rm(file, { force: true });
      await writeFile(file, bytes);
    },
  };
  const out = join(await temporaryFolder(t), "here");
  await assert.rejects(meet(out, [damaged]), {
    code: "verify.failed",
    message: /content-000001-0000\.parquet has/,
  });
  assert.deepEqual(await runsIn(outputFolder(out)), []);
});

test("no run comes back into a folder of limited runs", async (t) => {
  const out = join(await temporaryFolder(t), "first-look");
  const { run } = await publish(out);
  const file = join(out, "current", "manifest.json");
  const manifest = JSON.parse(await readFile(file, "utf8"));
  await rm(file, { force: true });
  await writeFile(file, JSON.stringify({ ...manifest, verdict: "limited" }));
  await assert.rejects(meet(out, [keeping(last)]), {
    code: "config.invalid",
    message: /has limited runs, and this run is a full one/,
  });
  assert.equal(await current(out), `runs/${run}`);
});

test("a target that cannot be asked keeps no run from beginning, unless it may have all that was before", async (t) => {
  const down = {
    ...memoryTarget(),
    last: () => Promise.reject(new WarehouseError("target.unavailable", "Down; wait.")),
  };
  const out = join(await temporaryFolder(t), "here");
  assert.deepEqual(await meet(out, [down]), [
    "Down; wait. The run continues; it will be delivered after publication.",
  ]);
  const keeper = { ...down, restore: async () => {} };
  await assert.rejects(meet(out, [keeper]), { code: "target.unavailable" });
  await publish(out);
  assert.equal((await meet(out, [keeper])).length, 1);
});

test("a target's own code may throw at once, or give bytes and no promise", async (t) => {
  const folder = await prepareOutput(join(await temporaryFolder(t), "here"));
  const { signal } = new AbortController();
  const asked = { instance: null, signal, warn: () => {} };
  const broken = () => {
    throw new TypeError("no such place");
  };
  const failure = { code: "target.refused", message: /keeper.*no such place/ };
  const look = async (own: object) => {
    const target = { ...keeping(first), ...own };
    return readTargetBaseline(folder, await probeTargets(folder, [target], asked), signal);
  };
  await assert.rejects(look({ manifest: broken }), failure);
  const bytes = await readFile(join(kept, first.run, "manifest.json"));
  const found = await look({ manifest: () => bytes });
  assert.equal(found?.baseline.kind, "run");
  const states = await probeTargets(folder, [{ ...keeping(first), restore: broken }], asked);
  await assert.rejects(restoreNewest(folder, states, asked), failure);
});
