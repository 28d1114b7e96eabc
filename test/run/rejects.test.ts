import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import { rejectLimit } from "../../src/audit/checks/publish-gates.ts";
import type { ErrorCode } from "../../src/common/errors.ts";
import type { RejectLimits } from "../../src/raw/extract-record.ts";
import { failsWith } from "../failing.ts";
import { publishedIds, rowsOf, scriptedWorld } from "./running.ts";
import { itemsOf } from "./scripted.ts";

const NO_ITEMS: readonly (readonly [unknown, string])[] = [
  [null, "the listed item is not an object"],
  ["c-text", "the listed item is not an object"],
  [["c-list"], "the listed item is not an object"],
  [{ title: "Nameless" }, "the item has no id"],
  [{ id: null, title: "Null" }, "the item has no id"],
  [{ id: 17, title: "Number" }, "the item's id is a number, not a text"],
  [{ id: { $oid: "c-object" } }, "the item's id is a object, not a text"],
  [{ id: "" }, "the item's id is empty or has white space at its ends"],
  [{ id: " c-blank " }, "the item's id is empty or has white space at its ends"],
];

test("C14, C15: what is no item goes to run_rejects with its reason and document; the rest is published, and the account holds", async (t) => {
  const { exported } = await scriptedWorld(t, [...itemsOf(12), ...NO_ITEMS.map(([document]) => document)]);
  const summary = await exported({
    config: { perPage: 4 },
  });
  const { listed, loaded, rejected, vanished, counted } = summary.items;
  assert.deepEqual(
    [summary.verdict, listed, loaded, rejected, vanished, counted],
    ["complete", 21, 12, 9, 0, 21],
  );
  const rejects = await rowsOf(
    summary.directory,
    "SELECT mode, page::INTEGER, position::INTEGER, reason, document::VARCHAR FROM run_rejects ORDER BY reject",
  );
  const expected = ["dynamic", "full"].flatMap((mode) =>
    NO_ITEMS.map(([document, reason], index) => {
      const place = 12 + index;
      return [mode, Math.floor(place / 4) + 1, place % 4, reason, JSON.stringify(document)];
    }),
  );
  assert.deepEqual(rejects, expected);
  assert.deepEqual(
    await publishedIds(summary.directory),
    itemsOf(12).map(({ id }) => id),
  );
  const checks =
    "SELECT verdict, figure, expected, detail FROM run_checks WHERE check_name LIKE 'listed%' ORDER BY check_name";
  assert.deepEqual(
    (await rowsOf(summary.directory, checks)).map((row) => row.slice(0, 3)),
    [
      ["passed", "21", "21"],
      ["passed", "21", "21"],
      ["warning", "9", "20"],
    ],
  );
});

test("C14: the limit of rejects is a number or a share of the listed items, whichever is more", () => {
  const cases: readonly (readonly [listed: number, limits: RejectLimits, limit: number])[] = [
    [100, { share: 0.005, items: 20 }, 20],
    [4399, { share: 0.005, items: 20 }, 21],
    [4400, { share: 0.005, items: 20 }, 22],
    [100, { items: 30, share: 0 }, 30],
    [100, { items: 0, share: 0 }, 0],
    [100, { items: 0, share: 0.255 }, 25],
    [100, { items: 0, share: 0.01 }, 1],
  ];
  for (const [listed, limits, limit] of cases) assert.equal(rejectLimit(listed, limits), limit);
});

/** How a run ends with so many items, and so many things in the same listing that are none. */
async function failing(t: TestContext, code: ErrorCode, items: number, rejects: readonly unknown[]) {
  const { out, exported } = await scriptedWorld(t, [...itemsOf(items), ...rejects]);
  return { out, error: await failsWith(code, exported({ config: { perPage: 1000 } })) };
}

const nulls = (count: number) => Array.from({ length: count }, () => null);

test("C14: more of them end the run with 22, with what is wrong with them, and nothing is published", async (t) => {
  const { out, error } = await failing(t, "source.rejects", 80, [...nulls(15), ...Array(6).fill({})]);
  assert.equal(error.exitCode, 22);
  assert.equal(
    error.message,
    "21 of 101 listed items could not be read, limit: 20 (the listed item is not an object; " +
      "the item has no id); nothing was published. Ask the operator of the service what changed, or set `maxRejects`.",
  );
  assert.deepEqual(await readdir(out), []);
});

test("C15: where most of them have an id of another type, it is the contract that is broken", async (t) => {
  const numbers = (count: number) => Array.from({ length: count }, (_, id) => ({ id }));
  await failing(t, "source.rejects", 5, [...nulls(11), ...numbers(10)]);
  const { error } = await failing(t, "contract.drift", 5, [...nulls(10), ...numbers(11)]);
  assert.equal(error.exitCode, 23);
});
