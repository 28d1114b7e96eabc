import assert from "node:assert/strict";
import { test } from "node:test";
import { assertSame, interrupted, oddItems, SETTINGS } from "./resuming.ts";
import { exportFrom, failsWith, publishedIds, rowsOf, temporaryFolder } from "./running.ts";
import { itemsOf, type Question, type Reply, Scripted } from "./scripted.ts";

/** More than is read at once. */
const HUGE = { body: " ".repeat(33 * 1024 * 1024) };

const tooLarge =
  (mode: Question["mode"], page: number, fits: number) =>
  (question: Question): Reply | undefined => {
    if (question.kind !== "list" || question.mode !== mode || question.perPage <= fits) return undefined;
    return question.page === page ? HUGE : undefined;
  };

for (const mode of ["dynamic", "full"] as const) {
  test(`A16: a ${mode} page that is too large has the pass made anew, with half as many items a page`, async (t) => {
    const service = await Scripted.start(t, oddItems(300));
    // Two groups of pages are written before the page comes.
    service.script = tooLarge(mode, 140, 1);
    const summary = await exportFrom({ url: service.url, out: await temporaryFolder(t), config: SETTINGS });
    assert.equal(summary.verdict, "complete");
    const sizes = "SELECT mode, per_page, clean FROM _sweeps ORDER BY sweep";
    assert.deepEqual(await rowsOf(summary.directory, sizes), [
      ["dynamic", mode === "dynamic" ? 1 : 2, true],
      ["full", 1, true],
    ]);
    assert.match(summary.warnings.join(), /Pages of 2 items were too large .* set perPage to 1/);
    service.script = () => undefined;
    const whole = await exportFrom({ url: service.url, out: await temporaryFolder(t), config: SETTINGS });
    const data = "SELECT * EXCLUDE (observed_at) FROM content ORDER BY ALL";
    assert.deepEqual(await rowsOf(summary.directory, data), await rowsOf(whole.directory, data));
    const rejects = "SELECT mode, reason, document FROM _rejects ORDER BY ALL";
    assert.deepEqual(await rowsOf(summary.directory, rejects), await rowsOf(whole.directory, rejects));
    const drift = "FROM _drift WHERE kind <> 'views_differ' ORDER BY ALL";
    if (mode === "dynamic") {
      assert.deepEqual(await rowsOf(summary.directory, drift), await rowsOf(whole.directory, drift));
    }
  });
}

test("A16: an item that changed before the pass was made anew is published as it is now", async (t) => {
  const service = await Scripted.start(t, itemsOf(300));
  const huge = tooLarge("full", 140, 1);
  service.script = (question) => {
    const reply = huge(question);
    if (reply === undefined) return undefined;
    // In another order, so that the groups of the two passes do not have the same items.
    service.arrange = (items, { mode }) => (mode === "full" ? items.toReversed() : items);
    // Of the same time, so that no pass can tell.
    service.items = itemsOf(300).map((each) => ({ ...each, title: "New" }));
    return reply;
  };
  const { directory } = await exportFrom({
    url: service.url,
    out: await temporaryFolder(t),
    config: SETTINGS,
  });
  assert.deepEqual(await rowsOf(directory, "SELECT DISTINCT title FROM content"), [["New"]]);
});

test("A16: one item that is too large ends the run, and says so", async (t) => {
  const service = await Scripted.start(t, itemsOf(20));
  service.script = ({ kind, page, mode, perPage }) =>
    kind === "list" && mode === "dynamic" && (page - 1) * perPage <= 7 && page * perPage > 7
      ? HUGE
      : undefined;
  const run = exportFrom({ url: service.url, out: await temporaryFolder(t), config: { perPage: 8 } });
  await failsWith("source.too_large", run);
  assert.deepEqual(
    [...new Set(service.questions.filter(({ kind }) => kind === "list").map(({ perPage }) => perPage))],
    [8, 4, 2, 1],
  );
});

test("G8: a run that was killed after its pages were halved goes on with the smaller ones", async (t) => {
  const service = await Scripted.start(t, oddItems(300));
  const out = await temporaryFolder(t);
  const huge = tooLarge("dynamic", 100, 1);
  await interrupted(service, { out }, (question) => question.mode === "full" && question.page === 200, huge);
  service.script = huge;
  const summary = await exportFrom({ url: service.url, out, config: SETTINGS });
  assert.ok((summary.resumed?.pages ?? 0) >= 300, `${summary.resumed?.pages}`);
  assert.equal((await publishedIds(summary.directory)).length, 296);
  const other = await Scripted.start(t, oddItems(300));
  other.script = huge;
  await assertSame(
    summary,
    await exportFrom({ url: other.url, out: await temporaryFolder(t), config: SETTINGS }),
  );
});
