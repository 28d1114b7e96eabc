/** Pipelines of one listing, or of both the other way round: certified, repaired and resumed like any other. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { definePipeline } from "../../src/define-pipeline.ts";
import { customFields, destinations, listing, singleItems } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import type { Pipeline } from "../../src/pipeline.ts";
import { contentTables } from "../../src/transform/stages.ts";
import { assertSame, interrupted, oddItems, SETTINGS, staged } from "../extract/landing/resuming.ts";
import { few, long } from "../long.ts";
import { publishedIds, rowsOf, scriptedWorld, temporaryFolder } from "./running.ts";
import { type Item, item, itemsOf, type Question } from "./scripted.ts";

type Listings = readonly ("full" | "dynamic")[];

const FULL: Listings = ["full"];
const DYNAMIC: Listings = ["dynamic"];
const REVERSED: Listings = ["full", "dynamic"];
const ALL: readonly Listings[] = [FULL, DYNAMIC, REVERSED];

/** A pipeline of these listings, of few tables. */
function pipelineOf(listings: Listings, singles = false): Pipeline {
  return definePipeline({
    name: "some",
    extract: [
      destinations(),
      customFields({ names: ["Region"] }),
      ...listings.map((mode) => listing(mode)),
      ...(singles ? [singleItems({ of: "events" })] : []),
    ],
    transform: [contentTables({ only: ["content", "content_tags"] })],
    load: [duckdb(), parquet()],
  });
}

suite("an edit between the passes", () => {
  const EDITED = { title: "Edited", updated_at: "2026-11-20T01:00:00Z" };
  for (const listings of few(ALL, 1)) {
    for (const singles of few([false, true], 1)) {
      if (singles && !listings.includes("dynamic")) continue;
      const name = `${listings.join(" and ")}${singles ? " with single items" : ""}`;
      test(`D12: of an item is repaired, one that came is there, one that went is vanished: ${name}`, async (t) => {
        const { service, exported } = await scriptedWorld(t, itemsOf(22));
        let passes = 0;
        service.script = ({ kind, page }) => {
          if (kind === "list" && page === 1) passes += 1;
          if (passes === 2 && service.items.length === 22) {
            service.items = [
              ...service.items.filter((each) => !["c-003", "c-004"].includes((each as Item).id)),
              item("c-003", 3, EDITED),
              item("new", 1),
              item("new-too", 1),
            ];
          }
          return undefined;
        };
        const {
          verdict,
          directory,
          items: accounting,
        } = await exported({
          pipelineUrl: pipelineOf(listings, singles),
          ...(singles && { config: { details: undefined, perPage: 5 } }),
        });
        assert.equal(verdict, "complete");
        const ids = itemsOf(22)
          .map(({ id }) => id)
          .filter((id) => id !== "c-004");
        assert.deepEqual(await publishedIds(directory), [...ids, "new", "new-too"]);
        assert.equal(accounting.vanished, 1);
        assert.deepEqual(await rowsOf(directory, "SELECT content_id FROM content WHERE title = 'Edited'"), [
          ["c-003"],
        ]);
        const asked = new Set(service.asked("item").map(({ mode }) => mode));
        // What does not land is asked for only to see whether the modes mean the same time.
        if (listings === FULL) assert.deepEqual([...asked], ["full"]);
      });
    }
  }
});

suite("G8: an interrupted run", () => {
  const ITEMS = 300;
  const at = (mode: Question["mode"], page: number) => (each: Question) =>
    each.kind === "list" && each.mode === mode && each.page === page;
  const CASES: readonly (readonly [Listings, boolean, string, (each: Question) => boolean])[] = [
    [FULL, false, "in the listing", at("full", 100)],
    [DYNAMIC, true, "in the basic pass", at("basic", 3)],
    [REVERSED, true, "in the single items", ({ kind, id }) => kind === "item" && id > "c-0200"],
  ];
  for (const [listings, singles, where, when] of CASES) {
    long(
      `of ${listings.join(" and ")}, ${where}, asks nothing twice and ends with the same tables`,
      async (t) => {
        const { service, out, exported } = await scriptedWorld(t, oddItems(ITEMS));
        const run = { pipelineUrl: pipelineOf(listings, singles), config: SETTINGS };
        const whole = await exported({ ...run, out: await temporaryFolder(t) });
        const asked = service.questions.splice(0);
        await interrupted(service, { out, ...run }, when);
        const before = service.questions.splice(0).filter((each) => !when(each));
        const summary = await exported(run);
        assert.ok((summary.resumed?.pages ?? 0) > 0);
        assert.equal(summary.verdict, "complete");
        assert.deepEqual(await staged(out), []);
        await assertSame(summary, whole);
        // Of what lands, each answer was asked for once; the pass that certifies it is made anew, and one page of one
        // item tells which instance answers.
        const keyOf = ({ kind, mode, page, id }: Question) =>
          `${kind} ${mode} ${kind === "list" ? page : ""} ${id}`;
        const lands = ({ kind, mode, perPage }: Question) =>
          kind === "item" || (kind === "list" && mode !== "basic" && perPage > 1);
        const [first, second] = [before, service.questions].map((list) => list.filter(lands).map(keyOf));
        const twice = second?.filter((key) => first?.includes(key)) ?? [];
        // What was under way when it was ended has no answer yet.
        assert.ok(twice.length <= 4, `asked twice: ${twice.join(", ")}`);
        assert.deepEqual(
          new Set([...(first ?? []), ...(second ?? []), ...before.filter(when).map(keyOf)]),
          new Set(asked.filter(lands).map(keyOf)),
        );
      },
    );
  }
});
