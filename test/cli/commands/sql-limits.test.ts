/** `sql` in processes of its own: its limits, its signals, and that nothing of it stays. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { sampleWarehouse } from "../../audit/sample.ts";
import { temporaryFolder } from "../../load/fixtures.ts";
import { few } from "../../long.ts";
import { until } from "../../until.ts";
import { ChildrenPeak, childrenOf, openFilesOf } from "../children.ts";
import { program, type Started, start } from "../running.ts";

const out = await sampleWarehouse();

/** It asks for no memory, and so nothing but its time ends it. */
const ENDLESS = "SELECT sum(hash(i)) FROM range(100000000000) t(i)";
/** The planner makes the list, which takes 11 GB, before there is anything to interrupt. */
const IN_THE_PLANNER = "SELECT len(range(200000000))";

const limits: Record<string, [args: readonly string[], said: RegExp]> = {
  memory: [
    [IN_THE_PLANNER, "--max-memory=500"],
    /^The question took \d+ MB of memory, more than the 500 MB that it may, and was ended; ask for less\. --max-memory sets the limit\.\n$/,
  ],
  time: [
    [ENDLESS, "--max-seconds=1"],
    /^The question took longer than 1\.0 s and was ended; ask for less\. --max-seconds sets the limit\.\n$/,
  ],
};

for (const [what, [args, said]] of Object.entries(limits)) {
  test(`a question that takes more ${what} than it may is ended with 2, and leaves nothing`, async (t) => {
    const folder = await temporaryFolder(t);
    const TMPDIR = await temporaryFolder(t);
    let peak: ChildrenPeak | undefined;
    const ended = await program(["sql", ...args, "--out", join(folder, "answer.csv"), "--warehouse", out], {
      env: { TMPDIR },
      begun: ({ pid = 0 }) => {
        peak = new ChildrenPeak(pid);
      },
    });
    peak?.[Symbol.dispose]();
    assert.deepEqual([ended.code, ended.stdout], [2, ""], ended.stderr);
    assert.match(ended.stderr, said);
    const megabytes = peak?.megabytes ?? 0;
    assert.ok(megabytes > 0 && megabytes < 1500, `${megabytes}`);
    assert.deepEqual([await readdir(folder), await readdir(TMPDIR)], [[], []]);
  });
}

/** In a process group of its own, as a shell starts it. */
function startSql(): Started {
  return start(["sql", ENDLESS, "--warehouse", out], { detached: true });
}

/** Resolves once a process that this one started has the database open: then the question is under way. */
function underWay(pid: number, ended: Promise<unknown>): Promise<void> {
  const isOpen = (child: number) => openFilesOf(child).some((file) => file.endsWith(".duckdb"));
  return until("the question is under way", () => childrenOf(pid).some(isOpen), { ended });
}

test("Ctrl-C, which a terminal sends to both processes, ends both", async () => {
  const { pid, ended } = startSql();
  await underWay(pid, ended);
  process.kill(-pid, "SIGINT");
  const { code, stderr } = await ended;
  assert.deepEqual([code, stderr], [130, "Interrupted; the question was not answered.\n"]);
});

test("no process of a question outlives a command that is killed", async () => {
  const { pid, ended } = startSql();
  await underWay(pid, ended);
  process.kill(pid, "SIGKILL");
  const { signal, stderr } = await ended;
  assert.deepEqual([signal, stderr], ["SIGKILL", ""]);
});

test("each form is written as it comes, by the process that answers", async (t) => {
  const query = "SELECT i AS n, 'täxt' AS t FROM range(120000) r(i)";
  const folder = await temporaryFolder(t);
  for (const format of few(["csv", "table", "json", "jsonl", "markdown"], 1)) {
    const asked = ["sql", query, "--warehouse", out, "--format", format];
    const { code, stdout, stderr } = await program(asked);
    assert.deepEqual([code, stderr], [0, ""]);
    const file = join(folder, format);
    const written = await program([...asked, "--out", file]);
    assert.deepEqual([written.code, written.stdout], [0, ""], written.stderr);
    assert.equal(await readFile(file, "utf8"), stdout);
    assert.ok(stdout.includes("119999") && stdout.includes("täxt"));
  }
});
