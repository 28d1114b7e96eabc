/** The nightly pipeline in a process of its own. Prints its summary and what it took. */
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { measured } from "./measured.ts";
import { StageClock } from "./stages.ts";

const [, , out = "", config] = process.argv;
const began = performance.now();
const stages = new StageClock();
const summary = await runPipeline({
  pipeline: "nightly",
  out,
  env: process.env,
  cwd: process.cwd(),
  onProgress: ({ stage }) => stages.enter(stage),
  ...(config === undefined ? {} : { config }),
});
const seconds = (performance.now() - began) / 1000;
process.stdout.write(`${JSON.stringify({ summary, seconds, stages: stages.end(), ...measured() })}\n`);
