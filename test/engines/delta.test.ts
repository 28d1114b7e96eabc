/** A table of a lake that deltalake maintains between deliveries; polars reads it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { promisify } from "node:util";
import { systemClock } from "../../src/common/clock.ts";
import { packagePath } from "../../src/common/package-root.ts";
import type { DeliveredRun } from "../../src/pipeline.ts";
import { text } from "../../src/tables/declare.ts";
import { cleanLog, readTable } from "../../src/targets/lake/delta/log.ts";
import { DAY_MS } from "../../src/targets/lake/delta/metadata.ts";
import { activeFiles } from "../../src/targets/lake/delta/state.ts";
import { vacuumLake } from "../../src/targets/lake/upkeep.ts";
import { FileStore } from "../../src/targets/store/file-store.ts";
import type { Store } from "../../src/targets/store/store.ts";
import { temporaryFolder } from "../folders.ts";
import { NEVER } from "../never.ts";
import { deliver, on } from "../targets/lake/deliver.ts";
import { watchedStore } from "../targets/lake/memory-store.ts";
import { makeRun, mark, type RunOptions, STEADY } from "../targets/lake/runs.ts";
import { pythonWith, READERS } from "./python.ts";

const python = await pythonWith(READERS);
const folder = await temporaryFolder({ after });
const lake = join(folder, "lake");
const store = new FileStore(lake, NEVER);
after(() => store[Symbol.asyncDispose]());

/** What deltalake and polars answer to each statement on a table. */
async function askOf(table: string, ...statements: string[]): Promise<unknown[]> {
  const script = packagePath("test/engines/delta.py");
  const { stdout } = await promisify(execFile)(python, [script, join(lake, table), ...statements]);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

const ask = (...statements: string[]) => askOf("content", ...statements);

/** The last run of each instance; what it has is what the table has to show. */
const delivered = new Map<string, DeliveredRun>();

/** Delivers a run with two files of `content`. */
async function night(instance: string, sequence: number, columns?: RunOptions["columns"]): Promise<void> {
  const last = delivered.get(instance);
  const run = await makeRun(folder, {
    sequence,
    machine: instance,
    tables: { content: 2, tags: 1 },
    steady: { content: 1 },
    ...(columns && { columns }),
    ...(last && { after: last }),
  });
  await deliver(on(store, instance), run);
  delivered.set(instance, run);
}

/** Instance, key and run of each row. */
function expected(): string[][] {
  const rows = [...delivered].flatMap(([instance, { sequence }]) => [
    [instance, "0", mark(instance, sequence)],
    [instance, "1", mark(instance, sequence)],
    [instance, "0", STEADY],
  ]);
  return rows.toSorted();
}

suite("a table that we write and deltalake maintains", () => {
  test("shows each version as it was", async () => {
    for (const instance of ["a", "b", "c"]) await night(instance, 1);
    const before = expected();
    await night("a", 2);
    assert.deepEqual(await ask("rows", "rows 2", "sequence a"), [expected(), before, 2]);
  });

  test("goes on after its checkpoint, OPTIMIZE and VACUUM", async () => {
    const [, optimized, rows] = await ask("checkpoint", "optimize", "rows");
    assert.equal(optimized, 6);
    assert.deepEqual(rows, expected());
    await night("b", 2);
    assert.deepEqual(await ask("rows", "checkpoint"), [expected(), null]);
    await night("a", 3);
    const [removed, later] = await ask("vacuum", "rows");
    assert.ok(Number(removed) >= 3);
    assert.deepEqual(later, expected());
    await night("b", 3);
    assert.deepEqual(await ask("rows"), [expected()]);
  });

  test("goes on after rows were deleted, which the next run of their instance brings back", async () => {
    assert.deepEqual(await ask("delete instance = 'c' AND id = 1"), [1]);
    await night("a", 4);
    const without = expected().filter(([instance, id]) => instance !== "c" || id !== "1");
    assert.deepEqual(await ask("rows"), [without]);
    await night("c", 2);
    assert.deepEqual(await ask("rows"), [expected()]);
  });

  test("keeps a column that was added there, and gets one of ours", async () => {
    await ask("add_column theirs");
    await night("a", 5);
    await night("b", 4, { content: [text("note", { comment: "A note." })] });
    assert.deepEqual(await ask("columns", "rows"), [["instance", "id", "run", "theirs", "note"], expected()]);
  });

  test("is read from our checkpoint alone, and goes on from there", async () => {
    const state = (await readTable(store, "content")) ?? assert.fail();
    await cleanLog(store, state, { nowMs: Date.now(), allVersions: true });
    const names = (await readdir(join(lake, "content/_delta_log"))).filter((name) => /^\d/.test(name));
    const version = String(state.version).padStart(20, "0");
    assert.deepEqual(names.toSorted(), [`${version}.checkpoint.parquet`, `${version}.json`]);
    assert.deepEqual(await ask("rows", "sequence b", "version"), [expected(), 4, state.version]);
    await night("c", 3);
    const [rows, , optimized, last] = await ask("rows", "checkpoint", "optimize", "rows");
    assert.deepEqual([rows, last], [expected(), expected()]);
    assert.ok(Number(optimized) > 0);
    await night("c", 4);
    assert.deepEqual(await ask("rows"), [expected()]);
    assert.equal(activeFiles(await readTable(store, "content"), "c").length, 2);
  });

  test("keeps earlier files for as long as deltalake set, after a delivery and a vacuum of ours", async () => {
    await askOf("tags", "property delta.deletedFileRetentionDuration=interval 60 days");
    await night("a", 6);
    const properties = (await readTable(store, "tags"))?.metaData.configuration;
    assert.equal(properties?.["delta.deletedFileRetentionDuration"], "interval 60 days");
    const filesAfter = async (days: number) => {
      const clock = { ...systemClock, now: () => Date.now() + days * DAY_MS };
      const list: Store["list"] = async function* (...given) {
        for await (const each of store.list(...given))
          yield { ...each, modifiedMs: each.modifiedMs + days * DAY_MS };
      };
      const later = { ...watchedStore(store, async () => undefined), list };
      await on(store).open(NEVER, (at) => vacuumLake({ ...at, store: later, clock }, { allVersions: false }));
      return (await readdir(join(lake, "tags/instance=a"))).length;
    };
    assert.deepEqual([await filesAfter(45), await filesAfter(61)], [6, 1]);
  });
});
