/**
 * A reader who never rests: reads `run_snapshots`, and each table at the version that it names, and fails where that is
 * not one whole run. Ends when its input does, and then says how often it looked.
 */
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { assertWholeRun, byRun, withDuckDB } from "../targets/lake/kill-checks.ts";
import { lakeView } from "../targets/lake/kill-view.ts";

const [, , folder = ""] = process.argv;
/** Leaves the processor to the runs. */
const PAUSE_MS = 250;
/** How many of the runs that were seen are looked at again. */
const AGAIN = 0.02;

let reading = true;
process.stdin.on("end", () => {
  reading = false;
});
process.stdin.resume();

const view = lakeView(folder);
const newest = new Map<string, number>();
let reads = 0;
let runs = 0;
await withDuckDB(async (connection) => {
  while (reading) {
    view.advance();
    const snapshots = byRun(await view.snapshots(connection));
    for (const [instance, sequence] of newest) {
      const isThere = snapshots.some(([run]) => run.instance === instance && run.sequence === sequence);
      assert.ok(isThere, `run ${sequence} of ${instance} is gone`);
    }
    for (const run of snapshots) {
      const [{ instance, sequence }] = run;
      const before = newest.get(instance) ?? 0;
      // Each when it is seen first, and of those that were seen some again: none may change.
      if (sequence <= before && Math.random() > AGAIN) continue;
      await assertWholeRun(view, connection, run);
      reads += 1;
      if (sequence <= before) continue;
      runs += 1;
      newest.set(instance, sequence);
    }
    await setTimeout(PAUSE_MS);
  }
});
assert.ok(newest.size > 0, "nothing was delivered");
process.stdout.write(JSON.stringify({ reads, runs }));
