/** `runs rollback` with targets: what is said of them, how they come back, and what other machines do then. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, cp, link, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { deliverCommand } from "../../../src/cli/commands/deliver.ts";
import { lakeCommand } from "../../../src/cli/commands/lake.ts";
import { restoreCommand } from "../../../src/cli/commands/restore.ts";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { verifyCommand } from "../../../src/cli/commands/verify.ts";
import { exitCodeOf } from "../../../src/observe/outcome.ts";
import { lake } from "../../../src/targets/lake/lake.ts";
import { FileStore } from "../../../src/targets/store/file-store.ts";
import { type PublishedFile, readManifest } from "../../../src/warehouse/manifest.ts";
import { missingPackage } from "../../missing-package.ts";
import { NEVER } from "../../never.ts";
import { temporaryFolder } from "../../run/running.ts";
import { dies, digestIn, type Machine, nightOn, type World, worldOf } from "../../run/two-machines.ts";
import { assertNothingMixed, snapshotsIn } from "../../targets/lake/runs.ts";
import { outcome } from "../capture.ts";

const INSTANCE = "main";
const [first, second] = ["000001-20261120T020000Z", "000002-20261121T020000Z"];

const lakeOptions = (folder: string) => ({
  url: pathToFileURL(join(folder, "lake")).href,
  instance: INSTANCE,
});
const lakeIn = (folder: string) => lake(lakeOptions(folder));

/** Copies a lake with two nights of the machine A, and gives the machine B the same two runs. */
async function copyOf(t: TestContext, base: World, from: string) {
  const folder = await temporaryFolder(t);
  const copy = (source: string, name: string) =>
    cp(source, join(folder, name), { recursive: true, verbatimSymlinks: true });
  await Promise.all([
    copy(join(from, "lake"), "lake"),
    ...["a", "b"].map((name) => copy(base.folders.A, name)),
  ]);
  const world: World = {
    ...base,
    target: lakeIn(folder),
    folders: { A: join(folder, "a"), B: join(folder, "b") },
    read: new Map(base.read),
    warnings: { A: [], B: [] },
  };
  const configure = (targets: readonly object[]) =>
    writeFile(join(folder, "content-warehouse.config.json"), JSON.stringify({ targets }));
  const options = lakeOptions(folder);
  await configure([{ type: "lake", ...options }]);
  const env = { ...process.env, npm_command: undefined, CONTENT_API_TOKEN: "token" };
  const ask =
    (machine: Machine) =>
    (make: Parameters<typeof outcome>[0], ...args: string[]) =>
      outcome(make, [...args, "--warehouse", world.folders[machine]], { cwd: folder, env });
  const statusOf = async (machine: Machine) => {
    const { text } = await ask(machine)(runsCommand, "show", "--section", "targets", "--format", "json");
    return JSON.parse(text).targets[0];
  };
  const store = new FileStore(join(folder, "lake"), NEVER);
  const night = (machine: Machine, at: number) => nightOn(world, machine, at);
  return { world, cwd: folder, configure, options, store, night, a: ask("A"), b: ask("B"), statusOf };
}

/** Changes a byte of a published file, where it is. */
async function damage(file: string): Promise<void> {
  const bytes = await readFile(file);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  await chmod(file, 0o644);
  await writeFile(file, bytes);
}

