import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { definePipeline } from "../../src/define-pipeline.ts";
import { listing } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import type { Pipeline } from "../../src/pipeline.ts";
import { contentTables } from "../../src/transform/stages.ts";
import { failsWith } from "../failing.ts";
import { few, long } from "../long.ts";
import {
  type ExportOptions,
  HurriedClock,
  NIGHTLY,
  publishedIds,
  rowsOf,
  scriptedWorld,
  treeOf,
  visibleIn,
} from "../run/running.ts";
import { type Item, item, itemsOf, listBody, type Question, type Reply } from "../run/scripted.ts";

const IDS = itemsOf(12).map(({ id }) => id);

/** A run that asks for all of twelve items singly, some of which are answered as `reply` says. */
async function itemsRun(
  t: TestContext,
  reply: (question: Question) => Reply | undefined,
  more: ExportOptions["config"] = {},
) {
  const { service, out, exported } = await scriptedWorld(t);
  service.script = (question) => (question.kind === "item" ? reply(question) : undefined);
  const config = { details: "all", perPage: 5, ...more } as const;
  const run = () => exported({ clock: new HurriedClock(), config });
  return { service, out, run };
}

const REJECTS = "SELECT mode, content_id, reason, document::VARCHAR FROM run_rejects ORDER BY content_id";
const CHECK =
  "SELECT verdict, figure FROM run_checks WHERE check_name = 'items that could not be read singly'";

long("E2, E3: more than five such items, or a hundredth, end the run", async (t) => {
  const forbidden = await itemsRun(t, () => ({ status: 403 }));
  await failsWith("source.credentials", forbidden.run());
  assert.deepEqual(await visibleIn(forbidden.out), []);
  const other = await itemsRun(t, ({ id }) => ({ body: { response: item(`not-${id}`, 1) } }));
  const { exitCode, message } = await failsWith("source.rejects", other.run());
  assert.equal(exitCode, 22);
  assert.match(message, /^6 of 12 single-item requests were not answered with the item, limit: 5;/);
  assert.deepEqual(await treeOf(other.out), []);
});

const OTHER = item("c-003", 3);

/** What the item is answered with, the reason of the reject, and the document that it keeps. */
const BAD: Readonly<Record<string, readonly [reply: Reply, reason: string, document?: object]>> = {
  "E2: a refusal": [{ status: 403 }, "the service denied access to this item (403)"],
  "E3: another item": [{ body: { response: OTHER } }, "the response is about another item", OTHER],
  "E5: a failure, each time": [{ status: 500 }, "the service failed for this item (500)"],
  "A16: too large": [
    { body: " ".repeat(33 * 1024 * 1024), headers: { "content-length": String(33 * 1024 * 1024) } },
    "the service sent more than 32 MB at once",
  ],
  "B12: an answer of a gateway that refuses the method": [
    { status: 405 },
    "the service does not answer requests for this item (405)",
  ],
  "C5: no JSON": [
    { body: '{"response": {"id": "c-004", "title": NaN}}' },
    "the service sent a body that is not JSON (43 characters)",
  ],
  "C13: no object": [
    { body: { response: null } },
    "the service did not send a content item at response: expected object, found null",
  ],
};

for (const [what, [reply, reason, document = null]] of few(Object.entries(BAD), 1)) {
  test(`${what}: a single item whose answer is so is a reject, and its listed documents count`, async (t) => {
    const { run } = await itemsRun(t, ({ id }) => (id === "c-004" ? reply : undefined));
    const { directory, verdict, items: accounting, warnings } = await run();
    assert.deepEqual([verdict, accounting.loaded, accounting.rejected], ["complete", 12, 0]);
    assert.deepEqual(await publishedIds(directory), IDS);
    assert.deepEqual(await rowsOf(directory, REJECTS), [["item", "c-004", reason, JSON.stringify(document)]]);
    assert.deepEqual(await rowsOf(directory, CHECK), [["warning", "1"]]);
    assert.deepEqual(warnings, [
      "1 listed item could not be read singly (c-004): their listed values are loaded; see run_rejects.",
    ]);
  });
}

test("E5: a service that is away while items are asked for is not taken for their fault", async (t) => {
  const { run, out } = await itemsRun(t, ({ id }) => (id === "c-004" ? { status: 503 } : undefined));
  assert.equal((await failsWith("source.unavailable", run())).exitCode, 21);
  assert.deepEqual(await visibleIn(out), []);
});

test("E1: an item that is gone when it is asked for, and listed no more, has vanished", async (t) => {
  const { run, service } = await itemsRun(t, ({ id }) => {
    if (id !== "c-004") return undefined;
    service.items = service.items.filter((each) => (each as Item).id !== "c-004");
    return { status: 410 };
  });
  const { directory, items: accounting, verdict } = await run();
  assert.deepEqual(
    [verdict, accounting.listed, accounting.loaded, accounting.vanished],
    ["complete", 12, 11, 1],
  );
  assert.ok(!(await publishedIds(directory)).includes("c-004"));
});

