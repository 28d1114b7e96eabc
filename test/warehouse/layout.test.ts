import assert from "node:assert/strict";
import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import {
  createStaging,
  currentRun,
  discardLeftovers,
  nextRun,
  parseRunName,
  removeStaging,
  runName,
  runsIn,
  stagingFolder,
  stagingLeftovers,
} from "../../src/warehouse/layout.ts";
import { prepareOutput } from "../../src/warehouse/lock.ts";
import { temporaryFolder } from "../load/fixtures.ts";
import fc from "../properties.ts";
import { AS_ROOT, asOrdinaryUser } from "../run/as-ordinary-user.ts";
import { publish } from "./published.ts";

const NIGHT = new Date("2026-11-20T02:00:00.999Z");

test("a run's name says its number and its instant, and is read back", () => {
  assert.equal(runName(42, NIGHT), "000042-20261120T020000Z");
  assert.equal(runName(1_234_567, NIGHT), "1234567-20261120T020000Z");
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 ** 9 }),
      fc.date({ min: new Date("1970-01-01"), max: new Date("9999-12-31"), noInvalidDate: true }),
      (sequence, instant) => {
        const startedAt = new Date(Math.floor(instant.getTime() / 1000) * 1000);
        const run = runName(sequence, instant);
        assert.deepEqual(parseRunName(run), { run, sequence, startedAt });
      },
    ),
  );
});

test("S14: anything else is no name of a run", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  const names = [
    "",
    ".",
    "..",
    "../x",
    "42-20261120T020000Z",
    "000042-20261120T020000Z/..",
    "000042-20261320T020000Z",
  ];
  for (const name of [...names, "000042-20261120T020000Z\n", "latest", "000042-20261120T020000Z.wal"]) {
    assert.equal(parseRunName(name), undefined, name);
    assert.throws(() => stagingFolder(folder, name), { code: "config.not_found" });
  }
});

test("S21: a prepared folder has its parts, staging for its owner alone, and no debris", async (t) => {
  const out = join(await temporaryFolder(t), "deep", "er");
  const folder = await prepareOutput(out);
  await prepareOutput(out);
  assert.deepEqual((await readdir(out)).toSorted(), [".staging", "runs"]);
  assert.deepEqual([...(await readdir(folder.runs)), ...(await readdir(folder.staging))], []);
  const staging = await createStaging(folder, runName(1, NIGHT));
  for (const path of [folder.staging, staging.root, staging.result, staging.parts]) {
    assert.equal((await stat(path)).mode & 0o777, 0o700, path);
  }
});

test("F10: a folder that is a file, lies below one, or has one in its place is a configuration error", async (t) => {
  const base = await temporaryFolder(t);
  await writeFile(join(base, "file"), "");
  await mkdir(join(base, "out"));
  await writeFile(join(base, "out", ".staging"), "");
  await symlink("nowhere", join(base, "dangling"));
  await symlink("circle", join(base, "circle"));
  for (const name of ["file", "file/out", "out", "dangling", "circle", "x".repeat(300), "a?b", "a\\b*"]) {
    await assert.rejects(prepareOutput(join(base, name)), { code: "config.output", exitCode: 2 }, name);
  }
  assert.deepEqual((await readdir(base)).toSorted(), ["circle", "dangling", "file", "out"]);
  assert.deepEqual(await readdir(join(base, "out")), [".staging"]);
});

test("F9, F10: a folder in which nothing can be made or published is found out before the run, and nothing is left behind", async (t) => {
  const base = await temporaryFolder(t);
  assert.deepEqual(await asOrdinaryUser(base, "prepare", "new/deep"), { result: "config.output", left: [] });
  await chmod(base, 0o755);
  const result = await asOrdinaryUser(await temporaryFolder(t), "prepare with closed runs");
  assert.deepEqual(result, { result: "config.output", left: ["runs"] });
});

