import assert from "node:assert/strict";
import { test } from "node:test";
import { type PageSummary, uncleanReasons } from "../../src/extract/passes/verdict.ts";
import { long } from "../long.ts";
import { exportFrom, publishedIds, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, item, itemsOf, listBody, Scripted } from "./scripted.ts";

/** Pages of a pass by their number of rows. */
function marks(
  rows: readonly number[],
  change: (page: number) => object = () => ({}),
): Map<number, PageSummary> {
  const count = rows.reduce((sum, each) => sum + each, 0);
  const pages = rows.map((each, index): [number, PageSummary] => {
    const page = index + 1;
    const next = page < rows.length ? page + 1 : null;
    const pagination = { current: page, next, per_page: 5, count, pages: rows.length, ...change(page) };
    return [page, { pagination, rows: each }];
  });
  return new Map(pages);
}

test("D1, D2, D4, D6, D8, D9, D11, D16, D17: a pass is clean where its pages fit together, and else says why not", () => {
  const cases: readonly (readonly [Map<number, PageSummary>, string | null, object?])[] = [
    [marks([5, 5, 2]), null],
    // One listed thing is no item.
    [marks([5, 5, 2]), null, { distinct: 11, rejected: 1 }],
    // The service gives smaller pages than it says.
    [marks([5, 5, 2], () => ({ per_page: 100 })), null],
    [marks([0]), null, { distinct: 0 }],
    [marks([0], () => ({ pages: 0 })), null, { distinct: 0 }],
    [marks([5, 5, 2]), "1 row repeats an item of the same pass", { distinct: 11, duplicates: 1 }],
    [
      marks([5, 5, 2], (page) => ({ count: page === 2 ? 13 : 12 })),
      "the total changed from 12 to 13 on page 2",
    ],
    [marks([5, 5, 2], (page) => ({ per_page: page })), "the page size changed from 1 to 2 on page 2"],
    [marks([5, 5, 2], () => ({ pages: 2 })), "3 pages were read, 2 announced"],
    [marks([5, 4, 4, 3]), "page 2 has 4 items, the first 5, and 1 more before the last differ"],
    [marks([5, 0, 5, 2]), "page 2 has 0 items, the first 5"],
    [marks([5, 5, 2], (page) => (page === 2 ? { next: null } : {})), "page 2 of 3 says that no page follows"],
    [marks([5, 5, 2], () => ({ count: 14 })), "12 items were listed, the service counts 14"],
  ];
  for (const [pages, reason, seen] of cases) {
    const { rejected, ...snapshot } = { distinct: 12, duplicates: 0, rejected: 0, ...seen };
    const reasons = uncleanReasons(pages, snapshot, rejected);
    if (reason === null) assert.deepEqual(reasons, []);
    else assert.ok(reasons.includes(reason), `${reason} is not among ${reasons}`);
  }
});

/** Items that are read in two groups of pages, at one item a page. */
const GROUPS = 70;

test("D12, D13: what comes between the passes is there, what goes has vanished by the service's own word", async (t) => {
  const service = await Scripted.start(t, itemsOf(12));
  service.script = ({ mode, page }) => {
    if (mode === "full" && page === 1) {
      const [first, , ...rest] = service.items;
      service.items = [...rest, item("c-new", 1), first];
    }
    return undefined;
  };
  const summary = await exportFrom({ url: service.url, out: await temporaryFolder(t), threads: 1 });
  assert.equal(summary.verdict, "complete");
  assert.deepEqual(
    summary.passes.map(({ mode }) => mode),
    ["dynamic", "full", "basic"],
  );
  const digests = await rowsOf(summary.directory, "SELECT digest FROM run_passes ORDER BY pass");
  assert.notDeepEqual(digests[0], digests[1]);
  assert.deepEqual(digests[1], digests[2]);
  const ids = itemsOf(12).map(({ id }) => id);
  const left = [...ids.filter((id) => id !== "c-001"), "c-new"].sort();
  assert.deepEqual(await publishedIds(summary.directory), left);
  const { listed, loaded, vanished, listedLast, counted, complete } = summary.accounting;
  assert.deepEqual([listed, loaded, vanished, listedLast, counted, complete], [13, 12, 1, 12, 12, true]);
  const tags = "SELECT content_id, count(*) FROM content_tags GROUP BY ALL ORDER BY ALL";
  assert.deepEqual(
    await rowsOf(summary.directory, tags),
    left.map((id) => [id, "2"]),
  );
});

long("D17: far more pages are announced than the items can fill: a few are tried, and no more", async (t) => {
  const service = await Scripted.start(t, itemsOf(12));
  service.script = (question) => {
    if (question.kind !== "list") return undefined;
    const { pagination, ...body } = listBody(service.items, question);
    return { body: { ...body, pagination: { ...pagination, pages: 1_000_000_000 } } };
  };
  const { verdict, reasons } = await exportFrom({ url: service.url, out: await temporaryFolder(t) });
  assert.equal(verdict, "unsettled");
  assert.match(reasons.join("; "), /1000000000 announced/);
  assert.ok(service.asked("list").length < 180, `${service.asked("list").length} pages were asked for`);
});

test("D15: two modes that list the same items in other orders make a complete run, in which each item has both its views", async (t) => {
  const service = await Scripted.start(t, itemsOf(GROUPS));
  service.arrange = (items, { mode }) => {
    const views = items.map((each) => ({
      ...(each as Item),
      ...(mode === "full"
        ? { content: `body of ${(each as Item).id}` }
        : { excerpt: `start of ${(each as Item).id}` }),
    }));
    return mode === "full" ? views.reverse() : views;
  };
  const stages = new Set<string>();
  const summary = await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    config: { perPage: 1 },
    onProgress: ({ stage }) => stages.add(stage),
  });
  assert.ok(stages.has("transform"), "some items could not be paired on the way");
  assert.deepEqual([summary.verdict, summary.reasons], ["complete", []]);
  assert.deepEqual(
    await rowsOf(summary.directory, "SELECT content_id, excerpt, content FROM content ORDER BY content_id"),
    itemsOf(GROUPS).map(({ id }) => [id, `start of ${id}`, `body of ${id}`]),
  );
});
