import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { explainCommand } from "../../src/cli/commands/explain.ts";
import { type PageSummary, uncleanReasons } from "../../src/extract/passes/verdict.ts";
import { outcome } from "../cli/capture.ts";
import { long } from "../long.ts";
import {
  exportFrom,
  HurriedClock,
  MAPPING,
  publishedIds,
  rowsOf,
  scriptedWorld,
  temporaryFolder,
} from "./running.ts";
import { type Item, item, itemsOf, listBody, type Question, type Reply, Scripted } from "./scripted.ts";

/** Pages of a pass by their number of rows. */
function marks(
  rows: readonly number[],
  change: (page: number) => object = () => ({}),
): Map<number, PageSummary> {
  const count = rows.reduce((sum, each) => sum + each, 0);
  const pages = rows.map((each, index): [number, PageSummary] => {
    const page = index + 1;
    const next = page < rows.length ? page + 1 : null;
    const pagination = { current: page, next, per_page: 5, count, pages: rows.length, ...change(page) };
    return [page, { pagination, rows: each }];
  });
  return new Map(pages);
}

test("D1, D2, D4, D6, D8, D9, D11, D16, D17: a pass is clean where its pages fit together, and else says why not", () => {
  const cases: readonly (readonly [Map<number, PageSummary>, string | null, object?])[] = [
    [marks([5, 5, 2]), null],
    // One listed thing is no item.
    [marks([5, 5, 2]), null, { distinct: 11, rejected: 1 }],
    // The service gives smaller pages than it says.
    [marks([5, 5, 2], () => ({ per_page: 100 })), null],
    [marks([0]), null, { distinct: 0 }],
    [marks([0], () => ({ pages: 0 })), null, { distinct: 0 }],
    [marks([5, 5, 2]), "1 repeated row", { distinct: 11, duplicates: 1 }],
    [
      marks([5, 5, 2], (page) => ({ count: page === 2 ? 13 : 12 })),
      "the total changed from 12 to 13 on page 2",
    ],
    [marks([5, 5, 2], (page) => ({ per_page: page })), "the page size changed from 1 to 2 on page 2"],
    [marks([5, 5, 2], () => ({ pages: 2 })), "3 pages read, 2 announced"],
    [marks([5, 4, 4, 3]), "page 2 has 4 items, the first 5"],
    [marks([5, 0, 5, 2]), "page 2 has 0 items, the first 5"],
    [marks([5, 5, 2], (page) => (page === 2 ? { next: null } : {})), "page 2 of 3 says that no page follows"],
    [marks([5, 5, 2], () => ({ count: 14 })), "12 items listed, the service counts 14"],
  ];
  for (const [pages, reason, seen] of cases) {
    const { rejected, ...snapshot } = { distinct: 12, duplicates: 0, rejected: 0, ...seen };
    const reasons = uncleanReasons(pages, snapshot, rejected);
    if (reason === null) assert.deepEqual(reasons, []);
    else assert.ok(reasons.includes(reason), `${reason} is not among ${reasons}`);
  }
});

/** Items that are read in two groups of pages, at one item a page. */
const GROUPS = 70;

test("D12, D13: what comes between the passes is there, what goes has vanished by the service's own word", async (t) => {
  const { service, exported } = await scriptedWorld(t);
  service.script = ({ mode, page }) => {
    if (mode === "full" && page === 1) {
      const [first, , ...rest] = service.items;
      service.items = [...rest, item("c-new", 1), first];
    }
    return undefined;
  };
  const summary = await exported();
  assert.equal(summary.verdict, "complete");
  assert.deepEqual(
    summary.found.passes.map(({ mode }) => mode),
    ["dynamic", "full", "basic"],
  );
  const digests = await rowsOf(summary.directory, "SELECT digest FROM run_passes ORDER BY pass");
  assert.notDeepEqual(digests[0], digests[1]);
  assert.deepEqual(digests[1], digests[2]);
  const ids = itemsOf(12).map(({ id }) => id);
  const left = [...ids.filter((id) => id !== "c-001"), "c-new"].sort();
  assert.deepEqual(await publishedIds(summary.directory), left);
  const { listed, loaded, vanished, listedLast, counted } = summary.items;
  assert.deepEqual([listed, loaded, vanished, listedLast, counted], [13, 12, 1, 12, 12]);
  const tags = "SELECT content_id, count(*) FROM content_tags GROUP BY ALL ORDER BY ALL";
  assert.deepEqual(
    await rowsOf(summary.directory, tags),
    left.map((id) => [id, "2"]),
  );
});

