/** The nightly pipeline in a process of its own, as it is installed. Prints its summary and what it took. */
import { built } from "./built.ts";
import { measured } from "./measured.ts";

const [, , out = "", config] = process.argv;
// As the command does before it loads anything.
process.env.UV_THREADPOOL_SIZE = "3";
const { keepHeapsSmall } = await built<typeof import("../../src/cli/v8-flags.ts")>("cli/v8-flags");
keepHeapsSmall();
const { runPipeline } = await built<typeof import("../../src/run/run-pipeline.ts")>("run/run-pipeline");
const began = performance.now();
const summary = await runPipeline({
  pipeline: "nightly",
  warehouse: out,
  env: process.env,
  cwd: process.cwd(),
  ...(config === undefined ? {} : { config }),
});
const seconds = (performance.now() - began) / 1000;
process.stdout.write(`${JSON.stringify({ summary, seconds, ...measured() })}\n`);
