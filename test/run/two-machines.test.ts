import assert from "node:assert/strict";
import { cp, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { deliverCommand } from "../../src/cli/commands/deliver.ts";
import { restoreCommand } from "../../src/cli/commands/restore.ts";
import { runsCommand } from "../../src/cli/commands/runs.ts";
import { exitCodeOf } from "../../src/observe/outcome.ts";
import { lake, lakeIn } from "../../src/targets/lake/lake.ts";
import type { Store } from "../../src/targets/store/store.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { verifyRuns } from "../../src/warehouse/verify-run.ts";
import { outcome } from "../cli/capture.ts";
import { long, sweep } from "../long.ts";
import { memoryStore } from "../targets/lake/memory-store.ts";
import { snapshotsIn } from "../targets/lake/runs.ts";
import { temporaryFolder } from "./running.ts";
import {
  changesBetween,
  deliverCurrent,
  digestIn,
  MACHINES,
  type Machine,
  nightOf,
  steps,
  type World,
  worldOf,
} from "./two-machines.ts";

const INSTANCE = "main";

interface LakeWorld extends World {
  readonly store: Store;
}

/** Both machines have the one run that the lake has. */
async function inOneHistory(t: TestContext): Promise<LakeWorld> {
  const store = memoryStore(new Map());
  const world = await worldOf(
    t,
    lakeIn(async () => store, { instance: INSTANCE }),
  );
  await nightOf(world, { night: 0, order: steps("A") });
  await cp(world.folders.A, world.folders.B, { recursive: true, verbatimSymlinks: true });
  return { ...world, store };
}

const inTurn = (first: Machine) =>
  [first, first === "A" ? "B" : "A"].flatMap((each) => steps(each as Machine));

/** Manifests of the runs in the lake, in the order of their deliveries. */
async function deliveredIn(store: Store): Promise<{ readonly run: string; readonly sha256: string }[]> {
  const rows = (await snapshotsIn(store, INSTANCE)).toSorted((a, b) => a.delivery - b.delivery);
  return [...new Map(rows.map((row) => [row.delivery, row])).values()];
}

/**
 * Each run in the lake goes on from the one before it there, and says what changed since that one; both warehouses are on that
 * history, whole, and keep what was put aside.
 */
async function assertOneHistory({ read, folders, store }: LakeWorld): Promise<void> {
  const runs = await deliveredIn(store);
  const directories = await directoriesIn(folders);
  let before: string | undefined;
  for (const { run, sha256 } of runs) {
    const stated = await readManifest(directories.get(sha256) ?? assert.fail(`nobody has ${run}`));
    if (before !== undefined) {
      assert.equal(stated.previousSha256, before, `${run} goes on from the last run of the lake`);
      assert.deepEqual(stated.changes, changesBetween(itemsOf(read, before), itemsOf(read, sha256)), run);
    }
    before = sha256;
  }
  const delivered = runs.map(({ sha256 }) => sha256);
  const last = await Promise.all(MACHINES.map((machine) => digestIn(join(folders[machine], "current"))));
  assert.ok(last.includes(delivered.at(-1) ?? ""), "the last run of the lake is current where it was made");
  for (const sha256 of last) assert.ok(delivered.includes(sha256), "each current run is in the lake");
  for (const sha256 of read.keys()) assert.ok(directories.has(sha256), "no run is gone");
}

function itemsOf(read: World["read"], sha256: string) {
  return read.get(sha256) ?? assert.fail(`nobody made ${sha256}`);
}

/** Folders of all runs of both, by the SHA-256 of their manifests. */
async function directoriesIn(folders: World["folders"]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const machine of MACHINES) {
    const folder = outputFolder(folders[machine]);
    const { runs, findings } = await verifyRuns(folder, { all: true }, join(folder.root, "tmp"));
    assert.deepEqual(findings, []);
    for (const { run } of runs) found.set(await digestIn(join(folder.runs, run)), join(folder.runs, run));
  }
  return found;
}

/** Each ends in the same: the lake has the run of one machine, and the other one has published another of its name. */
const FORKS = [
  { name: "A delivers first", order: ["A", "B", ...steps("A", 3), ...steps("B", 3)] },
  { name: "B delivers first", order: ["A", "B", ...steps("B", 3), ...steps("A", 3)] },
  { name: "B asks before A delivers", order: ["A", "B", "B", ...steps("A", 3), ...steps("B", 2)] },
  { name: "B uploads before A delivers", order: ["A", "B", "B", "B", ...steps("A", 3), "B"] },
  { name: "A uploads before B delivers", order: ["B", "A", "A", "A", ...steps("B", 3), "A"] },
  { name: "B dies before it delivers", order: ["A", "B", ...steps("A", 3), "B"], killed: ["B"] },
  { name: "A dies before it delivers", order: ["A", "B", "A", ...steps("B", 3)], killed: ["A"] },
] satisfies { name: string; order: Machine[]; killed?: Machine[] }[];

