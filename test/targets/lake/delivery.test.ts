import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { DeliveredRun, Target } from "../../../src/pipeline.ts";
import { text } from "../../../src/tables/declare.ts";
import { lake } from "../../../src/targets/lake/lake.ts";
import { openFileStore } from "../../../src/targets/store/file-store.ts";
import { temporaryFolder } from "../../folders.ts";
import { assertNothingMixed, makeRun, mark, seenIn, snapshotsIn } from "./runs.ts";

async function deliver(target: Target, run: DeliveredRun): Promise<void> {
  const staged = await target.stage(run);
  await staged.commit();
}

suite("a delivery to a lake", () => {
  test("shows each table's rows, and names the versions that have them", async (t) => {
    const folder = await temporaryFolder(t);
    const target = lake({ url: pathToFileURL(`${folder}/lake`).href, instance: "one" });
    const store = openFileStore(`${folder}/lake`, new AbortController().signal);
    for (const sequence of [1, 2]) {
      const run = await makeRun(folder, { sequence, machine: "a" });
      await deliver(target, run);
      const { sha256 } = run.manifest;
      assert.deepEqual(await target.last(run.instance, run.signal), { run: run.run, sequence, sha256 });
      assert.deepEqual(await seenIn(store, "one"), {
        content: { [mark("a", sequence)]: 3 },
        empty: {},
        tags: { [mark("a", sequence)]: 5 },
      });
    }
    assert.equal((await snapshotsIn(store, "one")).length, 6);
    await assertNothingMixed(store, "one");
  });

  test("takes a table whose column has the name that DuckDB gives a file's", async (t) => {
    const folder = await temporaryFolder(t);
    const target = lake({ url: pathToFileURL(`${folder}/lake`).href, instance: "one" });
    const columns = { content: [text("filename", { comment: "File name." })] };
    await deliver(target, await makeRun(folder, { sequence: 1, machine: "a", columns }));
    const seen = await seenIn(openFileStore(`${folder}/lake`, new AbortController().signal), "one");
    assert.deepEqual(seen.content, { [mark("a", 1)]: 3 });
  });
});