test("runs rollback, where a target has the runs", async (t) => {
  const folder = await temporaryFolder(t);
  const base = await worldOf(t, lakeIn(folder));
  for (const night of [0, 1]) await nightOn(base, "A", night);

  await t.test(
    "a rollback says what targets have, brings them back, and holds for other machines",
    async (t) => {
      const { world, cwd, store, night, statusOf, a, b } = await copyOf(t, base, folder);
      const { A, B } = world.folders;

      assert.equal(
        (await a(runsCommand, "rollback", "1")).text,
        `current is now ${first}\nif targets are configured, they keep the run that they have; "content-warehouse runs rollback 1 --deliver --warehouse a" brings them to it\n`,
      );
      const behind = await a(runsCommand, "show", "--section", "targets");
      assert.match(behind.text, /│ run 2; this warehouse is at 1 after a rollback +│/);
      const rollback = `content-warehouse runs rollback 1 --deliver`;
      assert.match(behind.text, new RegExp(`\nlake: "${rollback}" brings it to run 1\\.\n`));
      const parts = await statusOf("A");
      assert.deepEqual(
        [parts.run, parts.sequence, parts.rollback_of, parts.here, parts.state, parts.command],
        [second, 2, null, 1, "ahead", rollback],
      );
      const refused = await a(deliverCommand);
      assert.equal(refused.error?.exitCode, 26);
      const message = refused.error?.message ?? "";
      assert.match(
        message,
        /^The run 000001-\S+ is published, but was not delivered to lake: The target lake has the later run 2 \(.*\) of this instance, so run 1 \(.*\) can only be delivered/,
      );
      assert.ok(message.endsWith(` can only be delivered by a rollback: "${rollback}".`), message);

      const back = await a(runsCommand, "rollback", "1", "--deliver");
      assert.match(back.text, new RegExp(`^current is now ${first}\nlake: delivered ${first} in .*\n$`));
      assert.equal(
        (await a(runsCommand, "rollback", "1", "--deliver")).text,
        `current is now ${first}\nlake: already has ${first}\n`,
      );
      const there = await statusOf("A");
      assert.deepEqual(
        [there.says, there.state, there.rollback_of, there.command],
        ["run 1, as here, after a rollback from run 2", "current", 2, null],
      );
      const snapshots = await snapshotsIn(store, INSTANCE);
      assert.deepEqual(
        [...new Set(snapshots.map(({ delivery, sequence, run }) => `${delivery}: ${sequence} ${run}`))],
        [`1: 1 ${first}`, `2: 2 ${second}`, `3: 1 ${first}`],
      );
      await assertNothingMixed(store, INSTANCE);
      assert.match((await outcome(lakeCommand, ["verify", "--full"], { cwd })).text, /^Whole: run /);

      assert.equal((await statusOf("B")).says, "run 1, after a rollback from run 2; this warehouse is at 2");
      assert.match(
        (await b(deliverCommand)).error?.message ?? "",
        /The target lake was rolled back from run 2 \(.*\) to run 1 \(.*\) of this instance, so run 2 \(.*\) can only be delivered by a rollback: "content-warehouse runs rollback 2 --deliver"\.$/,
      );
      const next = await night("B", 2);
      assert.deepEqual([next.sequence, exitCodeOf(next)], [3, 0]);
      assert.equal(
        (await readManifest(join(B, "current"))).previousSha256,
        await digestIn(join(A, "runs", first)),
      );
      assert.deepEqual(world.warnings.B, [
        `The target lake was rolled back to the run ${first}: this run continues from it, not from ${second} on this machine; ${second} stays in runs/ until it is pruned, but is not part of the history.`,
      ]);
      const after = await night("A", 3);
      assert.deepEqual([after.sequence, exitCodeOf(after)], [4, 0]);
      assert.equal((await statusOf("A")).says, "run 4, as here");
      await assertNothingMixed(store, INSTANCE);
    },
  );

  await t.test("I9: a run with a changed file is delivered to no target, and not made current", async (t) => {
    const { world, cwd, options, a } = await copyOf(t, base, folder);
    const runs = join(world.folders.A, "runs");
    const [before, now] = [await readManifest(join(runs, first)), await readManifest(join(runs, second))];
    const sameAs = ({ sha256 }: PublishedFile) => before.files.find((each) => each.sha256 === sha256)?.path;
    const isShared = (file: PublishedFile) => file.path.startsWith("parquet/") && sameAs(file) !== undefined;
    const file = now.files.find(isShared) ?? assert.fail();
    const path = join(runs, second, file.path);
    await chmod(dirname(path), 0o755);
    // The copy has no links.
    await rm(path);
    await link(join(runs, first, sameAs(file) ?? ""), path);
    await damage(path);
    const asked = join(cwd, "asked");
    await writeFile(
      join(cwd, "targets.mjs"),
      `import { writeFileSync } from "node:fs";
      const last = async () => writeFileSync(${JSON.stringify(asked)}, "") ?? null;
      const own = { name: "own", last, stage: async () => ({ commit: last, abort: last }) };
      export default { targets: [own, ${JSON.stringify({ type: "lake", ...options })}] };`,
    );
    const message =
      /^The run \S+ is not as it was published \(the file parquet\/\S+ has different content: its SHA-256 differs\), so nothing was done with it: run again, or look for a whole run with "content-warehouse verify --all"\.$/;
    for (const [make, ...args] of [
      [deliverCommand],
      [deliverCommand, "1"],
      [runsCommand, "rollback", "1", "--deliver"],
      [runsCommand, "rollback", "1"],
    ] as const) {
      const { text, error } = await a(make, ...args, "--config", join(cwd, "targets.mjs"));
      assert.deepEqual([text, error?.code, error?.exitCode], ["", "verify.failed", 31]);
      assert.match(error?.message ?? "", message);
    }
    assert.ok(!existsSync(asked));
    assert.equal(await readlink(join(world.folders.A, "current")), `runs/${second}`);

    const { text, error } = await a(verifyCommand);
    assert.ok(
      text.includes(`${file.path} has different content: its SHA-256 differs; the same file is in ${first}.`),
    );
    assert.match(error?.message ?? "", /^1 finding: run again, /);
    const healed = await nightOn(world, "A", 2);
    assert.deepEqual([healed.sequence, (await a(verifyCommand)).error], [3, undefined]);
  });

  await t.test("a run that was rolled back stays so once it is pruned, while the lake has it", async (t) => {
    const { world, store, statusOf, a } = await copyOf(t, base, folder);
    await a(runsCommand, "rollback", "1");
    const undelivered = (at: number) => nightOn(world, "A", at, dies);
    const third = await undelivered(2);
    assert.equal((await a(runsCommand, "prune", "--keep", "1")).text.includes(`removed ${second}`), true);
    const told = await statusOf("A");
    assert.equal(told.says, "run 2; this warehouse is at 3");
    const fourth = await undelivered(3);
    assert.deepEqual([fourth.previousRun, world.warnings.A], [third.run, []]);
    const back = await a(runsCommand, "rollback", "3", "--deliver");
    assert.match(back.text, new RegExp(`\nlake: delivered ${third.run} in `));
    await assertNothingMixed(store, INSTANCE);
  });

  await t.test("a rollback takes no target back from a run that this warehouse has not", async (t) => {
    const { world, night, statusOf, a, b } = await copyOf(t, base, folder);
    await night("A", 2);
    const refused = await b(runsCommand, "rollback", "1", "--deliver");
    assert.match(refused.text, /^current is now 000001-\S+\nlake: FAILED\n$/);
    assert.equal(refused.error?.exitCode, 26);
    assert.match(
      refused.error?.message ?? "",
      /^The run 000001-\S+ is current now, but was not delivered to lake: The target lake has the later run 3 .* cannot replace it, because that run is not in this warehouse; fetch it with "content-warehouse restore", or/,
    );
    await b(restoreCommand);
    assert.equal((await b(runsCommand, "rollback", "1", "--deliver")).error, undefined);
    // And forward again, which no machine but this one asked for.
    const forward = await a(runsCommand, "rollback", "3", "--deliver");
    assert.match(forward.text, /\nlake: delivered 000003-/);
    assert.equal((await statusOf("A")).says, "run 3, as here");
    assert.equal(await readlink(join(world.folders.B, "current")), "runs/000001-20261120T020000Z");
  });

  await t.test(
    "a rollback goes on with the targets that failed, and waits for no configuration",
    async (t) => {
      const { configure, options, a } = await copyOf(t, base, folder);
      const file = join(await temporaryFolder(t), "file");
      await writeFile(file, "where a folder is needed");
      const away = { type: "lake", name: "away", instance: INSTANCE, url: `${pathToFileURL(file)}/lake` };
      await configure([away, { type: "lake", ...options }]);
      const part = await a(runsCommand, "rollback", "1", "--deliver");
      assert.match(
        part.text,
        new RegExp(`^current is now ${first}\naway: FAILED\nlake: delivered ${first} in .*\n$`),
      );
      assert.equal(part.error?.exitCode, 26);
      assert.match(
        part.error?.message ?? "",
        /^The run 000001-\S+ is current now, but was not delivered to away: .* "content-warehouse runs rollback 1 --deliver --warehouse a" repeats it\.$/,
      );
      const failed = await a(deliverCommand, "1", "--target", "away");
      assert.match(failed.error?.message ?? "", / "content-warehouse deliver 1 --warehouse a" repeats it\.$/);
      await configure([]);
      assert.equal((await a(runsCommand, "rollback", "2", "--deliver")).error?.exitCode, 2);
      await configure([{ type: "lake" }]);
      assert.match((await a(runsCommand, "rollback", "2")).text, new RegExp(`^current is now ${second}\n`));
    },
  );

  await t.test(
    "K2: a rollback is not said to have done nothing where a package of a target is missing",
    async (t) => {
      const { configure, world, a } = await copyOf(t, base, folder);
      await configure([{ type: "postgres", url: "postgres://nobody@127.0.0.1:1/nothing" }]);
      missingPackage(t, "pg");
      const refused = await a(runsCommand, "rollback", "1", "--deliver");
      assert.equal(refused.error?.exitCode, 26);
      assert.match(
        refused.error?.message ?? "",
        /is current now, but .* install them with: npm install --global pg@/,
      );
      assert.equal(await readlink(join(world.folders.A, "current")), `runs/${first}`);
    },
  );
});
