/** The command line in a process that loads everything first and begins when it is told to: what is killed is a run. */
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";

// One thread is enough for a few items, and what it costs to begin others is most of a small run.
os.availableParallelism = () => 1;
syncBuiltinESMExports();
const { main } = await import("../../src/cli/program.ts");

process.stdin.once("data", async () => {
  process.stdin.destroy();
  process.exitCode = await main(process.argv);
});
process.stdout.write("ready\n");
