import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { type PageSummary, uncleanReasons } from "../../src/extract/passes/verdict.ts";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { long } from "../long.ts";
import { exportFrom, publishedIds, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, item, itemsOf, listBody, type Question, type Reply, Scripted } from "./scripted.ts";

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

/** A run over a service whose listing changes as `prepare` says, and the verdict that it must have. */
async function changingRun(
  t: TestContext,
  verdict: RunSummary["verdict"],
  prepare: (service: Scripted) => void,
): Promise<{ summary: RunSummary; service: Scripted }> {
  const service = await Scripted.start(t, itemsOf(12));
  prepare(service);
  const out = await temporaryFolder(t);
  const summary = await exportFrom({ url: service.url, out, threads: 1 });
  assert.equal(summary.verdict, verdict);
  return { summary, service };
}

const passes = ({ passes }: RunSummary): string[] => passes.map(({ mode }) => mode);

/** Changes the listing before the first request of the second pass. */
function betweenPasses(change: (service: Scripted) => void): (service: Scripted) => void {
  return (service) => {
    service.script = ({ mode, page }) => {
      if (mode === "full" && page === 1) change(service);
      return undefined;
    };
  };
}

function replyTo(matches: (question: Question) => boolean, reply: (question: Question) => Reply) {
  return (service: Scripted) => {
    service.script = (question) =>
      question.kind === "list" && matches(question) ? reply(question) : undefined;
  };
}

const ids = itemsOf(12).map(({ id }) => id);

suite("a run whose listing changes while it is read", () => {
  test("D12, D13: what comes between the passes is there, what goes has vanished by the service's own word", async (t) => {
    const { summary } = await changingRun(
      t,
      "complete",
      betweenPasses((service) => {
        const [first, second, ...rest] = service.items;
        service.items = [...rest, item("c-new", 1), first];
        assert.equal((second as Item).id, "c-001");
      }),
    );
    assert.deepEqual(passes(summary), ["dynamic", "full", "basic"]);
    const digests = await rowsOf(summary.directory, "SELECT digest FROM run_passes ORDER BY pass");
    assert.notDeepEqual(digests[0], digests[1]);
    assert.deepEqual(digests[1], digests[2]);
    const left = [...ids.filter((id) => id !== "c-001"), "c-new"].sort();
    assert.deepEqual(await publishedIds(summary.directory), left);
    assert.deepEqual(summary.accounting, {
      listed: 13,
      loaded: 12,
      rejected: 0,
      vanished: 1,
      unread: 0,
      listedLast: 12,
      counted: 12,
      complete: true,
    });
    const tags = await rowsOf(
      summary.directory,
      "SELECT content_id, count(*) FROM content_tags GROUP BY ALL ORDER BY ALL",
    );
    assert.deepEqual(
      tags,
      left.map((id) => [id, "2"]),
    );
  });

  /** What the pagination of every page says, by what it comes to. */
  const WRONG: Readonly<Record<string, readonly [change: object, reason: RegExp]>> = {
    "D16: the service's own total is wrong on every page": [
      { count: 15 },
      /12 items were listed, the service counts 15/,
    ],
    "D17: more pages follow than were announced: they are read for as long as each names a next one": [
      { pages: 1 },
      /3 pages were read, 1 announced/,
    ],
    "D17: far more pages are announced than the items can fill: a few are tried, and no more": [
      { pages: 1_000_000_000 },
      /1000000000 announced/,
    ],
  };
  for (const [what, [change, reason]] of Object.entries(WRONG)) {
    long(what, async (t) => {
      const { summary, service } = await changingRun(
        t,
        "unsettled",
        replyTo(
          () => true,
          (question) => {
            const body = listBody(itemsOf(12), question);
            return { body: { ...body, pagination: { ...body.pagination, ...change } } };
          },
        ),
      );
      assert.match(summary.reasons.join("; "), reason);
      assert.ok(service.asked("list").length < 180, `${service.asked("list").length} pages were asked for`);
      assert.deepEqual(await publishedIds(summary.directory), ids);
    });
  }
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
