/** Runs of several machines, or on an empty disk, that have one target. */
import assert from "node:assert/strict";
import { chmod, cp, readdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { deliverCommand } from "../../src/cli/commands/deliver.ts";
import { restoreCommand } from "../../src/cli/commands/restore.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { WarehouseError } from "../../src/common/errors.ts";
import { removeTree } from "../../src/common/tree.ts";
import { exitCodeOf } from "../../src/observe/outcome.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import type { Target } from "../../src/pipeline.ts";
import { lake, lakeIn } from "../../src/targets/lake/lake.ts";
import type { Store } from "../../src/targets/store/store.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { listRuns, rollback } from "../../src/warehouse/retention.ts";
import { verifyRuns } from "../../src/warehouse/verify-run.ts";
import { outcome } from "../cli/capture.ts";
import { few, long } from "../long.ts";
import { memoryStore } from "../targets/lake/memory-store.ts";
import { snapshotsIn } from "../targets/lake/runs.ts";
import { memoryTarget } from "../targets/memory-target.ts";
import { exportFrom, HISTORY, temporaryFolder } from "./running.ts";
import { type Item, itemsOf, Scripted } from "./scripted.ts";
import { dies, digestIn, type Machine, nightOn, type World, worldOf } from "./two-machines.ts";

const INSTANCE = "main";
const MACHINES: readonly Machine[] = ["A", "B"];

interface LakeWorld extends World {
  readonly store: Store;
}

/** Both machines have the one run that the lake has. */
async function inOneHistory(t: TestContext, given: World["given"] = {}): Promise<LakeWorld> {
  const store = memoryStore(new Map());
  const target = lakeIn(async () => store, { instance: INSTANCE });
  const world = { ...(await worldOf(t, target)), given };
  await nightOn(world, "A", 0);
  await cp(world.folders.A, world.folders.B, { recursive: true, verbatimSymlinks: true });
  return { ...world, store };
}

/**
 * Each run in the lake goes on from the one before it there, and says what changed since that one; both warehouses are
 * on that history, whole, and keep what was put aside.
 */
async function assertOneHistory({ read, folders, store }: LakeWorld): Promise<void> {
  const rows = (await snapshotsIn(store, INSTANCE)).toSorted((a, b) => a.delivery - b.delivery);
  const runs = [...new Map(rows.map((row) => [row.delivery, row])).values()];
  const directories = await directoriesIn(folders);
  const itemsOf = (sha256: string) => read.get(sha256) ?? assert.fail(`nobody made ${sha256}`);
  let before: string | undefined;
  for (const { run, sha256 } of runs) {
    const stated = await readManifest(directories.get(sha256) ?? assert.fail(`nobody has ${run}`));
    if (before !== undefined) {
      assert.equal(stated.previousSha256, before, `${run} goes on from the last run of the lake`);
      assert.deepEqual(stated.changes, changesBetween(itemsOf(before), itemsOf(sha256)), run);
    }
    before = sha256;
  }
  const delivered = runs.map(({ sha256 }) => sha256);
  const last = await Promise.all(MACHINES.map((machine) => digestIn(join(folders[machine], "current"))));
  assert.ok(last.includes(delivered.at(-1) ?? ""), "the last run of the lake is current where it was made");
  for (const sha256 of last) assert.ok(delivered.includes(sha256), "each current run is in the lake");
  for (const sha256 of read.keys()) assert.ok(directories.has(sha256), "no run is gone");
}

/** What became of the items between two runs. */
function changesBetween(before: readonly Item[], after: readonly Item[]) {
  const times = new Map(before.map(({ id, updated_at }) => [id, updated_at]));
  const kept = after.filter(({ id }) => times.has(id));
  return {
    new: after.length - kept.length,
    edited: kept.filter(({ id, updated_at }) => times.get(id) !== updated_at).length,
    removed: before.length - kept.length,
  };
}

/** Folders of all runs of both, by the SHA-256 of their manifests. */
async function directoriesIn(folders: World["folders"]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const machine of MACHINES) {
    const folder = outputFolder(folders[machine]);
    const { runs, findings } = await verifyRuns(folder, undefined, join(folder.root, "tmp"));
    assert.deepEqual(findings, []);
    for (const { run } of runs) found.set(await digestIn(join(folder.runs, run)), join(folder.runs, run));
  }
  return found;
}

const PUT_ASIDE =
  /^Restored the run (000002-\S+) from the target lake as runs\/\1-[0-9a-f]{8}: this run continues from it, not from \1 on this machine;/;
const LATER =
  /^Restored the run 000003-\S+ from the target lake: this run continues from it, not from 000002-\S+ on this machine;/;

