/** What a taken-up run does with the pages that were read before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { systemClock } from "../../src/clock.ts";
import type { HttpClient } from "../../src/extract/client.ts";
import { Catalogue, Holdings } from "../../src/run/catalogue.ts";
import type { ListedGroup } from "../../src/run/checkpoint-form.ts";
import { Journal } from "../../src/run/journal.ts";
import { runSweep, type SweepContext, type SweepStaging } from "../../src/run/sweep.ts";
import { Workers } from "../../src/run/workers.ts";

const GROUPS = 40;
const CONCURRENCY = 4;

function unexpected(): never {
  throw new Error("no request was to be made");
}

const nobody: HttpClient = {
  host: "none.example",
  read: unexpected,
  readAs: unexpected,
  send: unexpected,
  close: unexpected,
};

/** Each group is a page of one item. */
function groupOf(group: number): ListedGroup {
  const page = group + 1;
  const next = page < GROUPS ? page + 1 : null;
  const pagination = { current: page, next, per_page: 1, count: GROUPS, pages: GROUPS };
  const items = [{ id: `item ${page}`, position: 0, updatedAt: null, event: false }];
  const record = {
    mode: "full",
    sweep: 2,
    page,
    nextPage: next,
    previousPage: null,
    contentId: null,
    status: 200,
    attempts: 1,
    bytes: 1,
    milliseconds: 1,
    observedAt: 0,
    sha256: "0".repeat(64),
  } as const;
  const result = { answer: { pagination }, rows: 1, items, rejects: [], decodedBytes: 1 };
  return {
    startedMs: 0,
    pagesPerGroup: 1,
    perPage: 1,
    file: null,
    drift: [],
    pages: [{ page, result, record }],
  };
}

async function replay(reopenGroup: SweepStaging["reopenGroup"]) {
  const catalogue = new Catalogue();
  const context: SweepContext = {
    client: nobody,
    workers: new Workers(0, "", {
      directory: "",
      policy: "keep",
      hashKey: undefined,
      aliases: {},
      limits: { decodedBytes: 1 },
    }),
    journal: new Journal(),
    catalogue,
    holdings: new Holdings(catalogue),
    clock: systemClock,
    signal: new AbortController().signal,
    settings: { perPage: 1, columns: [], itemColumns: [], concurrency: CONCURRENCY },
    onProgress: () => {},
  };
  return runSweep(context, 2, "full", {
    pagesPerGroup: 1,
    kept: {
      groups: GROUPS,
      pages: GROUPS,
      startedMs: 0,
      endedMs: 1,
      perPage: 1,
      pagesPerGroup: 1,
      read: async (group) => groupOf(group),
    },
    pairedWith: () => undefined,
    onTransformed: () => {},
    closeGroup: unexpected,
    reopenGroup,
  });
}

test("groups that were read before are taken up a few at a time: memory does not hold them all", async () => {
  const taken: number[] = [];
  let underWay = 0;
  let most = 0;
  const sweep = await replay(async (group) => {
    taken.push(group);
    underWay += 1;
    most = Math.max(most, underWay);
    await setTimeout(2);
    underWay -= 1;
  });
  assert.deepEqual(
    taken,
    Array.from({ length: GROUPS }, (_, group) => group),
  );
  assert.equal(most, CONCURRENCY);
  assert.equal(underWay, 0);
  assert.equal(sweep.sightings.distinct, GROUPS);
  assert.equal(sweep.keptPages, GROUPS);
});

test("a group that cannot be taken up ends the pass, and none after it is begun", async () => {
  const taken: number[] = [];
  const failing = replay(async (group) => {
    taken.push(group);
    await setTimeout(2);
    if (group === 1) throw new Error("the file is gone");
  });
  await assert.rejects(failing, /the file is gone/);
  assert.ok(taken.length <= 3 * CONCURRENCY, `${taken.length} groups were taken up`);
});
