import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startRun } from "../cli/running.ts";
import { long } from "../long.ts";
import { CANARY, scriptedWorld, temporaryFolder, treeOf } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

/** The last line of a run that the disk had no room for. */
const NO_ROOM = /\((EFBIG|ENOSPC)\): .* has \d+\.\d MB free.*, and a run may take \d+\.\d MB.*run again/;

/** A warehouse with one run of twelve items, and its tree. */
async function published(t: TestContext) {
  const { service, out, exported } = await scriptedWorld(t);
  await exported();
  return { service, out };
}

test("F11: a limit on address space that no run fits into ends it before anything is made, and leaves what was published", async (t) => {
  const { service, out } = await published(t);
  const before = await treeOf(out);
  const asked = service.questions.length;
  const { code, stderr } = await startRun(service, out, { shell: "ulimit -v 4000000;" }).ended;
  assert.equal(code, 2, stderr);
  assert.match(
    stderr,
    /^The limit on virtual memory \(ulimit -v\) is 4096\.0 MB, and a run reserves \d+\.0 MB, [^\n]*\n$/,
  );
  assert.equal(service.questions.length, asked);
  assert.deepEqual(await treeOf(out), before);
});

long(
  "F8: a machine without file handles ends the run with a reason, and leaves what was published",
  async (t) => {
    const { service, out } = await published(t);
    const before = await treeOf(join(out, "runs"));
    const { code, stderr } = await startRun(service, out, { shell: "ulimit -n 28;" }).ended;
    assert.equal(code, 30, stderr);
    assert.match(stderr, /No file handles are left; raise the limit/);
    assert.ok(!stderr.includes(CANARY));
    assert.deepEqual(await treeOf(join(out, "runs")), before);
  },
);

test("F5: a file that may not grow ends the run with 30 and the folder's name, and leaves what was published", async (t) => {
  const { service, out } = await published(t);
  const before = await treeOf(join(out, "runs"));
  const { code, stderr } = await startRun(service, out, { shell: "ulimit -f 200;" }).ended;
  assert.equal(code, 30, stderr);
  const last = stderr.trimEnd().split("\n").at(-1) ?? "";
  assert.match(last, NO_ROOM);
  assert.match(last, /; raise its limit \(ulimit -f\), and run again/);
  assert.ok(stderr.includes(out), stderr);
  assert.deepEqual(await treeOf(join(out, "runs")), before);
});

long(
  "F5: what was read before the disk was full is kept, without what was built of it, and the next run goes on",
  async (t) => {
    const service = await Scripted.start(t, itemsOf(12));
    const out = await temporaryFolder(t);
    // Of what a run writes only its database is larger.
    const { code, stderr } = await startRun(service, out, { shell: "ulimit -f 600;" }).ended;
    assert.equal(code, 30, stderr);
    const last = stderr.trimEnd().split("\n").at(-1) ?? "";
    assert.match(last, NO_ROOM);
    assert.match(last, /MB free, and a run may take \d+\.\d MB; .*, and run again\.$/);
    const staged = (await treeOf(join(out, ".staging"))).filter((path) => !path.endsWith("/"));
    assert.deepEqual(
      staged.filter((path) => !/\/(raw|answers|resume\.json)/.test(path)),
      [],
    );
    const before = service.questions.length;
    const next = await startRun(service, out).ended;
    assert.equal(next.code, 0, next.stderr);
    const asked = service.questions
      .slice(before)
      .filter(({ kind, mode }) => kind === "item" || (kind === "list" && mode !== "basic"));
    assert.deepEqual(
      asked.map(({ page, perPage }) => [page, perPage]),
      [[1, 1]],
      "one item tells which instance answers",
    );
  },
);

for (const [what, blocks] of [
  ["its lock", 0],
  ["more than the half of its lock", 12],
  ["a page", 32],
] as const) {
  long(
    `F5: a first run that cannot write ${what} ends with 30 and the folder's name, and leaves nothing`,
    async (t) => {
      const service = await Scripted.start(t, itemsOf(600));
      const parent = await temporaryFolder(t);
      const out = join(parent, "warehouse");
      const { code, stderr } = await startRun(service, out, { shell: `ulimit -f ${blocks};` }).ended;
      assert.equal(code, 30, stderr);
      assert.match(stderr.trimEnd().split("\n").at(-1) ?? "", /EFBIG/);
      assert.ok(stderr.includes(out), stderr);
      assert.deepEqual(await treeOf(parent), []);
    },
  );
}