const SCHEDULES = FORKS.flatMap((fork) => MACHINES.map((next) => ({ killed: [], ...fork, next })));

const PUT_ASIDE =
  /^Restored the run (000002-\S+) from the target lake as runs\/\1-[0-9a-f]{8}: this run continues from it, not from \1 on this machine, another run 2;/;
const LATER =
  /^Restored the run 000003-\S+ from the target lake: this run continues from it, not from 000002-\S+ on this machine;/;

for (const { name, order, killed, next } of sweep(SCHEDULES, 4)) {
  long(`two runs of one second, and one history: ${name}; ${next} runs first the next night`, async (t) => {
    const world = await inOneHistory(t);
    const forked = await nightOf(world, { night: 1, order, killed });
    const summaries = [...forked.values()];
    assert.equal(new Set(summaries.map(({ run }) => run)).size, 1, "both have one name");
    assert.deepEqual(summaries.map(exitCodeOf).toSorted(), [0, 26]);
    const [loser] = [...forked].find(([, summary]) => exitCodeOf(summary) === 26) ?? assert.fail();
    const later = await nightOf(world, { night: 2, order: inTurn(next) });
    assert.deepEqual([...later.values()].map(exitCodeOf), [0, 0]);
    await assertOneHistory(world);
    const warned = world.warnings[loser].filter((each) => PUT_ASIDE.test(each) || LATER.test(each));
    assert.equal(warned.length, 1, world.warnings[loser].join("\n"));
    assert.match(warned[0] ?? "", loser === next ? PUT_ASIDE : LATER);
  });
}

long("commands tell the run of another machine from one's own of the same name", async (t) => {
  const folder = await temporaryFolder(t);
  const options = { url: pathToFileURL(join(folder, "lake")).href, instance: INSTANCE };
  const configured = { targets: [{ type: "lake", ...options }] };
  await writeFile(join(folder, "content-warehouse.config.json"), JSON.stringify(configured));
  const world = await worldOf(t, lake(options));
  const forked = await nightOf(world, { night: 0, order: FORKS[0]?.order ?? [] });
  const [delivery] = forked.get("B")?.deliveries ?? [];
  assert.equal(delivery?.failure?.code, "target.fenced");
  const name = "000001-20261120T020000Z";
  assert.match(
    delivery.failure.message,
    new RegExp(
      `^The target lake has another run 1 \\(${name}, manifest \\w{8}\\) of this instance, from another machine, so run 1 \\(${name}, manifest \\w{8}\\) can no longer be delivered; run again, and the next run continues from it\\.$`,
    ),
  );
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
  assert.match(text, /; \/ is not in the history of the current run: replaced or rolled back\.\n/);
  assert.match((await ask(runsCommand, "show", "1")).error?.message ?? "", /^Several runs have the number 1/);
  assert.match(
    (await ask(runsCommand, "show", beside)).text,
    new RegExp(`^ {2}Run +${beside} \\(current\\)\n`),
  );
  await ask(runsCommand, "rollback", name);
  const { B } = Object.fromEntries(await nightOf(world, { night: 1, order: steps("B") }));
  assert.deepEqual([B?.sequence, B && exitCodeOf(B)], [2, 0], "who rolled back decided that");
  assert.equal(await previousIn(here), await digestIn(join(here, "runs", name)));
  assert.deepEqual(world.warnings.B, []);
});

async function previousIn(out: string): Promise<string | undefined> {
  return (await readManifest(join(out, "current"))).previousSha256;
}

test("machines that take turns go on from each other's runs, and nothing is said to be put aside", async (t) => {
  const world = await inOneHistory(t);
  await nightOf(world, { night: 1, order: steps("A") });
  await nightOf(world, { night: 2, order: steps("B") });
  await assertOneHistory(world);
  assert.match(
    world.warnings.B.join("\n"),
    /^Restored the run 000002-\S+ from the target lake: this run continues from it\.$/,
  );
});

long(
  "two nights that were never delivered do not take the place of what the lake got meanwhile",
  async (t) => {
    const world = await inOneHistory(t);
    await nightOf(world, { night: 1, order: ["A", "B", "A", "B"], killed: ["A", "B"] });
    await nightOf(world, { night: 2, order: steps("B"), killed: ["B"] });
    const [late] = await deliverCurrent(world, "A");
    assert.equal(late?.state, "delivered");
    const [apart] = await deliverCurrent(world, "B");
    assert.equal(apart?.failure?.code, "target.fenced");
    assert.match(
      apart?.failure?.message ?? "",
      /has run 2 \(.*\) of this instance, from another machine, which is not in the history/,
    );
    const { B } = Object.fromEntries(await nightOf(world, { night: 3, order: steps("B") }));
    assert.deepEqual([B?.sequence, B && exitCodeOf(B)], [4, 0]);
    await nightOf(world, { night: 4, order: steps("A") });
    await assertOneHistory(world);
    assert.equal(world.warnings.B.filter((each) => each.startsWith("Restored")).length, 1);
  },
);
