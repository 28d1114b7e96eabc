import assert from "node:assert/strict";
import { cp, mkdtemp, readlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { removeTree } from "../../src/common/tree.ts";
import { discardLeftovers, outputFolder, stagingFolder } from "../../src/warehouse/layout.ts";
import { finishPublication } from "../../src/warehouse/publish.ts";
import { verifyRuns } from "../../src/warehouse/verify-run.ts";
import { publish } from "../warehouse/published.ts";
import { type Fault, NO_STRACE, type Traced, traced } from "./strace.ts";

/** Calls by which the database engine brings what it holds to the disk. */
const CALLS = ["pwrite64", "fsync", "fdatasync", "ftruncate"];
const OLD = "000001-20261120T020000Z";
const NEW = "000002-20261120T020000Z";

let place = "";
let template = "";

before(async () => {
  place = await mkdtemp(join(tmpdir(), "build-"));
  template = join(place, "template");
  await publish(template, 3);
});

after(() => removeTree(place));

async function build(out: string, injection: { call: string; fault: Fault; at: number }): Promise<Traced> {
  const { database } = stagingFolder(outputFolder(out), NEW);
  return traced(
    {
      program: ["test/soak/staged.ts", "build", out],
      calls: CALLS,
      paths: [database, `${database}.wal`],
      log: `${out}.log`,
    },
    injection,
  );
}

/** How often the engine was failed, one call after the other; each time the run before is what it was. */
async function pass(call: string, fault: Fault): Promise<number> {
  for (let at = 1; ; at++) {
    const out = join(place, `${call}-${fault}-${at}`);
    await cp(template, out, { recursive: true, verbatimSymlinks: true });
    const { met, code, stderr } = await build(out, { call, fault, at });
    const what = `${call} ${fault} at ${at}: ${code} ${stderr}`;
    if (!met) assert.equal(code, 0, what);
    if (met && fault !== "KILL") {
      assert.equal(code, 30, what);
      assert.match(
        stderr,
        /^(?:The disk is full|A disk failed|The disk refused|The disk has no room for)[^\n]*\n$/,
        what,
      );
    }
    if (met) {
      const folder = outputFolder(out);
      assert.equal(await readlink(folder.current), `runs/${OLD}`);
      await finishPublication(folder);
      await discardLeftovers(folder, undefined);
      await publish(out, 2);
      const { findings } = await verifyRuns(folder, undefined, await mkdtemp(join(place, "verify-")));
      assert.deepEqual(findings, [], what);
    }
    await removeTree(out);
    if (!met) return at - 1;
  }
}

test("F5, F7: the engine's writes and syncs, failed once and killed once each, end the build with 30 and change nothing", {
  concurrency: 2,
  skip: NO_STRACE,
}, async (t: TestContext) => {
  let faults = 0;
  const passes = CALLS.flatMap((call) =>
    (["EIO", "ENOSPC", "KILL"] as const).map((fault) =>
      t.test(`${call}: ${fault}`, async (inner) => {
        const met = await pass(call, fault);
        faults += met;
        inner.diagnostic(`${met} faults`);
      }),
    ),
  );
  await Promise.all(passes);
  t.diagnostic(`${faults} faults in the engine's calls`);
  assert.ok(faults > 20, "the pass met too little to mean anything");
});
