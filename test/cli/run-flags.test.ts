import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { runCommand } from "../../src/cli/commands/run.ts";
import { packagePath } from "../../src/common/package-root.ts";
import { CANARY, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

test("flags of a run are explicit approval: to publish what shrank, and to freeze the contract", async (t) => {
  // Fields of the dynamic view are unknown in the full one, which is a departure.
  const service = await Scripted.start(t, itemsOf(2));
  const out = await temporaryFolder(t);
  const env = { CONTENT_API_URL: service.url, CONTENT_API_TOKEN: CANARY };
  const silent = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const run = async (...flags: string[]) => {
    const command = runCommand({ env, cwd: out, out: silent(), err: silent(), endWith: () => {} });
    const args = [packagePath("test/run/small-pipeline.ts"), "--warehouse", out, ...flags];
    await command
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .parseAsync(args, { from: "user" });
  };
  await assert.rejects(run("--contract", "freeze"), { code: "contract.drift", exitCode: 23 });
  await assert.rejects(run("--contract", "frozen"), { code: "commander.invalidArgument" });
  await run("--contract", "evolve");
  service.items = [];
  await assert.rejects(run(), { code: "guard.shrink", exitCode: 24 });
  await run("--accept-shrink");
});
