import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

const HEAP = new URL("../../src/cli/v8-flags.ts", import.meta.url).href;

/** Megabytes of the young generation of the main thread, that had much to do, and of a thread that begins. */
const PROGRAM = `
import { once } from "node:events";
import { getHeapSpaceStatistics } from "node:v8";
import { Worker } from "node:worker_threads";
const young = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space").space_size / 2 ** 20;
if (process.argv.includes("small")) (await import(${JSON.stringify(HEAP)})).keepHeapsSmall();
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
console.log(JSON.stringify({ main: young(), thread }));
`;

async function youngGenerations(...args: string[]): Promise<{ main: number; thread: number }> {
  return JSON.parse(await outputOf(PROGRAM, ...args));
}

async function outputOf(program: string, ...args: string[]): Promise<string> {
  const options = ["--input-type=module", "--eval", program, "--", ...args];
  return (await promisify(execFile)(process.execPath, options)).stdout;
}

test("a run's main thread keeps a small young generation, and its threads begin with a whole one", async () => {
  const grown = await youngGenerations();
  const small = await youngGenerations("small");
  assert.ok(small.main <= 8 && small.main < grown.main, `${small.main} and ${grown.main} MB`);
  assert.ok(small.thread >= 8 && small.thread > grown.thread, `${small.thread} and ${grown.thread} MB`);
});

test("garbage of a run can be asked for to be taken away", async () => {
  const program = `
    (await import(${JSON.stringify(HEAP)})).keepHeapsSmall();
    let held = new Uint8Array(64 * 2 ** 20);
    held = undefined;
    globalThis.gc();
    console.log(process.memoryUsage().arrayBuffers / 2 ** 20);
  `;
  const left = Number(await outputOf(program));
  assert.ok(left < 32, `${left} MB`);
});
