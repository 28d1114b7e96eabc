import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { mapLimited, mapParallel } from "../../src/storage/parallel.ts";

/** Work that ends after some milliseconds, or fails at once; `ended` has what has ended. */
function worker() {
  const ended: unknown[] = [];
  const work = async (what: unknown, fails = false) => {
    if (!fails) await setTimeout(20);
    ended.push(what);
    if (fails) throw new Error(`${what} failed`);
    return what;
  };
  return { ended, work };
}

test("items are worked on in parallel, one at a time in each lane, and answered in their order", async () => {
  const atWork = new Set<string>();
  let most = 0;
  const answers = await mapParallel(["a", "b"], [5, 1, 4, 2, 3], async (lane, item) => {
    assert.ok(!atWork.has(lane));
    atWork.add(lane);
    most = Math.max(most, atWork.size);
    await setTimeout(item);
    atWork.delete(lane);
    return item * 10;
  });
  assert.deepEqual([answers, most], [[50, 10, 40, 20, 30], 2]);
});

test("after a failure nothing is begun, and it is thrown when what was begun has ended", async () => {
  const { ended, work } = worker();
  await assert.rejects(
    mapParallel(["a", "b"], [1, 2, 3, 4], (_, item) => work(item, item === 1)),
    /1 failed/,
  );
  assert.deepEqual(ended, [1, 2]);
});

test("some are worked on at a time, and a failure is thrown when all have ended", async () => {
  const { ended, work } = worker();
  await assert.rejects(
    mapLimited(["a", "b"], (item) => work(item, item === "a"), 2),
    /a failed/,
  );
  assert.deepEqual(ended, ["a", "b"]);
});
