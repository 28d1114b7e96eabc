import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { readTree, removeTree } from "../../src/common/tree.ts";
import { nextRun, type OutputFolder, outputFolder, stagingFolder } from "../../src/warehouse/layout.ts";
import { prepareOutput } from "../../src/warehouse/lock.ts";
import { finishPublication } from "../../src/warehouse/publish.ts";
import { verifyRuns } from "../../src/warehouse/verify-run.ts";
import { buildResult, NIGHT, publish, STAGED_ITEMS } from "../warehouse/published.ts";
import { deeds, type Fault, type Injection, NO_STRACE, type Traced, traced } from "./strace.ts";

/** Calls by which a publication changes the disk or looks at it; each is failed, and each is the last. */
const CALLS = [
  ...["fsync", "fdatasync", "openat", "write", "pwrite64", "rename", "renameat2", "symlink", "chmod"],
  ...["mkdir", "unlink", "unlinkat", "rmdir"],
];
/** Those that can run out of room. */
const GROWING = new Set([
  "fsync",
  "fdatasync",
  "write",
  "pwrite64",
  "rename",
  "renameat2",
  "symlink",
  "mkdir",
]);

const OLD = "000001-20261120T020000Z";
const NEW = "000002-20261120T020000Z";

let place = "";
/** A published run and a staged one, of which every fault gets a copy. */
let template = "";

before(async () => {
  place = await mkdtemp(join(tmpdir(), "pass-"));
  template = join(place, "template");
  await publish(template, 3);
  const folder = await prepareOutput(template);
  assert.equal(await nextRun(folder, NIGHT), NEW);
  await buildResult(folder, NEW, STAGED_ITEMS);
});

after(() => removeTree(place));

let copies = 0;
async function copy(): Promise<OutputFolder> {
  copies += 1;
  const out = join(place, `copy-${copies}`);
  await cp(template, out, { recursive: true, verbatimSymlinks: true });
  return outputFolder(out);
}

/** All that a publication has to do with, before and after it has its final name. */
async function pathsOf(folder: OutputFolder): Promise<string[]> {
  const { root, result, parts, temporary } = stagingFolder(folder, NEW);
  const { files, folders } = await readTree(result);
  const staged = [...files, ...folders, join(result, "manifest.json")];
  const published = staged.map((path) => join(folder.runs, NEW, relative(result, path)));
  const around = [
    folder.root,
    folder.runs,
    folder.staging,
    folder.current,
    join(folder.root, `.current-${NEW}`),
  ];
  const left = (await readTree(root)).files;
  return [...new Set([...staged, ...published, ...around, ...left, root, parts, temporary])];
}

async function publishTraced(folder: OutputFolder, injection?: Injection): Promise<Traced> {
  const paths = await pathsOf(folder);
  const program = ["test/soak/staged.ts", "publish", folder.root] as const;
  return traced({ program, calls: CALLS, paths, log: `${folder.root}.log` }, injection);
}

async function assertWhole(folder: OutputFolder, what: string): Promise<void> {
  const temporary = await mkdtemp(join(place, "verify-"));
  const { findings } = await verifyRuns(folder, undefined, temporary);
  assert.deepEqual(findings, [], what);
}

/** What holds whatever failed, and wherever: the run before or the new one, both whole, and the next run needs no help. */
async function assertSurvived(folder: OutputFolder, found: Traced, injection: Injection): Promise<void> {
  const what = `${injection.call} ${injection.fault} at ${injection.at}: ${found.stderr}`;
  const current = await readlink(folder.current);
  assert.ok([`runs/${OLD}`, `runs/${NEW}`].includes(current), what);
  const published = found.stdout === "published\n";
  if (published) assert.equal(current, `runs/${NEW}`, `said to be published, and is not: ${what}`);
  if (!found.killed) assert.equal(found.code === 0, published, what);
  if (!found.killed && !published) {
    assert.ok(
      found.code === 30 || (found.code === 31 && injection.call === "openat"),
      `${found.code}, ${what}`,
    );
  }
  await assertWhole(folder, what);
  const complete = (await readdir(folder.runs)).includes(NEW);
  await finishPublication(folder);
  if (complete) assert.equal(await readlink(folder.current), `runs/${NEW}`, `a whole run is lost: ${what}`);
  const next = await publish(folder.root, 2);
  assert.equal(await readlink(folder.current), `runs/${next.run}`, what);
  await assertWhole(folder, what);
}

/** Every call of a kind, one after the other, until there is none; returns how many faults came. */
async function pass(call: string, fault: Fault): Promise<number> {
  for (let at = 1; ; at++) {
    const folder = await copy();
    const injection = { call, fault, at };
    const found = await publishTraced(folder, injection);
    if (found.met) await assertSurvived(folder, found, injection);
    await removeTree(folder.root);
    if (!found.met) {
      assert.equal(found.code, 0, found.stderr);
      return at - 1;
    }
  }
}

const skip = NO_STRACE;
const AT_ONCE = { concurrency: 2, skip };

test("F1: the publication puts everything on the disk before it can be seen, in this order", {
  skip,
}, async () => {
  const folder = await copy();
  const { code, calls, stderr } = await publishTraced(folder);
  assert.equal(code, 0, stderr);
  const done = deeds(calls);
  const staging = stagingFolder(folder, NEW);
  const first = (deed: string) => {
    const found = done.indexOf(deed);
    assert.ok(found >= 0, `there is no "${deed}" among\n${done.join("\n")}`);
    return found;
  };
  const published = join(folder.runs, NEW);
  const named = first(`rename ${staging.result} -> ${published}`);
  const switched = first(`rename ${join(folder.root, `.current-${NEW}`)} -> ${folder.current}`);
  const { files, folders } = await readTree(published);
  const staged = (path: string) => join(staging.result, relative(published, path));
  for (const path of files) {
    const synced = first(`fsync ${staged(path)}`);
    assert.ok(synced < first(`fsync ${staged(join(path, ".."))}`), `${path} before its folder`);
  }
  for (const path of folders) assert.ok(first(`fsync ${staged(path)}`) < named, `${path} before its name`);
  const runs = first(`fsync ${folder.runs}`);
  assert.ok(named < runs && runs < switched, "runs/ after the run has its name, and before readers see it");
  assert.ok(switched < first(`fsync ${folder.root}`), "the folder of current after it has moved");
  await removeTree(folder.root);
});

const tally: Record<Fault, number> = { EIO: 0, ENOSPC: 0, KILL: 0 };

test(
  "F1, F4, F5: every system call of a publication, failed once and killed once",
  AT_ONCE,
  async (t: TestContext) => {
    const passes = CALLS.flatMap((call) => {
      const faults: Fault[] = GROWING.has(call) ? ["EIO", "ENOSPC", "KILL"] : ["EIO", "KILL"];
      return faults.map((fault) => ({ call, fault }));
    });
    const counted = passes.map(({ call, fault }) =>
      t.test(`${call}: ${fault}`, async (inner) => {
        const faults = await pass(call, fault);
        tally[fault] += faults;
        inner.diagnostic(`${faults} faults`);
      }),
    );
    await Promise.all(counted);
    const { EIO, ENOSPC, KILL } = tally;
    t.diagnostic(`${EIO + ENOSPC} calls failed (${EIO} EIO, ${ENOSPC} ENOSPC), ${KILL} killed`);
    assert.ok(EIO > 40 && ENOSPC > 15 && KILL > 40, "the pass met too little to mean anything");
  },
);
