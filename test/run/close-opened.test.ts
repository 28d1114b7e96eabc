import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../src/common/log.ts";
import { closeOpened, type Opened } from "../../src/run/prepare.ts";

test("what a run has opened is closed, all of it, whatever fails to; the failure is told, and hides no other", async () => {
  const closed: string[] = [];
  const told: string[] = [];
  const failing = (name: string) => async () => {
    closed.push(name);
    throw new Error(`no end of the ${name}`);
  };
  const opened = {
    client: { close: failing("client") },
    source: { [Symbol.asyncDispose]: failing("source") },
    lock: { [Symbol.asyncDispose]: failing("lock") },
  } as unknown as Opened;
  await closeOpened(opened, { ...silentLog, warn: (message) => told.push(message) });
  assert.deepEqual(closed, ["client", "source", "lock"]);
  assert.equal(told.length, 3);
  for (const [at, name] of closed.entries())
    assert.match(told[at] ?? "", new RegExp(`no end of the ${name}`));
});
