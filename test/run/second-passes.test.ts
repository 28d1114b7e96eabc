/** Runs in which so much changed between the first passes that both listings are read anew. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { exportFrom, HurriedClock, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, itemsOf, Scripted } from "./scripted.ts";

const ITEMS = 500;
const BEFORE_FULL = "2026-11-02T10:00:00Z";
const ANEW = { title: "New", updated_at: "2026-11-03T10:00:00Z" };

const asItem = (element: unknown) => element as Item;
const placeOf = (element: unknown) => Number(asItem(element).id.slice(2));

for (const order of ["the same order", "another order"]) {
  test(`D12: items that were edited before the second passes are as these saw them, in ${order}`, async (t) => {
    const service = await Scripted.start(t, itemsOf(ITEMS));
    const begun = { dynamic: 0, full: 0 };
    service.script = (asked) => {
      if (asked.kind !== "list" || asked.page !== 1) return undefined;
      if (asked.mode === "full") begun.full += 1;
      if (asked.mode === "dynamic") begun.dynamic += 1;
      if (asked.mode === "dynamic" && begun.dynamic === 2) {
        service.items = service.items.map((element) => ({ ...asItem(element), ...ANEW }));
      }
      return undefined;
    };
    service.arrange = (items, asked) => {
      if (asked.mode !== "full") return items;
      if (begun.full === 1) {
        return items.map((each) =>
          placeOf(each) < 230 ? { ...asItem(each), updated_at: BEFORE_FULL } : each,
        );
      }
      return order === "another order" ? items.toReversed() : items;
    };
    const { directory, verdict, sweeps } = await exportFrom({
      url: service.url,
      out: await temporaryFolder(t),
      threads: 1,
      clock: new HurriedClock(),
      config: { details: "none", perPage: 4 },
    });
    assert.deepEqual(
      [verdict, sweeps.map(({ mode }) => mode)],
      ["complete", ["dynamic", "full", "dynamic", "full"]],
    );
    assert.deepEqual(await rowsOf(directory, "SELECT title, count(*) FROM content GROUP BY ALL"), [
      ["New", "500"],
    ]);
  });
}

test("D12: an item that the second dynamic pass did not list is asked for, though the modes mean other instants", async (t) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  const begun = { dynamic: 0, basic: 0 };
  service.script = (asked) => {
    if (asked.kind !== "list" || asked.page !== 1) return undefined;
    if (asked.mode === "dynamic") begun.dynamic += 1;
    if (asked.mode === "basic") begun.basic += 1;
    if (asked.mode === "basic" && begun.basic === 1) {
      service.items = service.items.map((element) => ({ ...asItem(element), ...ANEW }));
    }
    return undefined;
  };
  service.arrange = (items, asked) => {
    if (asked.mode !== "dynamic") return items;
    return items
      .filter((element) => begun.dynamic < 2 || placeOf(element) !== 0)
      .map((element) => {
        const { updated_at: updatedAt } = asItem(element) as unknown as Record<string, unknown>;
        return { ...asItem(element), updated_at: String(updatedAt).replace("T10", "T09") };
      });
  };
  const { directory, verdict } = await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    threads: 1,
    clock: new HurriedClock(),
    config: { details: "events", perPage: 50 },
  });
  assert.deepEqual(await rowsOf(directory, "SELECT title, count(*) FROM content GROUP BY ALL"), [
    ["New", "500"],
  ]);
  assert.equal(verdict, "complete");
});

test("an item that could not be read singly is told, also where the second dynamic pass did not list it", async (t) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  let dynamic = 0;
  let full = 0;
  let hidden = false;
  service.script = (asked) => {
    if (asked.kind === "item" && asked.id === "c-000") return { status: 403 };
    if (asked.kind !== "list") return undefined;
    if (asked.mode === "dynamic" && asked.page === 1) dynamic += 1;
    if (asked.mode === "full" && asked.page === 1) full += 1;
    if (asked.mode === "full" && asked.page === 1 && full === 1) {
      service.items = service.items.map((element) =>
        placeOf(element) % 9 > 3 || placeOf(element) === 0
          ? element
          : { ...asItem(element), updated_at: BEFORE_FULL },
      );
    }
    hidden = asked.mode === "dynamic" && dynamic === 2;
    return undefined;
  };
  service.arrange = (items) => (hidden ? items.filter((element) => placeOf(element) !== 0) : items);
  const { directory } = await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    threads: 1,
    clock: new HurriedClock(),
    config: { details: "events", perPage: 50 },
  });
  const told = "SELECT verdict, figure FROM _checks WHERE check_name = 'items that could not be read singly'";
  assert.deepEqual(await rowsOf(directory, told), [["warning", "1"]]);
});
