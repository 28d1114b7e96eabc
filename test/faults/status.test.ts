import assert from "node:assert/strict";
import { test } from "node:test";
import { failsWith } from "../failing.ts";
import { few, long } from "../long.ts";
import {
  exportFrom,
  HurriedClock,
  publishedIds,
  scriptedWorld,
  temporaryFolder,
  treeOf,
  visibleIn,
} from "../run/running.ts";
import { itemsOf, listBody, Scripted } from "../run/scripted.ts";

const IDS = itemsOf(12).map(({ id }) => id);

test("B7: a token that is refused at the start costs one request", async (t) => {
  const { service, out, exported } = await scriptedWorld(t);
  service.script = () => ({ status: 401, headers: { "www-authenticate": "Basic" } });
  const run = exported({ clock: new HurriedClock() });
  assert.equal((await failsWith("source.credentials", run)).exitCode, 20);
  assert.equal(service.questions.length, 1);
  assert.deepEqual(await treeOf(out), []);
});

for (const status of few([401, 403], 1)) {
  test(`B8: a token that is revoked at page 37 ends the run with ${status}, and the run before stays`, async (t) => {
    const { service, out, exported } = await scriptedWorld(t, itemsOf(80));
    const config = { perPage: 2 };
    await exported({ config });
    const before = await visibleIn(out);
    service.script = ({ kind, page }) => (kind === "list" && page >= 37 ? { status } : undefined);
    const run = exported({ config });
    assert.equal((await failsWith("source.credentials", run)).exitCode, 20);
    assert.deepEqual(await visibleIn(out), before);
  });
}

long("B14: good JSON under a wrong label is data", async (t) => {
  const { service, exported } = await scriptedWorld(t);
  service.script = (question) =>
    question.kind === "list"
      ? { body: listBody(itemsOf(12), question), headers: { "content-type": "text/html" } }
      : undefined;
  const summary = await exported();
  assert.equal(summary.verdict, "complete");
  assert.deepEqual(await publishedIds(summary.directory), IDS);
});

long("B17: a problem document counts by the status of HTTP, whatever status it states", async (t) => {
  const { service, exported } = await scriptedWorld(t);
  const problem = { type: "https://elsewhere.example/", title: "All is well.", status: 200 };
  let failures = 0;
  service.script = ({ page }) => {
    if (page !== 2 || failures === 2) return undefined;
    failures += 1;
    return { status: 503, headers: { "content-type": "application/problem+json" }, body: problem };
  };
  const clock = new HurriedClock();
  const summary = await exported({ clock });
  assert.equal(summary.verdict, "complete");
  assert.ok(clock.slept.length >= 2, "nobody waited");
  assert.equal(service.asked("list", "dynamic").filter(({ page }) => page === 2).length, 3);
  assert.deepEqual(await publishedIds(summary.directory), IDS);
  service.script = () => ({ status: 401, body: { ...problem, status: 429 } });
  await failsWith("source.credentials", exported({ clock }));
});

test("B12: a 404 in the middle of a listing is asked again", async (t) => {
  const service = await Scripted.start(t, itemsOf(12));
  let hiccups = 2;
  service.script = ({ kind, page, mode }) => {
    const hit = kind === "list" && (page === 2 || mode === "full") && hiccups-- > 0;
    return hit ? { status: 404 } : undefined;
  };
  const out = await temporaryFolder(t);
  const run = { url: service.url, out, clock: new HurriedClock() };
  const { verdict } = await exportFrom(run);
  assert.deepEqual([verdict, hiccups < 0], ["complete", true]);
});

long(
  "B12: a list that shrinks while it is read ends with the pages that it still has, and the run is complete",
  async (t) => {
    const service = await Scripted.start(t, itemsOf(12));
    service.script = ({ kind, page, perPage, mode }) => {
      if (kind !== "list") return undefined;
      if (mode === "full" && page === 2) service.items = itemsOf(8);
      return page > Math.ceil(service.items.length / perPage) ? { status: 404 } : undefined;
    };
    const out = await temporaryFolder(t);
    const config = { perPage: 4, details: "none" } as const;
    const run = { url: service.url, out, config, clock: new HurriedClock() };
    const { verdict, items: accounting } = await exportFrom(run);
    assert.deepEqual([verdict, accounting.loaded, accounting.vanished], ["complete", 8, 4]);
  },
);

const GONE = [
  [2, "dynamic"],
  [1, "full"],
] as const;

for (const [page, mode] of few(GONE, 1)) {
  test(`B12: a 404 that stays on page ${page} of the ${mode} listing is no wrong address, and ends with 21`, async (t) => {
    const { service, exported } = await scriptedWorld(t);
    service.script = (question) =>
      question.kind === "list" && question.mode === mode && question.page === page
        ? { status: 404 }
        : undefined;
    const run = exported({ clock: new HurriedClock() });
    const { exitCode, message } = await failsWith("source.unavailable", run);
    assert.equal(exitCode, 21);
    assert.match(message, /no longer has a page of the listing that it announced \(404\); run again later/);
    assert.equal(service.asked("list", mode).filter((each) => each.page === page).length, 6);
  });
}
