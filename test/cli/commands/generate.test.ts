import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { packagePath } from "../../../src/common/package-root.ts";
import { few, long } from "../../long.ts";

function generate(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [packagePath("src/cli/main.ts"), "generate", ...args],
    { encoding: "utf8" },
  );
  return { status, stdout, stderr };
}

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "generate-cli-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

suite("content-warehouse generate", () => {
  test("makes a content set and says what is in it", async (t) => {
    const out = await folder(t);
    const { status, stdout, stderr } = generate("--items", "40", "--seed", "3", "--out", out);
    assert.equal(stderr, "");
    assert.match(stdout, /^40 items, 21 content types, 43 custom fields, 46 users, .* in .*\n$/);
    assert.equal(status, 0);
    assert.equal((await readdir(out)).length, 8);
  });

  long("makes the sample set", async (t) => {
    const { status, stdout } = generate("--sample", "--out", await folder(t));
    assert.match(stdout, /^500 items/);
    assert.equal(status, 0);
  });

  test("help has an example", () => {
    const { status, stdout } = generate("--help");
    assert.match(stdout, /\$ content-warehouse generate --items 10000 --seed 7 --out/);
    assert.equal(status, 0);
  });

  const refusals: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["no number of items", [], /--items is missing/],
    ["the sample with a number of items", ["--sample", "--items", "3"], /--sample takes no --items/],
    ["the sample with a seed", ["--sample", "--seed", "3"], /--sample takes no --seed/],
    ["what is no number", ["--items", "many"], /whole number/],
    ["a number that is too large", ["--items", "99999999"], /from 0 to 10000000/],
  ];
  for (const [what, args, sentence] of few(refusals, 1)) {
    test(`refuses ${what} and writes nothing`, async (t) => {
      const out = await folder(t);
      const { status, stderr } = generate(...args, "--out", out);
      assert.match(stderr, sentence);
      assert.equal(status, 2);
      assert.deepEqual(await readdir(out), []);
    });
  }
});
