/** What nights with few edits put into a lake, with runs of the nightly pipeline. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readTable } from "../../../src/targets/lake/delta/log.ts";
import { activeFiles } from "../../../src/targets/lake/delta/state.ts";
import { costOfNights } from "../../bench/lake-nights.ts";
import { temporaryFolder } from "../../folders.ts";
import { either } from "../../long.ts";
import { INSTANCE } from "./deliver.ts";
import { memoryStore } from "./memory-store.ts";
import { assertNothingMixed, snapshotsIn } from "./runs.ts";
import { storeAt } from "./store-at.ts";

test("a night uploads the files of tables that changed, and the log names no others", async (t) => {
  const folder = await temporaryFolder(t);
  const nights = either(2, 4);
  let night = 0;
  const after = async (objects: Parameters<typeof memoryStore>[0]) => {
    night++;
    const store = memoryStore(objects);
    await assertNothingMixed(store, INSTANCE);
    const ofTheNight = (await snapshotsIn(store, INSTANCE)).filter(({ sequence }) => sequence === night);
    assert.ok(ofTheNight.length > 0, `night ${night}`);
    for (const { table, version, rows } of ofTheNight) {
      const newest = await readTable(store, table);
      assert.ok((newest?.version ?? -1) >= version, `${table} at ${version}`);
      const files = activeFiles(
        (await readTable(storeAt(store, table, version), table)) ?? assert.fail(),
        INSTANCE,
      );
      const counts = files.map(({ add }) => Number(JSON.parse(add.stats ?? "{}").numRecords));
      assert.equal(
        counts.reduce((sum, each) => sum + each, 0),
        rows,
        table,
      );
    }
  };
  const [first, ...later] = await costOfNights(folder, {
    items: 300,
    nights,
    every: 50,
    after,
  });
  assert.ok(first !== undefined && later.length === nights - 1);
  assert.equal(first.adds, first.tableFiles);
  for (const cost of later) {
    assert.equal(cost.edited, 6);
    // The copy is raw documents, report and manifest; of the tables what the edits are in, and what tells of the run.
    assert.ok(cost.tableFiles <= 12, JSON.stringify(cost));
    // run_snapshots has two commits: the claim and the finish.
    assert.deepEqual([cost.adds, cost.commits], [cost.tableFiles, cost.tableFiles + 1]);
    assert.ok(cost.removes <= cost.adds);
    assert.ok(cost.tableBytes < first.tableBytes / 2, JSON.stringify(cost));
    assert.ok(cost.bytes < 0.8 * first.bytes, JSON.stringify(cost));
  }
});
