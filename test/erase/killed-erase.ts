/** Erases a user and ends, as a kill would end it, at a step: `node killed-erase.ts FOLDER USER "make 2"`. */
import { systemClock } from "../../src/common/clock.ts";
import { eraseUser } from "../../src/erase/erase.ts";
import { freeBytes } from "../../src/warehouse/disk.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { acquireLock } from "../../src/warehouse/lock.ts";

const [, , out = "", userId = "", at = ""] = process.argv;
const [kind, times = "1"] = at.split(" ");
let seen = 0;
const folder = outputFolder(out);
await using _lock = await acquireLock(folder);
await eraseUser(folder, {
  userId,
  clock: systemClock,
  threads: 1,
  freeBytes,
  onStep: (step) => {
    if (step.kind !== kind) return;
    seen += 1;
    if (seen === Number(times)) process.kill(process.pid, "SIGKILL");
  },
});