test(
  "F24: a warehouse in which root has run names the path that refuses, its owner and the way out",
  AS_ROOT,
  async (t) => {
    const refusal = (reason: string, path: string) =>
      `config.output The output folder OUT cannot be used: ${reason} for OUT/${path}, which belongs to root; run as the owner of the warehouse, or give all of it to one user (chown -R), or name another with --warehouse.`;
    for (const [path, reason] of [
      [".staging", "the operation is not permitted"],
      ["runs", "permission is denied"],
    ] as const) {
      const base = await temporaryFolder(t);
      await mkdir(join(base, path), { mode: 0o755 });
      const says = await asOrdinaryUser(base, "prepare after another user");
      assert.equal(says, refusal(reason, path));
    }
    const base = await temporaryFolder(t);
    const { run } = await publish(base);
    await publish(base, 1);
    await chown(join(base, "runs"), 65534, 65534);
    await chown(join(base, ".staging"), 65534, 65534);
    const says = await asOrdinaryUser(base, "prune runs of another user");
    assert.equal(says, refusal("the operation is not permitted", `runs/${run}`));
  },
);

test("a current that is no link to a run is refused", async (t) => {
  for (const target of [undefined, "runs", "/etc", "runs/x", "../runs/000001-20261120T020000Z"]) {
    const folder = await prepareOutput(await temporaryFolder(t));
    if (target === undefined) await mkdir(folder.current);
    else await symlink(target, folder.current);
    await assert.rejects(currentRun(folder), { code: "config.output" });
    await assert.rejects(prepareOutput(folder.root), { code: "config.output" });
  }
});

test("G5: the next run's number is above all that were ever seen, whatever the clock says", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  const next = () => nextRun(folder, new Date("2001-01-01T00:00:00Z"));
  assert.equal(await next(), "000001-20010101T000000Z");
  await mkdir(join(folder.runs, runName(9, NIGHT)));
  await mkdir(join(folder.runs, "not-a-run"));
  assert.equal(await next(), "000010-20010101T000000Z");
  await createStaging(folder, runName(11, NIGHT));
  assert.equal(await next(), "000012-20010101T000000Z");
  await symlink(`runs/${runName(20, NIGHT)}`, folder.current);
  assert.equal(await next(), "000021-20010101T000000Z");
  await mkdir(join(folder.runs, runName(999_999, NIGHT)));
  await mkdir(join(folder.runs, runName(1_000_000, NIGHT)));
  assert.deepEqual(
    (await runsIn(folder)).map(({ sequence }) => sequence),
    [1_000_000, 999_999, 9],
  );
  assert.equal(await next(), "1000001-20010101T000000Z");
});

test("F18: staged leftovers are listed, the newest first, and all but the run that is kept are cleared away with the debris", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  const runs = [5, 12, 9, 100].map((sequence) => runName(sequence, NIGHT));
  for (const run of runs) await writeFile(join((await createStaging(folder, run)).parts, "x"), "");
  const pruned = join(folder.staging, ".pruned-000001-20261120T020000Z");
  await mkdir(join(pruned, "sealed"), { recursive: true });
  await writeFile(join(pruned, "sealed", "file"), "");
  await chmod(join(pruned, "sealed"), 0o555);
  await symlink("runs/x", join(folder.root, ".current-x"));
  await mkdir(join(folder.runs, ".probe-x"));
  await mkdir(join(folder.root, ".lock-x"));
  await writeFile(folder.lock, "");
  assert.deepEqual(
    (await stagingLeftovers(folder)).map(({ sequence }) => sequence),
    [100, 12, 9, 5],
  );
  await discardLeftovers(folder, runName(12, NIGHT));
  assert.deepEqual(await readdir(folder.staging), [runName(12, NIGHT)]);
  assert.deepEqual((await readdir(folder.root)).toSorted(), [".lock.duckdb", ".staging", "runs"]);
  assert.deepEqual(await readdir(folder.runs), []);
  await removeStaging(folder, runName(12, NIGHT));
  await removeStaging(folder, runName(12, NIGHT));
  assert.deepEqual(await readdir(folder.staging), []);
});
