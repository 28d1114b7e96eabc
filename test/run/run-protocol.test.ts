import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { ErrorCode } from "../../src/common/errors.ts";
import { RESUMABLE } from "../../src/extract/extract.ts";
import { failsWith } from "../failing.ts";
import { few } from "../long.ts";
import { exportFrom, HurriedClock, scriptedWorld, temporaryFolder, visibleIn } from "./running.ts";
import { itemsOf, listBody, type Question, type Reply, Scripted } from "./scripted.ts";

/** A page of twelve items whose `pagination` says something else. */
function paged(change: object) {
  return (question: Question): Reply => {
    const body = listBody(itemsOf(12), question);
    return { body: { ...body, pagination: { ...body.pagination, ...change } } };
  };
}

/** Times that the page is asked for, where asking again may help. */
const ASKED: Partial<Record<ErrorCode, number>> = { "source.unavailable": 6, "source.damaged": 2 };

/** What page 2 of the dynamic listing answers, and smaller pages with its items; and the error. */
const CASES: Readonly<
  Record<string, readonly [reply: (question: Question) => Reply, code: ErrorCode, message: RegExp]>
> = {
  "D10: a page that says it is another": [paged({ current: 1 }), "source.protocol", /sent page 1/],
  "D7: a page without end": [paged({ next: 3 }), "source.protocol", /continues after page/],
  "B15: status 206": [() => ({ status: 206, body: {} }), "source.protocol", /status 206/],
  "B16: an empty list instead of an envelope": [() => ({ body: [] }), "source.protocol", /content service/],
  "B16: an empty body": [() => ({ body: "" }), "source.damaged", /not JSON/],
  "B6: status 500, again and again": [
    () => ({ status: 500 }),
    "source.unavailable",
    /is unavailable \(500\).*Gave up after 6 attempts/,
  ],
  "B9: a redirect to a sign-in page": [
    () => ({ status: 302, headers: { location: "/users/sign_in" } }),
    "source.credentials",
    /redirect \(302\)/,
  ],
};

for (const [what, [reply, code, message]] of few(Object.entries(CASES), 5)) {
  test(`a run ends, publishes nothing and leaves nothing but what the next one goes on from: ${what}`, async (t) => {
    const service = await Scripted.start(t, itemsOf(12));
    service.script = (question) => {
      const { kind, mode, page, perPage } = question;
      if (kind !== "list" || mode === "full") return undefined;
      if (what.startsWith("D7")) return paged({ next: page + 1 })(question);
      const ofPage2 = (page - 1) * perPage < 10 && page * perPage > 5;
      return ofPage2 ? reply(question) : undefined;
    };
    const out = join(await temporaryFolder(t), "new", "warehouse");
    // One item less than the page has may be rejected.
    const config = { maxRejects: { items: 4, share: 0 } };
    const run = exportFrom({ url: service.url, out, clock: new HurriedClock(), config });
    assert.match((await failsWith(code, run)).message, message);
    assert.equal(service.asked("list").filter(({ page }) => page === 2).length, ASKED[code] ?? 1);
    assert.deepEqual(service.asked("list", "full"), [], "the next pass is not begun");
    if (RESUMABLE.has(code)) assert.deepEqual(await visibleIn(out), []);
    else assert.deepEqual(await readdir(join(out, "../..")), [], "not even the folder is left");
  });
}

test("the first failure ends the requests under way, and no further ones are made", async (t) => {
  const { service, exported } = await scriptedWorld(t, itemsOf(200));
  service.script = ({ page }) => {
    if (page === 3) return { status: 403 };
    return page === 2 || page > 3 ? "hang" : undefined;
  };
  await failsWith("source.credentials", exported());
  assert.ok(service.questions.length <= 6, `${service.questions.length} requests were made`);
});

test("a failed single-item request ends the others", { timeout: 20_000 }, async (t) => {
  const { service, exported } = await scriptedWorld(t, itemsOf(100));
  service.script = ({ kind, id }) => {
    if (kind !== "item") return undefined;
    return id === "c-002" ? { status: 401 } : "hang";
  };
  const run = exported({ config: { details: "all", perPage: 100 } });
  await failsWith("source.credentials", run);
  assert.ok(service.asked("item").length <= 5, `${service.asked("item").length} items were asked for`);
});

suite("requests", () => {
  test("no more than `ratePerSecond` are begun in a second, lookups, single items and repeated ones included", async (t) => {
    const { service, exported } = await scriptedWorld(t, itemsOf(20));
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
    await exported({ clock, config });
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
      const { service, exported } = await scriptedWorld(t, itemsOf(25));
      // The first item is listed on two pages of the dynamic pass.
      service.arrange = (items, { mode, page }) =>
        mode === "dynamic" && page > 1 ? [...items.slice(0, 6), items[0], ...items.slice(7)] : items;
      await exported({ config: { details } });
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
