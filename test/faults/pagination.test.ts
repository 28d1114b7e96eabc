import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { RunSummary } from "../../src/observe/run-summary.ts";
import { failsWith } from "../failing.ts";
import { few, long } from "../long.ts";
import { HurriedClock, publishedIds, rowsOf, scriptedWorld } from "../run/running.ts";
import { itemsOf, listBody, type Question, type Reply, type Scripted } from "../run/scripted.ts";

/** Services whose listings do not tell the truth about themselves. Twelve items on pages of five unless said. */
const IDS = itemsOf(12).map(({ id }) => id);

interface Lied {
  readonly summary: RunSummary;
  readonly service: Scripted;
}

/** A run, page after page, over a listing that is answered as `lie` says, and as it should be where that says nothing. */
async function runOver(
  t: TestContext,
  lie: (question: Question, service: Scripted) => Reply | undefined,
): Promise<Lied> {
  const { service, exported } = await scriptedWorld(t);
  service.script = (question) => (question.kind === "list" ? lie(question, service) : undefined);
  const config = { concurrency: 1 };
  const summary = await exported({ config, clock: new HurriedClock() });
  return { summary, service };
}

/** The page as it should be, but for what `change` says of its place. */
function placed(question: Question, change: object, items: readonly unknown[] = itemsOf(12)): Reply {
  const body = listBody(items, question);
  return { body: { ...body, pagination: { ...body.pagination, ...change } } };
}

const passes = ({ found: { passes } }: RunSummary): string[] => passes.map(({ mode }) => mode);

test("D3: a page that comes again in place of the next is noticed, and the next pass has what it hid", async (t) => {
  const { summary } = await runOver(t, (question) => {
    const { mode, page } = question;
    if (mode !== "dynamic" || page !== 2) return undefined;
    return { body: { ...listBody(itemsOf(12), question), response: itemsOf(5) } };
  });
  assert.equal(summary.verdict, "complete");
  assert.match(String(summary.found.passes[0]?.reason), /5 repeated rows/);
  assert.deepEqual(await publishedIds(summary.directory), IDS);
});

long(
  "D3: a page that comes again for ever leaves the run unsettled, with all that was ever listed",
  async (t) => {
    const { summary } = await runOver(t, (question) => {
      if (question.page !== 2) return undefined;
      return { body: { ...listBody(itemsOf(12), question), response: itemsOf(5) } };
    });
    assert.deepEqual([summary.verdict, summary.found.passes.length], ["unsettled", 6]);
    assert.deepEqual(await publishedIds(summary.directory), [...IDS.slice(0, 5), ...IDS.slice(10)]);
  },
);

for (const cap of few([1000, 5000, 10_000], 1)) {
  test(`D23: a listing that ends at exactly ${cap} items and says that no page follows is complete, with a warning`, async (t) => {
    for (const items of [cap, cap + 1]) {
      const { exported } = await scriptedWorld(t, itemsOf(items));
      const { directory, verdict } = await exported({ config: { perPage: 1000 } });
      const warned = await rowsOf(directory, "SELECT figure FROM run_checks WHERE verdict = 'warning'");
      assert.deepEqual([verdict, warned], ["complete", items === cap ? [[String(cap)]] : []]);
    }
  });
}

long("D6: an end that comes too early is not believed: the announced pages are read", async (t) => {
  const items = itemsOf(60);
  const { summary, service } = await runOver(t, (question) => {
    const early = question.page >= 2 && question.mode === "dynamic";
    return placed(question, early ? { next: null } : {}, items);
  });
  assert.deepEqual([summary.verdict, passes(summary)], ["complete", ["dynamic", "full", "basic"]]);
  assert.equal(service.asked("list", "dynamic").length, 12);
  assert.equal((await publishedIds(summary.directory)).length, 60);
});

test("D15: an order that changes between the pages of a pass never makes a run complete that lacks an item", async (t) => {
  let turn = 0;
  const { summary } = await runOver(t, (question, service) => {
    turn += 1;
    const by = (turn * 5) % 12;
    const turned = [...service.items.slice(by), ...service.items.slice(0, by)];
    return { body: listBody(turned, question) };
  });
  const published = await publishedIds(summary.directory);
  assert.ok(summary.verdict === "unsettled" || published.length === 12, `${published.length} of 12`);
  for (const { reason, pass } of summary.found.passes) assert.ok(reason !== null, `pass ${pass} was clean`);
});

test("D18: a last page that repeats itself under further numbers is given up", async (t) => {
  const run = runOver(t, (question) => {
    const { page } = question;
    const body = listBody(itemsOf(12), { ...question, page: Math.min(3, page) });
    return { body: { ...body, pagination: { ...body.pagination, current: page, next: page + 1 } } };
  });
  assert.equal((await failsWith("source.protocol", run)).exitCode, 22);
});
