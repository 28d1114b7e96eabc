/** Runs in which so much changed between the first passes that both listings are read anew. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { exportFrom, HurriedClock, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, itemsOf, Scripted } from "./scripted.ts";

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
  return exportFrom({ url: service.url, out, threads: 1, clock: new HurriedClock(), config });
}

const TITLES = "SELECT title, count(*) FROM content GROUP BY ALL";
const ALL_NEW = [["New", String(ITEMS)]];

for (const order of ["the same order", "another order"]) {
  test(`D12: items that were edited before the second passes are as these saw them, in ${order}`, async (t) => {
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
    const { directory, verdict, sweeps } = await exported(t, service, { details: "none", perPage: 4 });
    assert.deepEqual(
      [verdict, sweeps.map(({ mode }) => mode)],
      ["complete", ["dynamic", "full", "dynamic", "full"]],
    );
    assert.deepEqual(await rowsOf(directory, TITLES), ALL_NEW);
  });
}

test("D12: an item that the second dynamic pass did not list is asked for, though the modes mean other instants", async (t) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  const begun = countPasses(service, (mode, nth) => {
    if (mode === "basic" && nth === 1) {
      service.items = service.items.map((element) => ({ ...asItem(element), ...ANEW }));
    }
  });
  service.arrange = (items, asked) => {
    if (asked.mode !== "dynamic") return items;
    return items
      .filter((element) => begun.get("dynamic") === 1 || placeOf(element) !== 0)
      .map((element) => {
        const { updated_at: updatedAt } = asItem(element);
        return { ...asItem(element), updated_at: String(updatedAt).replace("T10", "T09") };
      });
  };
  const { directory, verdict } = await exported(t, service, { details: "events", perPage: 50 });
  assert.deepEqual(await rowsOf(directory, TITLES), ALL_NEW);
  assert.equal(verdict, "complete");
  const asked = "SELECT count(*) FROM _requests WHERE mode = 'item' AND content_id = 'c-000' AND sweep = 5";
  assert.deepEqual(await rowsOf(directory, asked), [["2"]]);
});

test("an item that could not be read singly is told, also where the second dynamic pass did not list it", async (t) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  const begun = countPasses(service, (mode, nth) => {
    if (mode !== "full" || nth !== 1) return;
    service.items = service.items.map((element) =>
      placeOf(element) % 9 > 3 || placeOf(element) === 0
        ? element
        : { ...asItem(element), updated_at: BEFORE_FULL },
    );
  });
  const counted = service.script;
  service.script = (asked) =>
    asked.kind === "item" && asked.id === "c-000" ? { status: 403 } : counted(asked);
  service.arrange = (items, asked) => {
    const hidden = asked.mode === "dynamic" && begun.get("dynamic") === 2;
    return hidden ? items.filter((element) => placeOf(element) !== 0) : items;
  };
  const { directory } = await exported(t, service, { details: "events", perPage: 50 });
  const told = "SELECT verdict, figure FROM _checks WHERE check_name = 'items that could not be read singly'";
  assert.deepEqual(await rowsOf(directory, told), [["warning", "1"]]);
});
