/** Holds the lock of the folder that is its argument until its standard input ends. */

import { acquireLock, prepareOutput } from "../../src/warehouse/lock.ts";

await using _lock = await acquireLock(await prepareOutput(process.argv[2] ?? ""));
process.stdout.write("held\n");
for await (const _ of process.stdin);
