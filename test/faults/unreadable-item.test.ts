/** One item that cannot be read, whatever is asked for. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { definePipeline } from "../../src/define-pipeline.ts";
import { listing } from "../../src/extract/stages.ts";
import { duckdb, parquet } from "../../src/load/stages.ts";
import type { Pipeline } from "../../src/pipeline.ts";
import { contentTables } from "../../src/transform/stages.ts";
import { few } from "../long.ts";
import { HurriedClock, publishedIds, rowsOf, scriptedWorld } from "../run/running.ts";
import { itemsOf, listBody, type Question, type Reply } from "../run/scripted.ts";

const ITEMS = 40;
const ids = itemsOf(ITEMS).map(({ id }) => id);

/** What stands in the place of the item's title. */
const BAD: Readonly<Record<string, string>> = {
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

const CASES = Object.entries(BAD).flatMap(([what, bad]) => LISTINGS.map((at) => ({ what, bad, at })));

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
    const { accounting, verdict, reasons, directory } = summary;
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
    assert.equal(summary.passes.length, 2);
    // A clean run with 10 items a page asks for 8 pages; in each pass the halves of one, five items, an entry and the item, most of it twice.
    assert.ok(service.questions.length <= 2 * (ITEMS / perPage + 18), `${service.questions.length} requests`);
  });
}
