import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { temporaryFolder } from "../../folders.ts";

const SCRATCH = JSON.stringify(new URL("../../../src/common/temporary-folder.ts", import.meta.url));

test("F2: the temporary folder of a command that was killed is removed by the next", async (t) => {
  const TMPDIR = await temporaryFolder(t);
  const command = (then: string) => {
    const script = `const { inTemporaryFolder } = await import(${SCRATCH}); await inTemporaryFolder("lake", async () => { ${then} });`;
    const env = { ...process.env, TMPDIR };
    return spawnSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" });
  };
  const kill = "process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});";
  for (const _ of [1, 2]) {
    assert.equal(command(kill).signal, "SIGKILL");
    assert.equal((await readdir(TMPDIR)).length, 1);
  }
});
