import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { systemClock } from "../../src/common/clock.ts";
import { passRecord } from "../../src/extract/extract.ts";
import { EMPTY_RESUME } from "../../src/extract/landing/checkpoint.ts";
import { Journal } from "../../src/extract/landing/journal.ts";
import { Landing } from "../../src/extract/landing/landing.ts";
import { ItemVersions } from "../../src/extract/passes/item-versions.ts";
import { PassReader } from "../../src/extract/passes/listing.ts";
import type { MemoryRows } from "../../src/load/staged-rows.ts";
import { ItemIndex } from "../../src/raw/item-index.ts";
import { RawPaths } from "../../src/raw/raw-folder.ts";
import { RawIndex } from "../../src/raw/raw-index.ts";
import { passRows, requestRows } from "../../src/run/run-tables.ts";
import { tablesOfRun } from "../../src/tables/run.ts";
import { clientOf, serve } from "../extract/loopback.ts";
import { failsWith } from "../failing.ts";
import { temporaryFolder } from "../folders.ts";
import { few } from "../long.ts";
import { NEVER } from "../never.ts";
import { DROP } from "../policies.ts";

/** The envelope's fields land in the account of the run, where `run_passes` and `run_requests` say so. */

/** One answer, as deep as it is changed here. */
interface Envelope {
  response: object[];
  count?: number;
  pagination: Partial<
    Record<"previous" | "next" | "current" | "per_page" | "count" | "pages", number | null>
  >;
}

/** A listing of three items on two pages. */
function listing(): [Envelope, Envelope] {
  const fixed = { per_page: 2, count: 3, pages: 2 };
  return [
    {
      response: [{ id: "a" }, { id: "b" }],
      count: 2,
      pagination: { previous: null, next: 2, current: 1, ...fixed },
    },
    { response: [{ id: "c" }], count: 1, pagination: { previous: 1, next: null, current: 2, ...fixed } },
  ];
}

/** One pass over a listing that a real server gives, as rows of the run's own tables. */
async function account(t: TestContext, pages: readonly object[]): Promise<MemoryRows[]> {
  const { url } = await serve(t, answerFrom(pages));
  const directory = await temporaryFolder(t);
  const itemIndex = new ItemIndex();
  const journal = new Journal();
  await using landing = new Landing({
    threads: 0,
    lander: { ...DROP, token: "", details: "none", settings: "" },
    files: new RawPaths(join(directory, "raw"), 1),
    index: new RawIndex(itemIndex),
    directory,
    resumeState: EMPTY_RESUME,
    listings: 2,
    journal,
    clock: systemClock,
  });
  const pass = await new PassReader(
    {
      client: clientOf(t, url),
      landing,
      journal,
      itemIndex,
      versions: new ItemVersions(itemIndex),
      gone: new Map(),
      clock: systemClock,
      signal: NEVER,
      settings: {
        columns: [],
        itemColumns: [],
        shapes: ["dynamic", "full"],
        concurrency: 1,
        singlesLimits: { items: 5, share: 0 },
        limit: null,
      },
      onProgress: () => {},
    },
    {
      pass: 1,
      mode: "basic",
      columns: [],
      perPage: 2,
      firstPage: undefined,
      landing: undefined,
      pagesPerGroup: undefined,
      wants: () => false,
    },
  ).read();
  const made = [passRows([passRecord(pass, itemIndex.sorted())]), requestRows(journal.requestsInOrder())];
  return made.map(({ table, rows }) => ({ table, rows: [...rows] }));
}

let asItIs: Promise<MemoryRows[]> | undefined;
/** Rows of the listing as it is. */
const unchanged = (t: TestContext) => (asItIs ??= account(t, listing()));

function answerFrom(pages: readonly object[]) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const page = Number(new URL(request.url ?? "", "http://host").searchParams.get("page"));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(pages[page - 1]));
  };
}

/** Columns with an API field whose values differ. */
function changedColumns(before: readonly MemoryRows[], after: readonly MemoryRows[]): string[] {
  const changed: string[] = [];
  before.forEach(({ table, rows }, which) => {
    table.columns.forEach(({ name, origins }, at) => {
      const values = (list: MemoryRows["rows"]) => JSON.stringify(Array.from(list, (row) => row[at]));
      if (origins.length > 0 && values(rows) !== values(after[which]?.rows ?? []))
        changed.push(`${table.name}.${name}`);
    });
  });
  return changed.sort();
}

function declared(...paths: string[]): string[] {
  return [tablesOfRun.passes, tablesOfRun.requests].flatMap((table) =>
    table.columns
      .filter(({ origins }) =>
        origins.some((origin) => origin.resource === "envelope" && paths.includes(origin.path)),
      )
      .map(({ name }) => `${table.name}.${name}`),
  );
}

type Change = (first: Envelope, last: Envelope) => void;

const CHANGES: Readonly<Record<string, Change>> = {
  response: (_, last) => last.response.push({ id: "d" }),
  "pagination.per_page": (first, last) => {
    first.pagination.per_page = 5;
    last.pagination.per_page = 5;
  },
  "pagination.count": (first, last) => {
    first.pagination.count = 7;
    last.pagination.count = 7;
  },
  // The second page is read all the same, for the first names it as the next.
  "pagination.pages": (first, last) => {
    first.pagination.pages = 1;
    last.pagination.pages = 1;
  },
  "pagination.previous": (_, last) => {
    last.pagination.previous = null;
  },
  // The second page is read all the same, for it was announced.
  "pagination.next": (first) => {
    first.pagination.next = null;
  },
};

describe("a change of an envelope's field changes the columns that are declared to come from it, and no others", () => {
  for (const [path, change] of few(Object.entries(CHANGES), 3)) {
    test(path, async (t) => {
      const pages = listing();
      change(...pages);
      const changed = changedColumns(await unchanged(t), await account(t, pages));
      assert.deepEqual(changed, declared(path).sort());
      assert.notDeepEqual(changed, []);
    });
  }
});

test("pagination.current is the page's number in the account, and another than asked for ends the pass", async (t) => {
  const [, requested] = await unchanged(t);
  const page = tablesOfRun.requests.columns.findIndex(({ name }) => name === "page");
  assert.deepEqual(declared("pagination.current"), ["run_requests.page"]);
  assert.deepEqual(
    Array.from(requested?.rows ?? [], (row) => row[page]),
    [1, 2],
  );
  const pages = listing();
  pages[1].pagination.current = 3;
  await failsWith("source.protocol", account(t, pages));
});

test("the count beside the rows changes nothing, whatever it counts", async (t) => {
  const pages = listing();
  pages[0].count = 3;
  delete pages[1].count;
  assert.deepEqual(changedColumns(await unchanged(t), await account(t, pages)), []);
  assert.deepEqual(declared("count"), []);
});

test("every field of the envelope is held by one of these tests", () => {
  const held = [...Object.keys(CHANGES), "pagination", "pagination.current"];
  const paths = [tablesOfRun.passes, tablesOfRun.requests].flatMap((table) =>
    table.columns.flatMap(({ origins }) => origins),
  );
  assert.deepEqual([...new Set(paths.map(({ path }) => path))].sort(), held.sort());
});
