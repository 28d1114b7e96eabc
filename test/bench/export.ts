/** The nightly pipeline in a process of its own, as it is installed. Prints its summary and what it took. */
import type * as heap from "../../src/cli/heap.ts";
import type * as pipelines from "../../src/run/run-pipeline.ts";
import { measured } from "./measured.ts";
import { StageClock } from "./stages.ts";

const [, , out = "", config] = process.argv;
const built = (path: string) => new URL(`../../dist/src/${path}`, import.meta.url).href;

const { keepYoungGenerationsSmall }: typeof heap = await import(built("cli/heap.js"));
keepYoungGenerationsSmall();
const { runPipeline }: typeof pipelines = await import(built("run/run-pipeline.js"));
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
