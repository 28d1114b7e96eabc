/** Holds the lock of the folder that is its argument until its standard input ends. */

import { acquireLock } from "../../src/warehouse/lock.ts";
import { prepareOutput } from "../../src/warehouse/prepare-output.ts";

await using _lock = await acquireLock(await prepareOutput(process.argv[2] ?? ""));
process.stdout.write("held\n");
for await (const _ of process.stdin);
