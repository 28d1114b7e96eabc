import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Config } from "../../../src/config/config.ts";
import { SourceError } from "../../../src/extract/http/source-error.ts";
import { type FirstPage, PageSizeChooser } from "../../../src/extract/passes/page-size.ts";
import type { Extraction } from "../../../src/raw/extract-record.ts";
import { readManifest } from "../../../src/warehouse/manifest.ts";
import { failsWith } from "../../failing.ts";
import { either, long } from "../../long.ts";
import fc from "../../properties.ts";
import { exportFrom, HurriedClock, publishedIds, rowsOf, temporaryFolder } from "../../run/running.ts";
import { itemsOf, type Question, Scripted } from "../../run/scripted.ts";
import { interrupted } from "../landing/resuming.ts";

const MB = 1024 * 1024;

interface Service {
  readonly items: number;
  readonly bytesPerItem: number;
  /** Items a page that it gives at most. */
  readonly most: number;
  /** Whether it says so. */
  readonly honest: boolean;
  /** Pages of more items are refused. */
  readonly refuses: number;
}

const FRIENDLY: Service = { items: 5000, bytesPerItem: 100, most: 10_000, honest: true, refuses: 10_000 };

function pageOf({ items, bytesPerItem, most, honest, refuses }: Service, asked: number): FirstPage {
  if (asked > refuses) throw new SourceError("source.protocol", "No.", { status: 422 });
  const given = Math.min(asked, most);
  const rows = Math.min(given, items);
  const perPage = honest ? given : asked;
  return { perPage, count: items, rows, decodedBytes: rows * bytesPerItem, milliseconds: 100 };
}

async function choose(service: Service, remembered: Extraction["reading"]["pageSizes"] = {}) {
  const asked: number[] = [];
  const sizes = new PageSizeChooser("auto", remembered, null);
  const { perPage, first } = await sizes.choose("dynamic", undefined, async (size) => {
    asked.push(size);
    return pageOf(service, size);
  });
  return { perPage, first, asked };
}

const CASES: readonly [
  what: string,
  service: Partial<Service>,
  remembered: Extraction["reading"]["pageSizes"],
  perPage: number,
  asked: number[],
][] = [
  ["small items", {}, {}, 1000, [100, 200, 500, 1000]],
  ["the size of the run before", {}, { dynamic: 1000 }, 1000, [1000]],
  ["larger ones than the run before", {}, { dynamic: 200 }, 1000, [200, 500, 1000]],
  ["items of 20 KB", { bytesPerItem: 20_000 }, {}, 200, [100, 200]],
  ["items of 1 MB", { bytesPerItem: MB }, {}, 100, [100]],
  ["items that have become larger", { bytesPerItem: 20_000 }, { dynamic: 1000 }, 100, [1000]],
  ["few items", { items: 150 }, {}, 200, [100, 200]],
  ["as few as a page has", { items: 100 }, {}, 100, [100]],
  ["D8: a service that gives 100 and says so", { most: 100 }, {}, 100, [100, 200]],
  ["D8: a service that gives 100 and does not say so", { most: 100, honest: false }, {}, 100, [100, 200]],
  ["D8: a service that gives 50", { most: 50 }, {}, 50, [100]],
  ["D8: a service that gives fewer than it did", { most: 100 }, { dynamic: 500 }, 100, [500]],
  ["a service that refuses 500", { refuses: 499 }, {}, 200, [100, 200, 500]],
  ["a service that refuses what it gave before", { refuses: 100 }, { dynamic: 1000 }, 100, [1000]],
];

for (const [what, service, remembered, perPage, asked] of CASES) {
  test(`pages of ${perPage} items are chosen for ${what}`, async () => {
    const chosen = await choose({ ...FRIENDLY, ...service }, remembered);
    assert.deepEqual([chosen.perPage, chosen.asked], [perPage, asked]);
  });
}

test("what one mode found out of the service counts for the others", async () => {
  const sizes = new PageSizeChooser("auto", {}, null);
  const asked: number[] = [];
  const ask = async (size: number) => {
    asked.push(size);
    return pageOf({ ...FRIENDLY, most: 100 }, size);
  };
  await sizes.choose("dynamic", undefined, ask);
  await sizes.choose("full", undefined, ask);
  assert.deepEqual(asked, [100, 200, 100]);
});

