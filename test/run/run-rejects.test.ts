import assert from "node:assert/strict";
import { test } from "node:test";
import { exportFrom, publishedIds, rowsOf, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

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
  const service = await Scripted.start(t, [...itemsOf(12), ...NO_ITEMS.map(([document]) => document)]);
  const summary = await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    config: { perPage: 4 },
  });
  const { listed, loaded, rejected, vanished, counted } = summary.accounting;
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
    "SELECT verdict, figure, expected FROM run_checks WHERE check_name LIKE 'listed =%' ORDER BY check_name";
  assert.deepEqual(await rowsOf(summary.directory, checks), [
    ["passed", "21", "21"],
    ["passed", "21", "21"],
  ]);
});

test("E3: a single-item answer of another item is a reject, and the listed views count", async (t) => {
  const service = await Scripted.start(t, itemsOf(11));
  service.script = ({ kind, id }) =>
    kind === "item" && id === "c-010" ? { body: { response: itemsOf(11)[3] } } : undefined;
  const { directory, accounting } = await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    config: { details: "events", perPage: 100 },
  });
  assert.deepEqual([accounting.listed, accounting.loaded, accounting.rejected], [11, 11, 0]);
  assert.deepEqual(await rowsOf(directory, "SELECT mode, content_id, reason FROM run_rejects"), [
    ["item", "c-010", "the response is about another item"],
  ]);
});
