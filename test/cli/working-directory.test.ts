import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { packagePath } from "../../src/common/package-root.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";
import { few } from "../long.ts";
import { temporaryFolder } from "../run/running.ts";

/** The program in a working directory that is removed before it begins. */
async function withoutFolder(t: TestContext, ...args: string[]) {
  const folder = join(await temporaryFolder(t), "removed");
  mkdirSync(folder);
  const command = [process.execPath, packagePath("src/cli/main.ts"), ...args];
  return spawnSync("sh", ["-c", 'rmdir "$PWD" && exec "$@"', "sh", ...command], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...COMPILE_CACHE },
  });
}

suite("a working directory that was removed", () => {
  for (const args of few([["--help"], ["--version"], ["run", "--help"], ["schema"]], 1)) {
    test(`is no matter to ${args.join(" ")}`, async (t) => {
      const { status, stderr, stdout } = await withoutFolder(t, ...args);
      assert.deepEqual([status, stderr], [0, ""]);
      assert.notEqual(stdout, "");
    });
  }

  for (const args of few(
    [["run", "nightly", "--sample"], ["runs", "list"], ["runs", "prune"], ["verify"], ["sql", "SELECT 1"]],
    1,
  )) {
    test(`ends ${args.join(" ")} with 2 and a sentence`, async (t) => {
      const { status, stderr } = await withoutFolder(t, ...args);
      assert.equal(stderr, "The working directory was removed; change to a folder that exists.\n");
      assert.equal(status, 2);
    });
  }
});