test("the page size is one that the service grants, whatever it is like, and its page is used or asked for", async () => {
  const services = fc.record({
    items: fc.integer({ min: 0, max: 3000 }),
    bytesPerItem: fc.integer({ min: 10, max: 200_000 }),
    most: fc.integer({ min: 1, max: 2000 }),
    honest: fc.boolean(),
    refuses: fc.integer({ min: 100, max: 2000 }),
  });
  const remembered = fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined });
  await fc.assert(
    fc.asyncProperty(services, remembered, async (service, dynamic) => {
      const { perPage, first, asked } = await choose(service, { dynamic });
      assert.ok(perPage >= 1 && perPage <= 1000 && perPage <= service.refuses);
      assert.equal(new Set(asked).size, asked.length, "no size is tried twice");
      if (first !== undefined && service.honest && service.items > service.most)
        assert.ok(perPage <= service.most);
      // Further pages begin where the first one ends.
      if (first !== undefined && service.honest && first.count > first.rows)
        assert.equal(first.rows, Math.min(perPage, service.most));
    }),
    { seed: 20261123, numRuns: either(500, 2000) },
  );
});

const ITEMS = 1200;

async function autoRun(
  t: TestContext,
  script: Scripted["script"] = () => undefined,
  more: Partial<Config> = {},
  items = ITEMS,
) {
  const service = await Scripted.start(t, itemsOf(items));
  service.script = script;
  const out = join(await temporaryFolder(t), "warehouse");
  const run = () => {
    service.questions.length = 0;
    const config = { perPage: "auto", ...more } as const;
    return exportFrom({ url: service.url, out, config, clock: new HurriedClock() });
  };
  return { service, out, run };
}

const sizesAsked = (service: Scripted, mode: Question["mode"]) =>
  service.asked("list", mode).map(({ page, perPage }) => `${perPage}/${page}`);

test("a run finds the page size, uses the page that proved it, and the next run starts with it", async (t) => {
  const { service, run } = await autoRun(t, undefined, {}, 250);
  const first = await run();
  assert.equal(first.verdict, "complete");
  assert.deepEqual(sizesAsked(service, "dynamic"), ["100/1", "200/1", "500/1"]);
  assert.equal((await publishedIds(first.directory)).length, 250);
  const { pageSizes } = (await readManifest(first.directory)).found;
  assert.deepEqual(pageSizes, { dynamic: 500, full: 500 });
  const probes = "SELECT count(*), count(page) FROM run_requests WHERE mode = 'dynamic'";
  assert.deepEqual(await rowsOf(first.directory, probes), [["3", "1"]]);
  const second = await run();
  assert.deepEqual([second.verdict, second.found.requests.count], ["complete", 2]);
  for (const mode of ["dynamic", "full"] as const) assert.deepEqual(sizesAsked(service, mode), ["500/1"]);
});

test("B7: a refused token still costs one request, and a number is not probed", async (t) => {
  const refused = await autoRun(t, () => ({ status: 401 }));
  await failsWith("source.credentials", refused.run());
  assert.equal(refused.service.questions.length, 1);
  const number = await autoRun(t, undefined, { perPage: 300 }, 250);
  assert.equal((await number.run()).verdict, "complete");
  assert.deepEqual([...new Set(number.service.asked("list").map(({ perPage }) => perPage))], [300]);
});

long("G8: a pass that goes on keeps its page size", async (t) => {
  const { service, out, run } = await autoRun(t);
  const config = { perPage: "auto" } as const;
  const clock = new HurriedClock();
  await interrupted(service, { out, config, clock }, ({ mode, page }) => mode === "dynamic" && page === 2);
  const { verdict, resumed } = await run();
  assert.deepEqual([verdict, resumed], ["complete", { pages: 1, items: 0 }]);
  // The first tells which instance answers.
  assert.deepEqual(sizesAsked(service, "dynamic"), ["1/1", "1000/2"]);
});
