import assert from "node:assert/strict";
import { test } from "node:test";
import { ThreadPool } from "../../src/common/threads/threads.ts";

interface Task {
  readonly kind: "task";
  readonly fails?: boolean;
}

/** Threads that answer with their setup and their thread ID. */
function poolOf(setup: string, leavesThreads: boolean) {
  const text = `import { threadId } from "node:worker_threads";
export default (setup) => ({ fails }) => {
  if (fails) setTimeout(() => { throw new Error("broken"); });
  return { setup, threadId };
};`;
  const module = new URL(`data:text/javascript,${encodeURIComponent(text)}`);
  return new ThreadPool<Task, { task: { setup: string; threadId: number } }>({
    module,
    threads: 2,
    setup: () => setup,
    leavesThreads,
  });
}

const answers = (pool: ReturnType<typeof poolOf>) =>
  Promise.all([0, 1].map((number) => pool.ask(number, { kind: "task" })));

test("a pool takes the threads that the one before left, with its own setup, and ends what it does not leave", async () => {
  const first = poolOf("first", true);
  const left = await answers(first);
  await first[Symbol.asyncDispose]();
  const second = poolOf("second", false);
  const taken = await answers(second);
  await second[Symbol.asyncDispose]();
  assert.deepEqual(taken.map(({ threadId }) => threadId).sort(), left.map(({ threadId }) => threadId).sort());
  assert.deepEqual(new Set(taken.map(({ setup }) => setup)), new Set(["second"]));
  await using third = poolOf("third", false);
  const fresh = await answers(third);
  assert.ok(fresh.every(({ threadId }) => !taken.some((each) => each.threadId === threadId)));
});

test("the threads of a pool of which one failed are left to nobody", async () => {
  const broken = poolOf("broken", true);
  const failed = await answers(broken);
  await broken.ask(0, { kind: "task", fails: true });
  await new Promise((resolve) => broken.failure.addEventListener("abort", resolve));
  await broken[Symbol.asyncDispose]();
  await using next = poolOf("next", false);
  const fresh = await answers(next);
  assert.ok(fresh.every(({ threadId }) => !failed.some((each) => each.threadId === threadId)));
});
