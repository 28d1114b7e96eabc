/** A derived column is declared with its API fields and its function, and all else follows from that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, View } from "../../src/raw/document.ts";
import { Drift } from "../../src/raw/drift.ts";
import type { Cell } from "../../src/storage/table-builder.ts";
import { boolean, type Column, defineTable, text } from "../../src/tables/declare.ts";
import { contentWide } from "../../src/tables/views.ts";
import { itemRows } from "../../src/transform/rows.ts";
import { exportFrom, openPublished, temporaryFolder } from "../run/running.ts";
import { item, Scripted } from "../run/scripted.ts";
import { evergreen, withEvergreen } from "./derived-pipeline.ts";

const URLS = [{ external_site_name: "ab", published_url: "c" }, { external_site_name: null }, null];
const ITEMS = [
  item("c-1", 1, { tags: ["evergreen"], archived: false, published_urls: URLS }),
  item("c-2", 2, { tags: ["evergreen", "x"], archived: true }),
  item("c-3", 3, { tags: [], archived: false }),
  item("c-4", 4, { tags: null }),
];

test("its fields are asked for, its function makes the value, and the lineage names the fields", async (t) => {
  const service = await Scripted.start(t, ITEMS);
  const pipelineUrl = new URL("./derived-pipeline.ts", import.meta.url).href;
  const out = await temporaryFolder(t);
  const { directory, verdict } = await exportFrom({ url: service.url, out, pipelineUrl });
  assert.equal(verdict, "complete");
  const [first] = service.asked("list", "dynamic");
  assert.ok(first?.columns.includes("tags"), "no other column is from the tags");
  await using published = await openPublished(directory);
  assert.deepEqual(await published.rows("SELECT content_id, is_evergreen FROM content ORDER BY ALL"), [
    ["c-1", true],
    ["c-2", false],
    ["c-3", false],
    ["c-4", null],
  ]);
  assert.deepEqual(
    await published.rows(
      "SELECT ordinal, external_site_name, letters FROM content_published_urls ORDER BY ALL",
    ),
    [
      [0, "ab", 3],
      [1, null, 0],
      [2, null, 0],
    ],
  );
  const lineage = "SELECT resource, path FROM run_lineage WHERE column_name = 'is_evergreen' ORDER BY ALL";
  assert.deepEqual(await published.rows(lineage), [
    ["dynamic", "tags"],
    ["full", "archived"],
  ]);
});

/** The cell of a column of `content` of an item with these documents, the latest first. */
function cellOf(column: Column, ...documents: readonly JsonObject[]): Cell | undefined {
  const views = documents.map(
    (document, at): View => ({ shape: "dynamic", document, observedAt: 0, order: -at, unknown: [] }),
  );
  let cell: Cell | undefined;
  itemRows(withEvergreen(column), "always")(
    { contentId: "c-1", views, order: 0, drift: new Drift() },
    (row) => {
      cell = row.at(-2);
    },
  );
  return cell;
}

test("a view has its column as that of the table", () => {
  const { columns } = withEvergreen(evergreen);
  const wide = defineTable({ ...contentWide, columns });
  assert.deepEqual(
    wide.columns.find(({ name }) => name === "is_evergreen"),
    evergreen,
  );
});

test("each value is that of the latest document; what it has emptied is not an earlier one's", () => {
  const place = text("place", {
    from: ["dynamic:next_task.description", "dynamic:slug"],
    comment: "x",
    make: (values) => JSON.stringify(values),
  });
  const earlier = { id: "c-1", next_task: { description: "old" }, slug: "old" };
  assert.equal(cellOf(place, { id: "c-1", next_task: {} }, earlier), '{"dynamic:slug":"old"}');
});

for (const [what, make, message] of [
  ["another type", () => "yes", /item c-1: column is_evergreen takes true or false, not "yes"\.$/],
  ["an error", () => assert.fail("no"), /the function of its column is_evergreen failed: /],
  [
    "a change",
    (values: object) => Object.values(values).map((value) => value?.push("x")),
    /failed: .*not extensible/,
  ],
] as const) {
  test(`a function that gives ${what} ends the run, with table, item and column`, () => {
    const column = { ...evergreen, make: make as NonNullable<typeof evergreen.make> };
    assert.throws(() => cellOf(column, { id: "c-1", tags: [] }), message);
  });
}

test("a column that is from nowhere, and a function where rows have the values, are refused", () => {
  const nowhere = boolean("is_evergreen", { comment: "x" });
  assert.throws(() => cellOf(nowhere, { id: "c-1" }), /neither API fields nor a function/);
  const columns = [text("a", { from: ["full:id"], comment: "x", required: true, make: () => "a" })];
  assert.throws(
    () => defineTable({ name: "a", comment: "x", stage: "item", key: ["a"], columns }),
    /a: a has make, but the table's rows have its values/,
  );
});