/** The lake has the run of A, and B has published another of its name, which it delivers too late, or never. */
const FORKS = [false, true].flatMap((isKilled) => MACHINES.map((next) => ({ isKilled, next })));

for (const { isKilled, next } of few(FORKS, 1)) {
  const what = `B ${isKilled ? "dies before it delivers" : "delivers late"}; ${next} runs first the next night`;
  test(`two runs of one second, and one history: ${what}`, async (t) => {
    const world = await inOneHistory(t);
    const won: unknown[] = [];
    const lost = await nightOn(world, "B", 1, async () => {
      const { run, ...other } = await nightOn(world, "A", 1);
      won.push(run, exitCodeOf({ run, ...other }));
      if (isKilled) await dies();
    });
    assert.deepEqual([...won, exitCodeOf(lost)], [lost.run, 0, 26], "both have one name");
    const second = next === "A" ? "B" : "A";
    for (const machine of [next, second] as const)
      assert.equal(exitCodeOf(await nightOn(world, machine, machine === next ? 2 : 3)), 0);
    await assertOneHistory(world);
    const warned = world.warnings.B.filter((each) => PUT_ASIDE.test(each) || LATER.test(each));
    assert.equal(warned.length, 1, world.warnings.B.join("\n"));
    assert.match(warned[0] ?? "", next === "B" ? PUT_ASIDE : LATER);
    const ofA =
      next === "B"
        ? [/^Restored the run 000003-\S+ from the target lake: this run continues from it\.$/]
        : [];
    assert.equal(world.warnings.A.length, ofA.length);
    for (const sentence of ofA) assert.match(world.warnings.A.join(), sentence);
  });
}

const AWAY = async () => {
  throw new WarehouseError("target.unavailable", "Nobody answers; try again.");
};

/** Nights of a machine from `from` to `to` that do not reach the lake, each keeping only its own run. */
async function nightsAway(world: World, machine: Machine, from: number, to: number): Promise<RunSummary[]> {
  const away = { ...world, target: { ...world.target, last: AWAY }, given: { ...world.given, keepRuns: 1 } };
  const nights: RunSummary[] = [];
  for (let night = from; night <= to; night++) nights.push(await nightOn(away, machine, night));
  assert.ok(nights.every((each) => exitCodeOf(each) === 26));
  return nights;
}

test("L1: a run of a copied warehouse does not replace what the lake got from the other copy meanwhile", async (t) => {
  const world = await inOneHistory(t);
  await nightOn(world, "A", 1);
  await nightsAway(world, "B", 1, 3);
  const { failure } = (await nightOn(goneFirst(world), "B", 4)).deliveries[0] ?? assert.fail();
  assert.equal(failure?.code, "target.fenced");
  assert.match(
    failure?.message ?? "",
    /has run 2 \(.*\) of this instance, which is not in the history .*; run again, .*, or, .* "content-warehouse lake remove INSTANCE" and then "content-warehouse deliver"\.$/,
  );
  const next = await nightOn(world, "B", 5);
  assert.deepEqual([next.sequence, exitCodeOf(next)], [6, 0]);
  assert.match(world.warnings.B.join("\n"), /Restored the run 000002-\S+ .* not from 000005-/);
});

/** The target does not answer at the beginning of a run, and does when the run is delivered. */
function goneFirst(world: World): World {
  let asked = 0;
  const last: Target["last"] = async (...given) => (asked++ === 0 ? AWAY() : world.target.last(...given));
  return { ...world, target: { ...world.target, last } };
}

test("L1: a run proves that it continues the lake's, however many nights the lake was away", async (t) => {
  const world = await inOneHistory(t);
  const kept = async () => (await listRuns(outputFolder(world.folders.B))).map(({ sequence }) => sequence);
  await nightsAway(world, "B", 1, 10);
  assert.deepEqual(await kept(), [11]);
  assert.equal(exitCodeOf(await nightOn(world, "B", 11)), 0);

  await t.test("after a restore", async () => {
    await removeTree(world.folders.B);
    await nightOn(world, "B", 12, dies);
    await nightsAway(world, "B", 13, 14);
    assert.deepEqual(await kept(), [15]);
    assert.equal(exitCodeOf(await nightOn(world, "B", 15)), 0);
  });

  await t.test("after a rollback from the lake's last run", async () => {
    const [last = 0, before] = await kept();
    await rollback(outputFolder(world.folders.B), String(before));
    await nightsAway(world, "B", 16, 17);
    assert.deepEqual(await kept(), [last + 2]);
    assert.equal(exitCodeOf(await nightOn(world, "B", 18)), 0);
    assert.deepEqual(world.warnings.B.filter((each) => each.startsWith("Restored")).length, 1);
  });
});

