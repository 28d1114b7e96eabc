import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { few } from "../long.ts";
import { exportFrom, HurriedClock, temporaryFolder } from "./running.ts";
import { itemsOf, Scripted } from "./scripted.ts";

suite("requests", () => {
  test("no more than `ratePerSecond` are begun in a second, lookups, single items and repeated ones included", async (t) => {
    const service = await Scripted.start(t, itemsOf(20));
    const clock = new HurriedClock();
    const begun: number[] = [];
    service.script = ({ number, kind }) => {
      begun.push(clock.elapsedMs());
      if (kind === "destinations") return { body: [{ id: "d", identification: "Site" }] };
      return number === 5 ? { status: 503 } : undefined;
    };
    const config = {
      ratePerSecond: 4,
      destinations: [{ name: "Site", platform: "External" }],
      details: "events",
      // One after the other, so that the time at the service is the time of asking.
      concurrency: 1,
    } as const;
    await exportFrom({ url: service.url, out: await temporaryFolder(t), threads: 1, clock, config });
    // A lookup, four dynamic pages, two events, four full pages, one page twice, and what shows that the service answers
    // others; no item names a custom field.
    assert.equal(begun.length, 13);
    for (let first = 0; first + 4 < begun.length; first++) {
      assert.ok(
        Math.round((begun[first + 4] ?? 0) - (begun[first] ?? 0)) >= 1000,
        `five within a second: ${begun.join(", ")}`,
      );
    }
  });

  const singly = [
    ["events", ["c-000", "c-010", "c-020"]],
    ["none", []],
    ["all", itemsOf(25).map(({ id }) => id)],
  ] as const;
  for (const [details, wanted] of few(singly, 2)) {
    test(`details: "${details}" asks for ${wanted.length === 25 ? "all" : wanted.length} items singly, each once`, async (t) => {
      const service = await Scripted.start(t, itemsOf(25));
      // The first item is listed on two pages of the dynamic pass.
      service.arrange = (items, { mode, page }) =>
        mode === "dynamic" && page > 1 ? [...items.slice(0, 6), items[0], ...items.slice(7)] : items;
      await exportFrom({ url: service.url, out: await temporaryFolder(t), threads: 1, config: { details } });
      // That one and the one that it pushed out are repaired afterwards: asked for in both shapes.
      const repaired = ["c-000", "c-000", "c-006", "c-006"];
      const seen = wanted.filter((id) => id !== "c-006");
      assert.deepEqual(
        service
          .asked("item")
          .map(({ id }) => id)
          .sort(),
        [...seen, ...repaired].sort(),
      );
    });
  }
});
