import assert from "node:assert/strict";
import { chmod, cp, mkdir, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { findReadableRun } from "../../../src/audit/open-run.ts";
import { runAnswer } from "../../../src/audit/questions/run-sections.ts";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { sqlCommand } from "../../../src/cli/commands/sql.ts";
import { verifyCommand } from "../../../src/cli/commands/verify.ts";
import { answerText } from "../../../src/show/answer.ts";
import { execute } from "../../../src/storage/duckdb.ts";
import { outputFolder } from "../../../src/warehouse/layout.ts";
import { acquireLock, prepareOutput } from "../../../src/warehouse/lock.ts";
import { readManifest } from "../../../src/warehouse/manifest.ts";
import { opened, sampleWarehouse } from "../../audit/sample.ts";
import { temporaryFolder } from "../../load/fixtures.ts";
import { asOrdinaryUser } from "../../run/as-ordinary-user.ts";
import { exportFrom } from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { capture, outcome } from "../capture.ts";
import { warehousesOf } from "../warehouses.ts";

const FIRST = "000001-20261120T020000Z";
const SECOND = "000002-20261120T020000Z";
const copied = await warehousesOf(1, 2);

/** A warehouse with two runs. */
async function warehouse(t: TestContext) {
  const out = await copied(t);
  return { out, runs: (...args: string[]) => capture(runsCommand, [...args, "--warehouse", out]) };
}

test("a file or folder of the warehouse that this user may not read is named, with the way out", async (t) => {
  const out = await temporaryFolder(t);
  const run = "OUT/runs/000001-20261120T020000Z";
  const denied = "cannot be read: permission is denied; use an account that can read the whole warehouse.";
  assert.deepEqual(await asOrdinaryUser(out, "read what is closed"), {
    scanned: `config.output ${run}/parquet/content_tags/content_tags-000001-0000.parquet ${denied}`,
    asked: `config.output ${run}/warehouse.duckdb ${denied}`,
    listed:
      "config.output The output folder OUT cannot be used: permission is denied for OUT/runs; fix it or name another with --warehouse.",
  });
});

test("the list says of each run when it was, what came of it, and which one readers see", async (t) => {
  const { runs } = await warehouse(t);
  const text = await runs("list");
  assert.equal(text, await runs());
  const [head, newest, older] = text
    .split("\n")
    .filter((line) => line.startsWith("│"))
    .map((line) => line.split("│").map((cell) => cell.trim()));
  assert.equal(head?.slice(1, -1).join("|"), "|run|verdict|items");
  assert.match(newest?.slice(1, -1).join("|") ?? "", /^\*\|000002-20261120T020000Z\|complete\|2$/);
  assert.deepEqual(older?.slice(1, 3), ["", FIRST]);
});

test("a run that cannot be read is listed, with the reason below", async (t) => {
  const { out, runs } = await warehouse(t);
  const file = join(out, "runs", FIRST, "manifest.json");
  await chmod(file, 0o644);
  await writeFile(file, "{");
  const text = await runs();
  assert.match(text, /000001-20261120T020000Z │ unreadable │ +│/);
  assert.match(text, /\nThe manifest .* cannot be read \(it is not\s+JSON\)/);
  await assert.rejects(runs("show", "1"), { code: "verify.failed" });
});

test("a run with staged files that is not published is named below the list", async (t) => {
  const { out, runs } = await warehouse(t);
  await mkdir(join(out, ".staging", SECOND), { recursive: true });
  assert.doesNotMatch(await runs(), /Not published/, "the files of a run that is published are about to go");
  await mkdir(join(out, ".staging", "000003-20261121T020000Z"), { recursive: true });
  assert.match(await runs(), /\nNot published: 000003-20261121T020000Z, which is under way or ended early; /);
  await mkdir(join(out, ".staging", "000003-20261121T020000Z", "result"));
  assert.match(
    await runs(),
    /\nNot published: 000003-\S+, which failed a check .* the next run,\s+which starts over/,
  );
});

test("show tells what a run published, by name, by number and as the current one", async (t) => {
  const { runs } = await warehouse(t);
  const text = await runs("show", "current");
  assert.equal(text, await runs("show"));
  assert.equal(text, await runs("show", "2"));
  assert.equal(text, await runs("show", SECOND));
  assert.match(text, /^ {2}Run +000002-20261120T020000Z \(current\)\n/);
  assert.match(text, /\n {2}Service +https:\/\/example\.org, instance instance-1\n/);
  assert.match(text, /\n {2}Verdict +complete\n/);
  assert.match(await runs("show", "1"), /^ {2}Run +000001-20261120T020000Z\n/);
});

test("a number that two runs have is refused by whatever takes a run, with the names of both", async (t) => {
  const { out } = await warehouse(t);
  const [first, second] = [SECOND, "000002-20261121T020000Z"];
  await cp(join(out, "runs", first), join(out, "runs", second), { recursive: true });
  const message = new RegExp(`^Several runs have the number 2: ${second} and ${first}; give the whole`);
  for (const [make, args] of [
    [runsCommand, ["rollback", "2"]],
    [verifyCommand, ["2"]],
  ] as const) {
    const { error } = await outcome(make, [...args, "--warehouse", out]);
    assert.equal(error?.code, "config.not_found");
    assert.match(error?.message ?? "", message);
  }
  const { text } = await outcome(runsCommand, ["show", first, "--warehouse", out]);
  assert.match(text, new RegExp(`^ {2}Run +${first} `));
});

test("the list has the change since the run before and what is unmapped, in 80 columns too", async (t) => {
  const service = await Scripted.start(t, itemsOf(4));
  const out = await temporaryFolder(t);
  await exportFrom({ url: service.url, out });
  const [first, second] = itemsOf(2);
  service.items = [
    first,
    { ...second, updated_at: "2026-11-02T10:00:00Z" },
    { ...second, id: "new", slug: "new" },
  ];
  const { unchanged } = await exportFrom({ url: service.url, out });
  const runs = (columns?: number) => capture(runsCommand, ["--warehouse", out], columns);
  assert.match(await runs(), /│ \* │ 000002-\S+ │ complete │ +3 │ \+1 ~1 -2 │/);
  const narrow = await runs(80);
  assert.ok(
    narrow.split("\n").every((line) => line.length <= 80),
    narrow,
  );
  assert.match(narrow, /│ run +│ verdict +│ items │ change +│\n/);
  const shown = await capture(runsCommand, ["show", "2", "--warehouse", out]);
  assert.match(shown, /\n {2}Items +3 listed, 3 loaded, 0 rejected\n {2}Change +\+1 ~1 -2\n/);
  const json = (...args: string[]) => capture(runsCommand, [...args, "--format", "json", "--warehouse", out]);
  const figures = JSON.parse(await json("show", "2"));
  const { versions, files } = await readManifest(join(out, "current"));
  assert.deepEqual(
    [figures.items, figures.changes, figures.versions, figures.files, figures.unchanged],
    [
      { listed: 3, loaded: 3, rejected: 0, vanished: 0, unread: 0, listedLast: 3, counted: 3 },
      { new: 1, edited: 1, removed: 2 },
      versions,
      files.length,
      unchanged,
    ],
  );
  const listed: Record<string, unknown>[] = JSON.parse(await json("list")).runs;
  assert.deepEqual(
    listed.map(({ mark, current }) => [mark, current]),
    [
      ["*", true],
      ["", false],
    ],
  );
  const [newest] = listed;
  assert.deepEqual([newest?.took_ms, newest?.size_bytes], [figures.milliseconds, figures.bytes]);
});

test("show lists every check that did not pass, however many, with its rows", async () => {
  const out = await sampleWarehouse();
  const found = await findReadableRun(outputFolder(out), "current");
  await using run = await opened(out);
  const shown = async (checks: number) => {
    await execute(
      run.connection,
      `CREATE OR REPLACE VIEW run_checks AS
       SELECT 'check ' || n AS check_name, 'warning' AS verdict, 9 AS figure, 0 AS expected, '' AS detail,
         '[{"n":1},{"n":2},{"n":3}]'::JSON AS examples
       FROM range(${checks}) checks(n)`,
    );
    return answerText(await runAnswer(found, run.connection), { width: 100, isColoured: false });
  };
  const text = await shown(46);
  assert.equal(text.match(/│ check \d+ +│ warning │ .*\[\{"n":1\},\{"n":2\},\{"n":3\}\] │/g)?.length, 46);
  assert.doesNotMatch(text, /more row/);
  assert.match(await shown(0), /All 0 checks passed\.\n$/);
});

test("list and show count mapped values and those without an external value, by who receives them", async () => {
  const warehouse = ["--warehouse", await sampleWarehouse()];
  const json = async (...args: string[]) =>
    JSON.parse(await capture(runsCommand, [...args, "--format", "json", ...warehouse]));
  const [listed] = (await json("list")).runs;
  assert.deepEqual([listed.without_external_value, listed.unmapped, listed.unknown_value], [835, 825, 10]);
  assert.equal(listed.without_external_value_receiving, 662);
  const { destinations, ...sums } = (await json("show")).mappedValues;
  assert.deepEqual(sums, { mapped: 5800, withoutExternalValue: 835, unmapped: 825, unknown: 10, empty: 0 });
  assert.deepEqual(
    destinations.map(({ name, reception, unmapped, unknown }: Record<string, unknown>) => {
      return [name, reception, unmapped, unknown];
    }),
    [
      ["Partner Portal", "receiving", 252, 4],
      ["Web CMS", "receiving", 190, 4],
      [null, "receiving", 212, 0],
      ["Print Archive", "unsupported", 171, 2],
    ],
  );
});

test("rollback moves current and says where to", async (t) => {
  const { out, runs } = await warehouse(t);
  assert.match(await runs("rollback", "1"), /^current is now 000001-20261120T020000Z\n/);
  assert.equal(await readlink(join(out, "current")), "runs/000001-20261120T020000Z");
  assert.match(
    await runs(),
    /; \/ is not in the history of the current run.*│ \/ │ 000002-.*│ \* │ 000001-/s,
  );
  await mkdir(join(out, ".staging", SECOND), { recursive: true });
  assert.doesNotMatch(await runs(), /│ \/ │/, "it is being published");
  await assert.rejects(runs("rollback", "9"), { code: "config.not_found", exitCode: 2 });
});

test("where the link to the current run is lost, each command says how to set it", async (t) => {
  const { out, runs } = await warehouse(t);
  await rm(join(out, "current"));
  const told = { exitCode: 3, message: /is current, .*runs rollback 000002-20261120T020000Z/ };
  await assert.rejects(runs("show", "current"), told);
  await assert.rejects(capture(sqlCommand, ["SELECT 1", "--warehouse", out]), told);
  await runs("rollback", SECOND);
  assert.match(await capture(sqlCommand, ["SELECT 1 AS one", "--warehouse", out]), /one/);
});

test("prune removes what is old and says what", async (t) => {
  const { out, runs } = await warehouse(t);
  assert.equal(await runs("prune"), "nothing to remove\n");
  assert.equal(await runs("prune", "--keep", "1"), `removed ${FIRST}\n`);
  assert.deepEqual(await readdir(join(out, "runs")), [SECOND]);
});

test("F13: while a run is under way nothing is rolled back or removed, but everything can be listed", async (t) => {
  const { out, runs } = await warehouse(t);
  await using _lock = await acquireLock(await prepareOutput(out));
  await assert.rejects(runs("rollback", "1"), { code: "run.locked", exitCode: 75 });
  await assert.rejects(runs("prune", "--keep", "1"), { code: "run.locked" });
  assert.match(await runs("list"), /000001/);
});

test("a folder without a warehouse is said to be one, and is left as it is", async (t) => {
  const out = await temporaryFolder(t);
  for (const args of [["list"], ["rollback", "1"], ["prune"]])
    await assert.rejects(capture(runsCommand, [...args, "--warehouse", out]), { code: "config.not_found" });
  await assert.rejects(capture(runsCommand, ["show", "1", "--warehouse", out]), { code: "answer.nothing" });
  assert.deepEqual(await readdir(out), []);
  await prepareOutput(out);
  assert.equal(await capture(runsCommand, ["--warehouse", out]), "Runs: nothing was published yet\n");
});