test("L1: a run whose history had to begin anew proves that it continues the lake's", async (t) => {
  const world = await inOneHistory(t, { pipelineUrl: HISTORY });
  await nightsAway(world, "B", 1, 2);
  const table = join(world.folders.B, "current", "parquet", "run_history");
  for (const name of await readdir(table)) await damage(join(table, name));
  const [anew] = await nightsAway(world, "B", 3, 4);
  assert.match(JSON.stringify(anew?.warnings), /The history starts over with this run/);
  const last = await nightOn(world, "B", 5);
  assert.deepEqual([last.sequence, exitCodeOf(last)], [6, 0]);
});

async function damage(file: string): Promise<void> {
  await chmod(file, 0o644);
  await writeFile(file, "damaged");
}

long("commands tell the run of another machine from one's own of the same name", async (t) => {
  const folder = await temporaryFolder(t);
  const options = { url: pathToFileURL(join(folder, "lake")).href, instance: INSTANCE };
  const configured = { targets: [{ type: "lake", ...options }] };
  await writeFile(join(folder, "content-warehouse.config.json"), JSON.stringify(configured));
  const world = await worldOf(t, lake(options));
  const lost = await nightOn(world, "B", 0, () => nightOn(world, "A", 0));
  const [delivery] = lost.deliveries;
  assert.equal(delivery?.failure?.code, "target.fenced");
  const name = "000001-20261120T020000Z";
  const here = world.folders.B;
  const ask = (make: Parameters<typeof outcome>[0], ...args: string[]) =>
    outcome(make, [...args, "--warehouse", here], { cwd: folder });
  const targets = await ask(runsCommand, "show", "--section", "targets");
  assert.match(targets.text, /│ another run 1, from another machine +│/);
  assert.equal((await ask(deliverCommand)).error?.code, "target.fenced");
  const beside = `${name}-${(await digestIn(join(world.folders.A, "current"))).slice(0, 8)}`;
  assert.equal(
    (await ask(restoreCommand)).text,
    `restored ${name} from lake, as ${beside}, because the folder has another run of that name; it is current now\n`,
  );
  assert.equal(await readlink(join(here, "current")), `runs/${beside}`);
  const again = await ask(restoreCommand);
  assert.match(again.text, new RegExp(`already has run ${beside}, and it is current\n$`));
  assert.match((await ask(runsCommand, "show", "--section", "targets")).text, /│ run 1, as here +│/);
  assert.match((await ask(deliverCommand)).text, new RegExp(`^lake: already has ${name}`));
  const { text } = await ask(runsCommand, "list");
  assert.match(text, new RegExp(`│ \\* │ ${beside} │[^]*│ / │ ${name} +│`));
  assert.match((await ask(runsCommand, "show", "1")).error?.message ?? "", /^Several runs have the number 1/);
  await ask(runsCommand, "rollback", name);
  const next = await nightOn(world, "B", 1);
  assert.deepEqual([next.sequence, exitCodeOf(next)], [2, 0], "who rolled back decided that");
  const { previousSha256 } = await readManifest(join(here, "current"));
  assert.equal(previousSha256, await digestIn(join(here, "runs", name)));
  assert.deepEqual(world.warnings.B, []);
});

long(
  "two nights that were never delivered do not take the place of what the lake got meanwhile",
  async (t) => {
    const world = await inOneHistory(t);
    await nightOn(world, "B", 1, dies);
    const late = await nightOn(world, "B", 2, () => nightOn(world, "A", 1));
    assert.match(
      late.deliveries[0]?.failure?.message ?? "",
      /has run 2 \(.*\) of this instance, which is not in the history that this warehouse can prove/,
    );
    const next = await nightOn(world, "B", 3);
    assert.deepEqual([next.sequence, exitCodeOf(next)], [4, 0]);
    await nightOn(world, "A", 4);
    await assertOneHistory(world);
    assert.equal(world.warnings.B.filter((each) => each.startsWith("Restored")).length, 1);
  },
);

long("a run on an empty disk is above the run that its target was rolled back from", async (t) => {
  const service = await Scripted.start(t, itemsOf(5));
  const out = join(await temporaryFolder(t), "warehouse");
  const rollbackOf = { run: "000041-20261121T020000Z", sequence: 41 };
  const last = { run: "000040-20261120T020000Z", sequence: 40, rollbackOf };
  const target = { ...memoryTarget(), last: async () => last };
  const { sequence } = await exportFrom({ url: service.url, out, config: { targets: [target] } });
  assert.equal(sequence, 42);
});
