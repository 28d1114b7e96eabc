/** The command line in a process that loads everything first and begins when it is told to: what is killed is a run. */
import { main } from "../../src/cli/program.ts";

process.stdin.once("data", async () => {
  process.stdin.destroy();
  process.exitCode = await main(process.argv);
});
process.stdout.write("ready\n");
