import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { temporaryFolder } from "../../run/running.ts";

const SCRATCH = JSON.stringify(new URL("../../../src/targets/lake/scratch-database.ts", import.meta.url));

test("F2: the scratch folder of a delivery that was killed is removed by the next", async (t) => {
  const TMPDIR = await temporaryFolder(t);
  const deliver = (work: string) => {
    const script = `const { withScratchDatabase } = await import(${SCRATCH}); await withScratchDatabase(async () => { ${work} });`;
    const env = { ...process.env, TMPDIR };
    return spawnSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" });
  };
  assert.equal(
    deliver("process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});").signal,
    "SIGKILL",
  );
  assert.equal((await readdir(TMPDIR)).length, 1);
  const next = deliver("");
  assert.deepEqual([next.status, await readdir(TMPDIR)], [0, []], next.stderr);
});
