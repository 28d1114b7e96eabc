/** Pipelines of one listing, or of both the other way round: certified, repaired and resumed like any other. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { runPipeline } from "../../src/run/run-pipeline.ts";
import { assembleContentSet } from "../../src/service/load.ts";
import { createService } from "../../src/service/service.ts";
import { CONTENT_TABLES } from "../../src/tables/all.ts";
import type { Column } from "../../src/tables/declare.ts";
import { assertSame, interrupted, oddItems, SETTINGS, staged } from "../extract/landing/resuming.ts";
import { few, long } from "../long.ts";
import { CONTENT_SET } from "../service/fixture.ts";
import { exportFrom, openPublished, publishedIds, rowsOf, temporaryFolder } from "./running.ts";
import { type Item, item, itemsOf, type Question, Scripted } from "./scripted.ts";

type Listings = readonly ("full" | "dynamic")[];

const FULL: Listings = ["full"];
const DYNAMIC: Listings = ["dynamic"];
const REVERSED: Listings = ["full", "dynamic"];
const ALL: readonly Listings[] = [FULL, DYNAMIC, REVERSED];

/** The URL of a module of such a pipeline. */
async function pipelineOf(
  folder: string,
  listings: Listings,
  singles = false,
  tables = '{ only: ["content", "content_tags"] }',
) {
  const file = join(folder, `${listings.join("-")}${singles ? "-singly" : ""}.mjs`);
  const stages = listings
    .map((mode) => `listing("${mode}")`)
    .concat(singles ? ['singleItems({ of: "events" })'] : []);
  await writeFile(
    file,
    `import { contentTables, customFields, definePipeline, destinations, duckdb, listing, parquet, singleItems } from "content-warehouse";
    export default definePipeline({
      name: "some",
      extract: [destinations(), customFields({ names: ["Region"] }), ${stages.join(", ")}],
      transform: [contentTables(${tables})],
      load: [duckdb(), parquet()],
    });`,
  );
  return pathToFileURL(file).href;
}

async function world(t: TestContext, listings: Listings, items: readonly unknown[], singles = false) {
  const service = await Scripted.start(t, items);
  const folder = await temporaryFolder(t);
  const pipelineUrl = await pipelineOf(folder, listings, singles);
  const out = join(folder, "warehouse");
  const run = (more: object = {}) => exportFrom({ url: service.url, out, pipelineUrl, ...more });
  return { service, folder, out, pipelineUrl, run };
}

suite("an edit between the passes", () => {
  const EDITED = { title: "Edited", updated_at: "2026-11-20T01:00:00Z" };
  for (const listings of few(ALL, 1)) {
    for (const singles of few([false, true], 1)) {
      if (singles && !listings.includes("dynamic")) continue;
      const name = `${listings.join(" and ")}${singles ? " with single items" : ""}`;
      test(`D12: of an item is repaired, one that came is there, one that went is vanished: ${name}`, async (t) => {
        const { service, run } = await world(t, listings, itemsOf(22), singles);
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
        const { verdict, directory, accounting } = await run(
          singles ? { config: { details: undefined, perPage: 5 } } : {},
        );
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
        const { service, folder, out, pipelineUrl } = await world(t, listings, oddItems(ITEMS), singles);
        const whole = await exportFrom({
          url: service.url,
          out: join(folder, "whole"),
          pipelineUrl,
          config: SETTINGS,
        });
        const asked = service.questions.splice(0);
        await interrupted(service, { out, pipelineUrl }, when);
        const before = service.questions.splice(0).filter((each) => !when(each));
        const summary = await exportFrom({ url: service.url, out, pipelineUrl, config: SETTINGS });
        assert.ok((summary.resumed?.pages ?? 0) > 0);
        assert.equal(summary.verdict, "complete");
        assert.deepEqual(await staged(out), []);
        await assertSame(summary, whole);
        // Of what lands, each answer was asked for once; the pass that certifies it is made anew.
        const keyOf = ({ kind, mode, page, id }: Question) =>
          `${kind} ${mode} ${kind === "list" ? page : ""} ${id}`;
        const lands = ({ kind, mode }: Question) => kind === "item" || (kind === "list" && mode !== "basic");
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

suite("the tables of one listing", () => {
  for (const listings of few(ALL, 1)) {
    test(`have what those of both have: ${listings.join(" and ")}`, async (t) => {
      const service = await createService({ data: assembleContentSet(CONTENT_SET) });
      t.after(() => service.close());
      const folder = await temporaryFolder(t);
      const run = async (modes: Listings) => {
        const pipeline = new URL(await pipelineOf(folder, modes, modes.includes("dynamic"), ""));
        const env = { CONTENT_API_TOKEN: "t-admin" };
        return runPipeline({
          pipeline,
          url: service.url,
          warehouse: join(folder, modes.join("-and-")),
          env,
          cwd: folder,
        });
      };
      const one = await run(listings);
      const both = await run(["dynamic", "full"]);
      assert.equal(one.verdict, "complete");
      await using some = await openPublished(one.directory);
      await using every = await openPublished(both.directory);
      const names = new Set(one.tables.map(({ name }) => name));
      let compared = 0;
      for (const { name, key, columns } of CONTENT_TABLES) {
        // Which definitions are asked for depends on the fields that full documents name.
        if (!names.has(name) || (listings.length === 1 && OF_DEFINITIONS.test(name))) continue;
        const given = columns.filter((column) => key.includes(column.name) || isGiven(column, listings));
        const sql = `SELECT ${given.map((column) => `"${column.name}"`).join(", ")} FROM "${name}" ORDER BY ALL`;
        const rows = await some.rows(sql);
        compared += rows.length;
        assert.deepEqual(rows, await every.rows(sql), name);
      }
      assert.ok(compared > 20, `${compared} rows`);
    });
  }
});

const OF_DEFINITIONS = /custom_field|^destinations$/;

/** Whether one of the listings gives the column all alone. */
function isGiven({ origins }: Column, listings: Listings): boolean {
  const resources = origins.map(({ resource }) => (resource === "basic" ? "full" : resource));
  return (
    resources.length > 0 &&
    resources.every((each) => (each !== "full" && each !== "dynamic" ? false : listings.includes(each)))
  );
}
