/** Replays all runs from one on and ends, as a kill would end it, at a step: `node killed-replay.ts FOLDER RUN "make 2"`. */
import { findReadable } from "../../src/audit/open-run.ts";
import { silentLog } from "../../src/common/log.ts";
import { configuredWishes } from "../../src/config/config.ts";
import { replayRuns } from "../../src/run/replay/replay.ts";
import { freeBytes } from "../../src/warehouse/disk.ts";
import { outputFolder } from "../../src/warehouse/layout.ts";
import { acquireLock } from "../../src/warehouse/lock.ts";

const [, , out = "", run = "", at = ""] = process.argv;
const [kind, times = "1"] = at.split(" ");
let seen = 0;
const folder = outputFolder(out);
await using _lock = await acquireLock(folder);
await replayRuns({
  folder,
  run: await findReadable(folder, run),
  pipelineUrl: null,
  wishes: await configuredWishes({ cwd: out, env: {}, flags: {} }),
  threads: 1,
  nodeVersion: process.versions.node,
  freeBytes,
  signal: new AbortController().signal,
  onProgress: () => {},
  log: silentLog,
  onStep: (step) => {
    // A number of milliseconds: at some point of the work.
    if (kind === "after" && seen++ === 0)
      setTimeout(() => process.kill(process.pid, "SIGKILL"), Number(times));
    if (step.kind !== kind) return;
    seen += 1;
    if (seen === Number(times)) process.kill(process.pid, "SIGKILL");
  },
});
