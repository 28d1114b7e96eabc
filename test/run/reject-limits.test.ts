import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import type { Config } from "../../src/config/config.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { readManifest } from "../../src/warehouse/manifest.ts";
import { failsWith } from "../failing.ts";
import { long } from "../long.ts";
import { exportFrom, rowsOf, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

/** A run of so many items, and so many things in the same listing that are none. */
async function run(
  t: TestContext,
  items: number,
  rejects: readonly unknown[],
  out?: string,
  more: Partial<Config> = {},
): Promise<RunSummary> {
  const service = await Scripted.start(t, [...itemsOf(items), ...rejects]);
  const config = { perPage: 1000, ...more };
  return exportFrom({ url: service.url, out: out ?? (await temporaryFolder(t)), threads: 1, config });
}

const nulls = (count: number) => Array.from({ length: count }, () => null);
const CHECK =
  "SELECT verdict, figure, expected, detail FROM run_checks WHERE check_name LIKE 'listed items that could not%'";

test("C14: up to 20 listed things that are no items are rejects, and told", async (t) => {
  const { directory, accounting } = await run(t, 80, nulls(20));
  assert.equal(accounting.rejected, 20);
  assert.deepEqual(await rowsOf(directory, CHECK), [["warning", "20", "20", "of 100; see run_rejects"]]);
});

test("C14: more of them end the run with 22, with what is wrong with them, and nothing is published", async (t) => {
  const out = await temporaryFolder(t);
  const error = await failsWith("source.rejects", run(t, 80, [...nulls(15), ...Array(6).fill({})], out));
  assert.equal(error.exitCode, 22);
  assert.equal(
    error.message,
    "21 of 101 listed items could not be read, limit: 20 (the listed item is not an object; " +
      "the item has no id); nothing was published. Ask the operator of the service what changed, or set `maxRejects`.",
  );
  assert.deepEqual(await readdir(out), []);
});

long("C14: of a large listing, one in two hundred is borne", async (t) => {
  assert.equal((await run(t, 4378, nulls(22))).accounting.rejected, 22);
  await failsWith("source.rejects", run(t, 4377, nulls(23)));
});

long("C14: maxRejects is a number of them, or a share", async (t) => {
  const few = (rejects: number, items: number, share: number) =>
    run(t, 100 - rejects, nulls(rejects), undefined, { maxRejects: { items, share } });
  assert.equal((await few(30, 30, 0)).accounting.rejected, 30);
  await failsWith("source.rejects", few(1, 0, 0));
  assert.equal((await few(25, 0, 0.255)).accounting.rejected, 25);
  await failsWith("source.rejects", few(2, 0, 0.01));
  const { directory } = await few(3, 0, 0.05);
  const { items } = await readManifest(directory);
  assert.deepEqual(items, { listed: 100, loaded: 97, rejected: 3, vanished: 0, unread: 0 });
});

test("C15: where most of them have an id of another type, it is the contract that is broken", async (t) => {
  const numbers = (count: number) => Array.from({ length: count }, (_, id) => ({ id }));
  await failsWith("source.rejects", run(t, 5, [...nulls(11), ...numbers(10)]));
  assert.equal((await failsWith("contract.drift", run(t, 5, [...nulls(10), ...numbers(11)]))).exitCode, 23);
});
