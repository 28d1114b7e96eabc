import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { mapParallel } from "../../src/storage/parallel.ts";

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
  const ended: unknown[] = [];
  const working = mapParallel(["a", "b"], [1, 2, 3, 4], async (_, item) => {
    if (item !== 1) await setTimeout(20);
    ended.push(item);
    if (item === 1) throw new Error("1 failed");
  });
  await assert.rejects(working, /1 failed/);
  assert.deepEqual(ended, [1, 2]);
});
