/** Runs in which so much changed between the first passes that both listings are read anew. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { few, long } from "../../long.ts";
import { exportFrom, HurriedClock, rowsOf, temporaryFolder } from "../../run/running.ts";
import { type Item, itemsOf, Scripted } from "../../run/scripted.ts";

const ITEMS = 500;
const BEFORE_FULL = "2026-11-02T10:00:00Z";
const ANEW = { title: "New", updated_at: "2026-11-03T10:00:00Z" };

const asItem = (element: unknown) => element as Item;
const placeOf = (element: unknown) => Number(asItem(element).id.slice(2));

/** How many passes of each mode were begun; `onPass` is called with each, before its first page is answered. */
function countPasses(service: Scripted, onPass: (mode: string, nth: number) => void): Map<string, number> {
  const begun = new Map<string, number>();
  service.script = (asked) => {
    if (asked.kind !== "list" || asked.page !== 1) return undefined;
    const nth = (begun.get(asked.mode) ?? 0) + 1;
    begun.set(asked.mode, nth);
    onPass(asked.mode, nth);
    return undefined;
  };
  return begun;
}

async function exported(t: TestContext, service: Scripted, config: Record<string, unknown>) {
  const out = await temporaryFolder(t);
  return exportFrom({ url: service.url, out, clock: new HurriedClock(), config });
}

const TITLES = "SELECT title, count(*) FROM content GROUP BY ALL";
const ALL_NEW = [["New", String(ITEMS)]];

for (const order of few(["the same order", "another order"], 1)) {
  long(
    `D12: items that were edited before the second passes are as these saw them, in ${order}`,
    async (t) => {
      const service = await Scripted.start(t, itemsOf(ITEMS));
      const begun = countPasses(service, (mode, nth) => {
        if (mode === "dynamic" && nth === 2) {
          service.items = service.items.map((element) => ({ ...asItem(element), ...ANEW }));
        }
      });
      service.arrange = (items, asked) => {
        if (asked.mode !== "full") return items;
        if (begun.get("full") === 1) {
          return items.map((each) =>
            placeOf(each) < 230 ? { ...asItem(each), updated_at: BEFORE_FULL } : each,
          );
        }
        return order === "another order" ? items.toReversed() : items;
      };
      const {
        directory,
        verdict,
        found: { passes },
      } = await exported(t, service, { details: "none", perPage: 4 });
      assert.deepEqual(
        [verdict, passes.map(({ mode }) => mode)],
        ["complete", ["dynamic", "full", "dynamic", "full"]],
      );
      assert.deepEqual(await rowsOf(directory, TITLES), ALL_NEW);
    },
  );
}

for (const nth of few([1, 2], 1)) {
  test(`D12: a bulk edit of one item in ${nth} before the first full pass is no other meaning of the times`, async (t) => {
    const service = await Scripted.start(t, itemsOf(ITEMS));
    countPasses(service, (mode, pass) => {
      if (mode !== "full" || pass !== 1) return;
      service.items = service.items.map((element) =>
        placeOf(element) % nth === 0 ? { ...asItem(element), ...ANEW } : element,
      );
    });
    const {
      directory,
      verdict,
      found: { passes },
    } = await exported(t, service, { details: "none", perPage: 50 });
    assert.deepEqual([verdict, passes.map(({ mode }) => mode)], ["complete", ["dynamic", "full", "dynamic"]]);
    const anew = "SELECT count(*) FROM content WHERE title = 'New'";
    assert.deepEqual(await rowsOf(directory, anew), [[String(ITEMS / nth)]]);
    assert.equal(service.asked("item").length, 3 * 5);
  });
}

/** The modes of the service mean different times: the dynamic one is an hour earlier. */
function ofTwoTimes(service: Scripted): void {
  const earlier = (element: unknown) => ({
    ...asItem(element),
    updated_at: String(asItem(element).updated_at).replace("T10", "T09"),
  });
  const { script } = service;
  service.arrange = (items, { mode }) => (mode === "dynamic" ? items.map(earlier) : items);
  service.script = (asked) => {
    if (asked.kind !== "item" || asked.mode !== "dynamic") return script(asked);
    const found = service.items.find((element) => asItem(element).id === asked.id);
    return { body: { response: earlier(found) } };
  };
}

long(
  "D12: an item that the second dynamic pass did not list is asked for, though the modes mean different times",
  async (t) => {
    const service = await Scripted.start(t, itemsOf(ITEMS));
    const begun = countPasses(service, () => {});
    ofTwoTimes(service);
    const { arrange } = service;
    service.arrange = (items, asked) => {
      const hidden = asked.mode === "dynamic" && begun.get("dynamic") === 2;
      return arrange(hidden ? items.filter((element) => placeOf(element) !== 100) : items, asked);
    };
    const { directory, verdict } = await exported(t, service, { details: "none", perPage: 50 });
    assert.equal(verdict, "unsettled");
    const asked =
      "SELECT count(*) FROM run_requests WHERE mode = 'item' AND content_id = 'c-100' AND pass = 3";
    assert.deepEqual(await rowsOf(directory, asked), [["2"]]);
  },
);

const BULK = "2026-11-04T10:00:00Z";

/** Edits all items before the first full pass: more than are asked for singly, so both listings are read again. */
function editAll(service: Scripted, edit: (item: Item) => Item): void {
  countPasses(service, (mode, nth) => {
    if (mode === "full" && nth === 1)
      service.items = service.items.map((element) => ({ ...edit(asItem(element)), updated_at: BULK }));
  });
}

for (const [what, second] of few(
  [
    ["is no event any more", undefined],
    ["is refused the second time", { status: 403 }],
    ["is gone the second time", { status: 404 }],
  ] as const,
  1,
)) {
  long(
    `D12: fields that only a single-item request gives are not of before the listing, where an item ${what}`,
    async (t) => {
      const service = await Scripted.start(t, itemsOf(ITEMS));
      editAll(service, (item) =>
        item.id === "c-010" && second === undefined ? { ...item, body_type: "html" } : item,
      );
      const { script } = service;
      service.script = (asked) => {
        const found = service.items.find((element) => asItem(element).id === asked.id);
        if (asked.kind !== "item" || asked.mode !== "dynamic" || found === undefined) return script(asked);
        const { id, body_type, updated_at } = asItem(found);
        if (id === "c-010" && updated_at === BULK && second !== undefined) return second;
        const place_id = body_type === "event" ? `place at ${updated_at}` : null;
        return { body: { response: { ...asItem(found), place_id } } };
      };
      const { directory, verdict } = await exported(t, service, { details: "events", perPage: 50 });
      assert.equal(verdict, "complete");
      const places = await rowsOf(
        directory,
        "SELECT place_id, count(*) FROM content_events GROUP BY ALL ORDER BY ALL",
      );
      assert.deepEqual(places, [[`place at ${BULK}`, "49"]]);
    },
  );
}

long(
  "D12: what an edit takes out of a document altogether is not published, read again or asked for singly",
  async (t) => {
    for (const items of [ITEMS, 50]) {
      const before = itemsOf(items).map((item) => ({ ...item, slug: "before", unheard_of: "before" }));
      const service = await Scripted.start(t, before);
      editAll(service, ({ slug: _, unheard_of: __, ...rest }) => rest as Item);
      const { directory, verdict } = await exported(t, service, { details: "none", perPage: 50 });
      assert.equal(verdict, "complete");
      const kept = "SELECT count(*) FROM content WHERE slug = 'before' OR extra::VARCHAR LIKE '%before%'";
      assert.deepEqual(await rowsOf(directory, kept), [["0"]]);
    }
  },
);