test("E1: more than five listed items that are gone, or a hundredth, end the run", async (t) => {
  const gone = (most: number) => (question: Question) =>
    Number(question.id?.slice(2)) < most ? ({ status: 404 } as const) : undefined;
  const few = await itemsRun(t, gone(5));
  const { items: accounting, warnings } = await few.run();
  assert.equal(accounting.loaded, 12, "the listings still have them");
  assert.deepEqual(warnings, [
    "5 listed items returned 404 or 410 when asked for singly (c-000, c-001, c-002, ...): their listed values are loaded.",
  ]);
  const many = await itemsRun(t, gone(6));
  const error = await failsWith("source.rejects", many.run());
  assert.equal(error.exitCode, 22);
  assert.match(error.message, /6 of 12 listed items returned 404 or 410/);
  assert.deepEqual(await treeOf(many.out), []);
});

long("E7: a reference to what is not there keeps its row, and the figure is in run_checks", async (t) => {
  const gone = { campaign_ids: ["nobody-knows"], author: "u-gone" };
  const { exported } = await scriptedWorld(t, [item("c-000", 1, gone), item("c-001", 2, gone)]);
  const { directory, verdict } = await exported({
    pipelineUrl: NIGHTLY,
  });
  assert.equal(verdict, "complete");
  const dangling = await rowsOf(
    directory,
    "SELECT check_name, verdict, figure FROM run_checks WHERE figure > 0 AND check_name LIKE 'foreign key %' ORDER BY ALL",
  );
  assert.ok(dangling.length > 0, "nothing dangles");
  for (const [, verdict, figure] of dangling) assert.deepEqual([verdict, figure], ["warning", "2"]);
  assert.deepEqual(await publishedIds(directory), ["c-000", "c-001"]);
});

const ITEMS = 40;
const ids = itemsOf(ITEMS).map(({ id }) => id);

/** What stands in the place of the item's title. */
const POISON: Readonly<Record<string, string>> = {
  "C5: NaN": "NaN",
  "C1: a bad byte": '"\u00ff"',
  "C7: a control character": '"\u0001"',
  "C10: deep nesting": "[".repeat(200_000) + "]".repeat(200_000),
  "A16: more than 32 MB": `"${"x".repeat(33 * 1024 * 1024)}"`,
};

type Mode = Question["mode"];

interface Listing {
  /** Where the item is listed, from 0. */
  readonly place: number;
  /** Modes that can be read. */
  readonly readable: readonly Mode[];
  /** The pipeline's listing, where it has one alone. */
  readonly only?: "dynamic" | "full";
  /** Items a page; 10 unless given. */
  readonly perPage?: number;
}

const LISTINGS: readonly Listing[] = [
  { place: 7, readable: ["basic"] },
  { place: 7, readable: [], perPage: 1 },
  { place: 7, readable: [] },
  { place: 0, readable: ["basic"] },
  { place: 0, readable: [] },
  { place: ITEMS - 1, readable: ["basic"] },
  { place: 7, readable: ["dynamic"] },
  { place: 7, readable: [], only: "full" },
  { place: 7, readable: [], only: "dynamic" },
  { place: 7, readable: ["dynamic"], only: "full" },
];

function pipelineOf(mode: "dynamic" | "full"): Pipeline {
  return definePipeline({
    name: "one-listing",
    extract: [listing(mode)],
    transform: [contentTables({ only: ["content"] })],
    load: [duckdb(), parquet()],
  });
}

const CASES = Object.entries(POISON).flatMap(([what, bad]) => LISTINGS.map((at) => ({ what, bad, at })));

for (const { what, bad, at } of few(CASES, 3)) {
  const { place, readable, only, perPage = 10 } = at;
  const where = `item ${place}, ${only === undefined ? "" : `of the ${only} listing alone, `}${readable.length === 0 ? "in all modes" : `readable in ${readable.join()}`}, ${perPage} a page`;
  test(`${what} in ${where}: a reject, and the run is complete`, async (t) => {
    const { service, exported } = await scriptedWorld(t, itemsOf(ITEMS));
    const poison = ids[place] ?? "";
    service.script = (question): Reply | undefined => {
      const { kind, mode, id, columns } = question;
      const isReadable = kind === "list" && readable.includes(mode) && columns.length === 0;
      if (isReadable || (kind !== "list" && id !== poison)) return undefined;
      const found = service.items.find((each) => (each as { id: string }).id === poison);
      const body = JSON.stringify(kind === "list" ? listBody(service.items, question) : { response: found });
      const title = JSON.stringify(`Title of ${poison}`);
      return {
        body: Buffer.from(
          body.replace(title, () => bad),
          "latin1",
        ),
      };
    };
    const summary = await exported({
      config: { perPage },
      clock: new HurriedClock(),
      ...(only !== undefined && { pipelineUrl: pipelineOf(only) }),
    });
    const { items: accounting, verdict, reasons, directory } = summary;
    assert.deepEqual([verdict, reasons], ["complete", []]);
    assert.deepEqual([accounting.listed, accounting.loaded, accounting.rejected], [ITEMS, ITEMS - 1, 1]);
    assert.deepEqual(
      await publishedIds(directory),
      ids.filter((id) => id !== poison),
    );
    const rejects = await rowsOf(directory, "SELECT DISTINCT content_id FROM run_rejects");
    // Where only IDs and times are read, nobody looks into what is nested deeply.
    const isNamed = readable.length > 0 || what.startsWith("C10");
    assert.deepEqual(rejects, [[isNamed ? poison : null]]);
    assert.equal(summary.found.passes.length, 2);
    // A clean run with 10 items a page asks for 8 pages; in each pass the halves of one, five items, an entry and the item, most of it twice.
    assert.ok(service.questions.length <= 2 * (ITEMS / perPage + 18), `${service.questions.length} requests`);
  });
}