long("D17: far more pages are announced than the items can fill: a few are tried, and no more", async (t) => {
  const { service, exported } = await scriptedWorld(t);
  service.script = (question) => {
    if (question.kind !== "list") return undefined;
    const { pagination, ...body } = listBody(service.items, question);
    return { body: { ...body, pagination: { ...pagination, pages: 1_000_000_000 } } };
  };
  const { verdict, reasons } = await exported();
  assert.equal(verdict, "unsettled");
  assert.match(reasons.join("; "), /1000000000 announced/);
  assert.ok(service.asked("list").length < 180, `${service.asked("list").length} pages were asked for`);
});

test("D15: two modes that list the same items in other orders make a complete run, in which each item has both its views", async (t) => {
  const { service, exported } = await scriptedWorld(t, itemsOf(GROUPS));
  service.arrange = (items, { mode }) => {
    const views = items.map((each) => ({
      ...(each as Item),
      ...(mode === "full"
        ? { content: `body of ${(each as Item).id}` }
        : { excerpt: `start of ${(each as Item).id}` }),
    }));
    return mode === "full" ? views.reverse() : views;
  };
  const stages = new Set<string>();
  const summary = await exported({
    config: { perPage: 1 },
    onProgress: ({ stage }) => stages.add(stage),
  });
  assert.ok(stages.has("transform"), "some items could not be paired on the way");
  assert.deepEqual([summary.verdict, summary.reasons], ["complete", []]);
  assert.deepEqual(
    await rowsOf(summary.directory, "SELECT content_id, excerpt, content FROM content ORDER BY content_id"),
    itemsOf(GROUPS).map(({ id }) => [id, `start of ${id}`, `body of ${id}`]),
  );
});

const ANSWER =
  "SELECT request FROM run_documents WHERE content_id = 'c-002' AND shape = 'dynamic' ORDER BY observation DESC LIMIT 1";

/** Whether it is a page of documents with the item `c-006`, which nobody can read. */
function isDamaged({ kind, mode, page, perPage, columns }: Question): boolean {
  return kind === "list" && mode === "dynamic" && columns.length > 0 && Math.ceil(7 / perPage) === page;
}

/**
 * Each document says in its title which answer it is of, and `digests` has the SHA-256 of that. Between the passes
 * `c-002` is edited.
 */
async function numbered(t: TestContext) {
  const service = await Scripted.start(t, itemsOf(12));
  const digests = new Map<string, string>();
  const answer = (question: Question): Reply | undefined => {
    const title = `answer ${question.number}`;
    const items = service.items.map((each) => ({ ...(each as object), title, custom_fields: {} }));
    const found = itemsOf(12).findIndex(({ id }) => id === question.id);
    const body = question.kind === "list" ? listBody(items, question) : { response: items[found] };
    const text = JSON.stringify(body);
    digests.set(title, hash("sha256", text));
    return { body: text };
  };
  service.script = (question) => {
    if (question.mode === "full" && question.kind === "list") {
      const edited = item("c-002", 2, { updated_at: "2026-11-19T00:00:00Z" });
      service.items = service.items.map((each, place) => (place === 2 ? edited : each));
    }
    if (isDamaged(question)) return { body: "{" };
    return question.kind === "list" || question.kind === "item" ? answer(question) : undefined;
  };
  return { service, digests };
}

test("each document names the request that it was the answer to, of an item that was repaired and of a page read in parts too", async (t) => {
  const { service, digests } = await numbered(t);
  const out = await temporaryFolder(t);
  const clock = new HurriedClock();
  const config = { perPage: 4 };
  const { directory } = await exportFrom({ url: service.url, out, clock, pipelineUrl: MAPPING, config });
  const documents = await rowsOf(
    directory,
    `SELECT d.content_id, d.shape, r.mode, json_extract_string(raw.document, '$.title'), r.sha256
     FROM run_documents d
     LEFT JOIN run_requests r USING (request)
     JOIN read_parquet('${directory}/raw/*/*.parquet', union_by_name = true) raw
       ON raw.content_id = d.content_id AND raw.shape = d.shape AND raw.observation = d.observation
     ORDER BY d.content_id, d.observation`,
  );
  const named = documents.map(([id, shape, mode, title]) => [id, shape, mode, digests.get(String(title))]);
  const sent = documents.map(([id, shape, mode, , sha256]) => [id, shape, mode, sha256]);
  assert.deepEqual(sent, named);
  const singly = documents.filter(([, , mode]) => mode === "item").map(([id, shape]) => `${id} ${shape}`);
  assert.deepEqual(singly, ["c-002 full", "c-002 dynamic", "c-006 dynamic"]);
  const [[request] = []] = await rowsOf(directory, ANSWER);
  const file = join(await temporaryFolder(t), "evidence.json");
  await outcome(explainCommand, ["c-002", "--evidence", file, "--warehouse", out]);
  const evidence = JSON.parse(await readFile(file, "utf8"));
  const [last] = evidence.documents.filter(({ shape }: { shape: string }) => shape === "dynamic").slice(-1);
  assert.equal(last.request, request);
});
