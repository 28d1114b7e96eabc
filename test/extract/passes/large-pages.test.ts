import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { failsWith } from "../../failing.ts";
import { either, long } from "../../long.ts";
import { exportFrom, HurriedClock, publishedIds, rowsOf, temporaryFolder } from "../../run/running.ts";
import {
  type Item,
  item,
  itemsOf,
  listBody,
  type Question,
  type Reply,
  Scripted,
} from "../../run/scripted.ts";
import { interrupted, oddItems } from "../landing/resuming.ts";

/** More than is read at once. */
const HUGE = { body: " ".repeat(33 * 1024 * 1024) };

/** Announced as such, so that it is not even read, which the short form leaves out where many pages are so. */
const ANNOUNCED = { ...HUGE, headers: { "content-length": String(HUGE.body.length) } };
const REFUSED = either<Reply>(ANNOUNCED, HUGE);

test("A16: a page that is too large as one is read in parts, and costs no item", async (t) => {
  const service = await Scripted.start(t, oddItems(40));
  service.script = ({ kind, page, perPage }) =>
    kind === "list" && perPage === 10 && page === 2 ? HUGE : undefined;
  const { verdict, directory, items: accounting } = await exported(t, service);
  assert.equal(verdict, "complete");
  const ids = oddItems(40).map((each) => (each as Item).id);
  assert.deepEqual(await publishedIds(directory), ids.filter((id) => id !== undefined).sort());
  assert.equal(accounting.rejected, 1);
  const passes = "SELECT mode, per_page, clean FROM run_passes ORDER BY pass";
  assert.deepEqual(await rowsOf(directory, passes), [
    ["dynamic", 10, true],
    ["full", 10, true],
  ]);
});

const PLACE = 7;
const POISON = "c-007";

type Modes = readonly Question["mode"][];

/** Pages of these modes that hold the seventh item cannot be read, nor can the item itself where `singly` says so. */
const poisoned =
  (modes: Modes, singly: boolean, reply: Reply) =>
  ({ kind, mode, page, perPage, id, columns }: Question): Reply | undefined => {
    if (kind === "item") return singly && id === POISON ? reply : undefined;
    if (kind !== "list" || !modes.includes(mode) || (mode === "dynamic" && columns.length === 0))
      return undefined;
    return (page - 1) * perPage <= PLACE && page * perPage > PLACE ? reply : undefined;
  };

const ITEMS = 40;

/** A run of a service with some items, without waiting. */
async function exported(t: TestContext, service: Scripted, config: Record<string, unknown> = {}) {
  const out = await temporaryFolder(t);
  return exportFrom({
    url: service.url,
    out,
    config: { perPage: 10, ...config },
    clock: new HurriedClock(),
  });
}

test("A16: an item that is too large in the full listing and singly is loaded in part, and costs no other", async (t) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  service.script = poisoned(["full"], true, REFUSED);
  const { items: accounting, verdict, reasons, directory, warnings } = await exported(t, service);
  assert.deepEqual([verdict, reasons], ["complete", []]);
  assert.deepEqual([accounting.listed, accounting.loaded, accounting.rejected], [ITEMS, ITEMS, 0]);
  assert.equal((await publishedIds(directory)).length, ITEMS);
  assert.match(warnings.join(), /1 listed item could be read in only one mode/);
  const [[id, reason] = []] = await rowsOf(directory, "SELECT content_id, reason FROM run_rejects");
  assert.deepEqual([id, reason], [POISON, "the service sent more than 32 MB at once"]);
  // 10 = 2 x 5: of the page two halves, of one of them five items, of one of them its entry and the item.
  assert.ok(service.asked("list").length <= 8 + 2 + 5 + 2, `${service.asked("list").length} pages`);
});

long(
  "C5: an item that cannot be read costs no other where the service grants smaller pages than were asked for",
  async (t) => {
    const service = await Scripted.start(t, itemsOf(ITEMS));
    const granted = (question: Question) => ({ ...question, perPage: Math.min(10, question.perPage) });
    const spoil = poisoned(["dynamic"], true, { body: "no JSON" });
    service.script = (question) => {
      const asked = granted(question);
      return spoil(asked) ?? (asked.kind === "list" ? { body: listBody(service.items, asked) } : undefined);
    };
    const { verdict, directory } = await exported(t, service, { perPage: 500, details: "none" });
    assert.equal(verdict, "complete");
    assert.equal((await publishedIds(directory)).length, ITEMS);
  },
);

long(
  "C5: an item whose page cannot be read, and that is gone singly though it is listed, is a reject",
  async (t) => {
    const service = await Scripted.start(t, itemsOf(ITEMS));
    const spoil = poisoned(["dynamic", "full"], false, { body: "no JSON" });
    service.script = (asked) =>
      asked.kind === "item" && asked.id === POISON ? { status: 404 } : spoil(asked);
    const { items: accounting, directory } = await exported(t, service, { details: "none" });
    assert.deepEqual([accounting.loaded, accounting.rejected], [ITEMS - 1, 1]);
    const found = await rowsOf(directory, "SELECT DISTINCT content_id, reason FROM run_rejects");
    assert.deepEqual(found, [
      [POISON, "its page cannot be read, and a single request for the item returned 404 or 410"],
    ]);
  },
);

long("A16: more items that are too large than may be rejected end the run, and say so", async (t) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  service.script = ({ kind, page, perPage, columns, mode }) =>
    kind === "item" || (kind === "list" && mode === "dynamic" && columns.length > 0 && page * perPage > 10)
      ? REFUSED
      : undefined;
  await failsWith("source.too_large", exported(t, service, { concurrency: 1 }));
});

long("D2: where the total changes while a page is read in parts, the pass is not clean", async (t) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  const poison = poisoned(["dynamic"], false, REFUSED);
  let added = false;
  service.script = (question) => {
    if (!added && question.perPage === 1) {
      added = true;
      service.items = [...service.items, item("new", 1)];
    }
    return poison(question);
  };
  const summary = await exported(t, service);
  assert.equal(summary.verdict, "complete");
  assert.equal(summary.found.passes[0]?.clean, false);
  assert.equal((await publishedIds(summary.directory)).length, ITEMS + 1);
});

long("G8: a run that goes on after a page was read in parts knows what came of it", async (t) => {
  const service = await Scripted.start(t, itemsOf(ITEMS));
  const out = await temporaryFolder(t);
  const config = { perPage: 10 };
  const poison = poisoned(["dynamic", "full"], true, REFUSED);
  const clock = new HurriedClock();
  await interrupted(
    service,
    { out, config, clock },
    ({ mode, page }) => mode === "full" && page === 4,
    poison,
  );
  service.script = poison;
  const {
    items: accounting,
    verdict,
    directory,
    resumed,
  } = await exportFrom({
    url: service.url,
    out,
    config,
    clock,
  });
  assert.ok((resumed?.pages ?? 0) >= 4);
  assert.deepEqual([verdict, accounting.loaded, accounting.rejected], ["complete", ITEMS - 1, 1]);
  assert.equal((await rowsOf(directory, "FROM run_rejects")).length, 2);
});
