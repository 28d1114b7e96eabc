/** One export in a process of its own: prints its summary with the peak memory and the CPU time of the process. */
import { runPipeline } from "../../src/run/run-pipeline.ts";

const [, , out = ""] = process.argv;
const summary = await runPipeline({ pipeline: "nightly", out, env: process.env, cwd: process.cwd() });
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
const measured = { peakMemoryMb: maxRSS / 1024, cpuSeconds: (userCPUTime + systemCPUTime) / 1e6 };
process.stdout.write(`${JSON.stringify({ summary, ...measured })}\n`);
