import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { OutputFolder } from "../../src/warehouse/layout.ts";
import { acquireLock, prepareOutput } from "../../src/warehouse/lock.ts";
import { temporaryFolder } from "../load/fixtures.ts";

const HOLDER = fileURLToPath(new URL("./lock-holder.ts", import.meta.url));

async function holder(t: TestContext, out: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [HOLDER, out], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const [line] = await once(child.stdout ?? child, "data");
  assert.equal(String(line), "held\n");
  return child;
}

const isLocked = (folder: OutputFolder, message = /Another run is under way/) =>
  assert.rejects(acquireLock(folder), { code: "run.locked", exitCode: 75, message });

test("F13, F14: a lock of another process is seen at once, also while it is stopped, and is free once it is killed", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  const child = await holder(t, folder.root);
  await isLocked(folder, new RegExp(`process ${child.pid}`));
  child.kill("SIGSTOP");
  await isLocked(folder);
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
  const lock = await acquireLock(folder);
  await lock[Symbol.asyncDispose]();
});

test("F15: two runs in one process are kept apart, by whatever path they name the folder", async (t) => {
  const out = await temporaryFolder(t);
  const alias = join(dirname(out), "alias");
  await symlink(out, alias);
  const folder = await prepareOutput(out);
  {
    await using _lock = await acquireLock(folder);
    await isLocked(folder);
    await isLocked(await prepareOutput(alias));
  }
  const lock = await acquireLock(await prepareOutput(alias));
  await lock[Symbol.asyncDispose]();
  await lock[Symbol.asyncDispose]();
  await (await acquireLock(folder))[Symbol.asyncDispose]();
});

test("F13: of two that begin at the same time, one has the lock", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  const outcomes = await Promise.allSettled([acquireLock(folder), acquireLock(folder), acquireLock(folder)]);
  const held = outcomes.filter((outcome) => outcome.status === "fulfilled");
  assert.equal(held.length, 1);
  await held[0]?.value[Symbol.asyncDispose]();
});

test("preparing and looking into a locked folder does not free the lock", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  await using _lock = await acquireLock(folder);
  await prepareOutput(folder.root);
  assert.deepEqual((await readdir(folder.root)).toSorted(), [".lock.duckdb", ".staging", "runs"]);
  const child = spawn(process.execPath, [HOLDER, folder.root], { stdio: ["pipe", "pipe", "pipe"] });
  const said = text(child.stderr);
  const [code] = await once(child, "exit");
  assert.equal(code, 1);
  assert.match(await said, /Another run is under way/);
});

test("Z7: closing any handle on the lock file frees it, which is why nothing opens it", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  await using _lock = await acquireLock(folder);
  closeSync(openSync(folder.lock, "r"));
  await holder(t, folder.root);
});

test("a lock file that is no database is refused with a way out", async (t) => {
  const folder = await prepareOutput(await temporaryFolder(t));
  await writeFile(folder.lock, "junk");
  await assert.rejects(acquireLock(folder), {
    code: "config.output",
    message: /remove it if no run is under way/,
  });
  await rm(folder.lock);
  await (await acquireLock(folder))[Symbol.asyncDispose]();
});
