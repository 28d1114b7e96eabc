/** `sql` in a process of its own: its limits, and that nothing of it stays. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { sampleWarehouse } from "../../audit/sample.ts";
import { temporaryFolder } from "../../load/fixtures.ts";
import { few } from "../../long.ts";
import { program, start } from "../running.ts";

const out = await sampleWarehouse();

/** It asks for no memory, and so nothing but its time ends it. */
const ENDLESS = "SELECT sum(hash(i)) FROM range(100000000000) t(i)";
/** One long vector, in which the database heeds no interrupt. */
const DEAF = "SELECT len(list_transform(range(100000000), x -> x::VARCHAR))";

const MEMORY =
  /^The query took \d+ MB of memory, more than its limit of 300 MB, and was stopped; ask for less, or raise --max-memory\.\n$/;
const TIME = /^The query took longer than 1\.0 s and was stopped; ask for less, or raise --max-seconds\.\n$/;

for (const [what, args, { code, signal }, said] of [
  ["time is interrupted", [ENDLESS, "--max-seconds=1"], { code: 2, signal: null }, TIME],
  [
    "time kills itself if the database goes on",
    [DEAF, "--max-seconds=1"],
    { code: null, signal: "SIGKILL" },
    TIME,
  ],
  [
    "memory kills itself if the database goes on",
    [DEAF, "--max-memory=300"],
    { code: null, signal: "SIGKILL" },
    MEMORY,
  ],
] as const) {
  test(`a question that takes more than its ${what}, and leaves nothing`, async (t) => {
    const folder = await temporaryFolder(t);
    const TMPDIR = await temporaryFolder(t);
    const asked = ["sql", ...args, "--out", join(folder, "answer.csv"), "--warehouse", out];
    const ended = await start(asked, { env: { TMPDIR } }).ended;
    assert.deepEqual([ended.code, ended.signal, ended.stdout], [code, signal, ""], ended.stderr);
    assert.match(ended.stderr, said);
    assert.deepEqual([await readdir(folder), await readdir(TMPDIR)], [[], []]);
  });
}

test("each form is written as it comes", async (t) => {
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
