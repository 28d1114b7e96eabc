import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

/**
 * Prints megabytes: of the young generation of a main thread that had much to do, of that of a thread that begins, and what
 * is left of 64 that nobody holds after a collection.
 */
const PROGRAM = `
import { once } from "node:events";
import { getHeapSpaceStatistics } from "node:v8";
import { Worker } from "node:worker_threads";
const young = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space").space_size / 2 ** 20;
const [flags] = process.argv.slice(1);
if (flags) (await import(flags)).keepHeapsSmall();
let held = new Uint8Array(64 * 2 ** 20);
held = undefined;
globalThis.gc?.();
const left = process.memoryUsage().arrayBuffers / 2 ** 20;
let kept = [];
for (let round = 0; round < 150; round++) {
  kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
  if (kept.length > 20) kept = [];
}
const worker = new Worker(
  'import { parentPort } from "node:worker_threads"; import { getHeapSpaceStatistics } from "node:v8";' +
    'parentPort.postMessage(getHeapSpaceStatistics().find((space) => space.space_name === "new_space").space_size / 2 ** 20)',
  { eval: true, resourceLimits: { maxYoungGenerationSizeMb: 36 } },
);
const [thread] = await once(worker, "message");
const main = young();
console.log(JSON.stringify({ main, thread, left }));
`;

async function megabytes(...args: string[]): Promise<{ main: number; thread: number; left: number }> {
  const options = ["--input-type=module", "--eval", PROGRAM, "--", ...args];
  return JSON.parse((await promisify(execFile)(process.execPath, options)).stdout);
}

test("a run's main thread keeps a small young generation, its threads begin with a whole one, and garbage can be collected", async () => {
  const plain = await megabytes();
  const small = await megabytes(new URL("../../src/cli/v8-flags.ts", import.meta.url).href);
  assert.ok(small.main <= 8 && small.main < plain.main, `${small.main} and ${plain.main} MB`);
  assert.ok(small.thread >= 8 && small.thread > plain.thread, `${small.thread} and ${plain.thread} MB`);
  assert.ok(small.left < 32, `${small.left} MB`);
});
