/** A limited run by the command, and what other commands do with it. */
import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { auditCommand } from "../../../src/cli/commands/audit.ts";
import { deliverCommand } from "../../../src/cli/commands/deliver.ts";
import { diffCommand } from "../../../src/cli/commands/diff.ts";
import { runCommand } from "../../../src/cli/commands/run.ts";
import { runsCommand } from "../../../src/cli/commands/runs.ts";
import { packagePath } from "../../../src/common/package-root.ts";
import { createService } from "../../../src/service/service.ts";
import { temporaryFolder } from "../../run/running.ts";
import { outcome } from "../capture.ts";

test("run --limit reads the first items in a few requests, into a folder that no full run shares", async (t) => {
  const service = await createService({ data: packagePath("data/sample") });
  t.after(() => service.close());
  const [token = ""] = service.contentSet.tokens.keys();
  const cwd = await temporaryFolder(t);
  const settings = { targets: [{ type: "lake", url: `file://${join(cwd, "lake")}`, instance: "main" }] };
  await writeFile(join(cwd, "content-warehouse.config.json"), JSON.stringify(settings));
  const warehouse = join(cwd, "warehouse");
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: token, CONTENT_WAREHOUSE_DIR: warehouse };
  const ask = (make: Parameters<typeof outcome>[0], ...args: string[]) => outcome(make, args, { cwd, env });
  const run = await ask(runCommand, "nightly", "--limit", "20", "--destination", "Web CMS");
  assert.deepEqual([run.exitCode, run.error], [0, undefined]);
  for (const line of [
    /^Limited, 2 things to look at: run 000001-\w+ of nightly, .*; a run without --limit reads all items$/m,
    /^ {2}Items {6}20 of 500$/m,
  ])
    assert.match(run.text, line);
  assert.deepEqual(await readdir(cwd), ["content-warehouse.config.json", "first-look"]);

  const there = ["--warehouse", join(cwd, "first-look")];
  const verdictOf = async (make: Parameters<typeof outcome>[0]) =>
    JSON.parse((await ask(make, ...there, "--format", "json")).text);
  assert.equal((await verdictOf(auditCommand)).verdict, "limited");
  const [{ verdict, items }] = (await verdictOf(runsCommand)).runs;
  assert.deepEqual([verdict, items], ["limited", 20]);
  for (const make of [deliverCommand, diffCommand]) {
    const { error } = await ask(make, ...there);
    assert.equal(error?.exitCode, 2);
    assert.match(error.message, /is limited to its first items/);
  }
});
