import assert from "node:assert/strict";
import { test } from "node:test";
import { dynamicItem } from "../../src/api/dynamic.ts";
import { listEnvelope } from "../../src/api/envelope.ts";
import { ask, assertRefused, read, serve } from "./ask.ts";
import { BARE } from "./fixture.ts";

const list = listEnvelope(dynamicItem);

/** A set of the items `i-0` to `i-<count - 1>`, in creation order. */
function setOf(count: number) {
  const documents = Array.from({ length: count }, (_, index) => ({
    ...BARE,
    id: `i-${index}`,
    slug: `s-${index}`,
  }));
  return { documents };
}

function ids({ response }: { response: { id: string }[] }): string[] {
  return response.map(({ id }) => id);
}

/** By what is asked for: how many items there are, the numbers of those that are sent, and what is said of the pages. */
const PAGES: Readonly<Record<string, readonly [items: number, sent: readonly number[], pagination: object]>> =
  {
    "?": [60, numbers(0, 25), { previous: null, next: 2, current: 1, count: 60, pages: 3 }],
    "?page=3": [60, numbers(50, 60), { previous: 2, next: null, current: 3, count: 60, pages: 3 }],
    "?page=9": [3, [], { previous: 8, next: null, current: 9, count: 3, pages: 1 }],
    "?page=1": [0, [], { previous: null, next: null, current: 1, count: 0, pages: 0 }],
  };

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

test("a page has 25 items in creation order, counts its own, and says which others there are", async (t) => {
  for (const [query, [items, sent, pagination]] of Object.entries(PAGES)) {
    const service = await serve(t, setOf(items));
    const page = await read(service, `/api/v1/content${query}`, list);
    assert.deepEqual(
      ids(page),
      sent.map((number) => `i-${number}`),
      query,
    );
    assert.equal(page.count, sent.length, query);
    assert.deepEqual(page.pagination, { per_page: 25, ...pagination }, query);
  }
});

test("a page number of any length is a page past the end", async (t) => {
  const service = await serve(t, setOf(3));
  for (const asked of ["9007199254740992", "9".repeat(400)]) {
    const { response, pagination } = await read(service, `/api/v1/content?page=${asked}`, list);
    const { previous, next, current } = pagination;
    assert.deepEqual([response, previous, next], [[], current - 1, null]);
    assert.equal(current, Number.MAX_SAFE_INTEGER);
  }
});

test("only the first question mark begins the query", async (t) => {
  const service = await serve(t);
  const { pagination } = await read(service, "/api/v1/content?columns[]=a?b&per_page=1&page=2", list);
  assert.deepEqual([pagination.current, pagination.per_page], [2, 1]);
  const found = await ask(service, "/api/v1/destinations?name=Who?&name[]=Portal");
  assert.equal(found.status, 200);
  assert.match(found.bytes.toString(), /Portal/);
});

test("a page larger than the maximum is clamped, and the clamped size echoed", async (t) => {
  const service = await serve(t, setOf(12), { maxPerPage: 10 });
  for (const asked of ["11", "100000", "9007199254740993", "9".repeat(400)]) {
    const { response, pagination } = await read(service, `/api/v1/content?per_page=${asked}`, list);
    assert.deepEqual([response.length, pagination.per_page, pagination.pages], [10, 10, 2]);
  }
  const { pagination } = await read(service, "/api/v1/content", list);
  assert.equal(pagination.per_page, 10, "the default is no larger than the maximum");
});

test("a page number or size that is no whole number from 1 up is refused", async (t) => {
  const service = await serve(t);
  for (const value of ["0", "-1", "x", "", "1.5", "1e2", "+1", "%201", "0".repeat(400)]) {
    for (const name of ["page", "per_page"]) {
      const sentence = assertRefused(await ask(service, `/api/v1/content?${name}=${value}`), 400);
      assert.ok(sentence.toLowerCase().includes(name), sentence);
    }
  }
});

test("sorts by the time of the last update, up and down, whatever the length of its fraction", async (t) => {
  const at = (id: string, updated_at: string) => ({ ...BARE, id, slug: id, updated_at });
  const documents = [
    at("c", "2024-01-01T00:00:00.500000Z"),
    at("a", "2024-01-01T00:00:00Z"),
    at("d", "2024-01-01T00:00:01Z"),
    at("b", "2024-01-01T00:00:00.25Z"),
    at("b2", "2024-01-01T00:00:00.25Z"),
  ];
  const service = await serve(t, { documents });
  const sorted = async (query: string) => ids(await read(service, `/api/v1/content?${query}`, list));
  assert.deepEqual(await sorted("sort_field=updated_at"), ["a", "b", "b2", "c", "d"]);
  assert.deepEqual(await sorted("sort_field=updated_at&sort_dir=1&per_page=2&page=2"), ["b2", "c"]);
  assert.deepEqual(await sorted("sort_field=updated_at&sort_dir=-1"), ["d", "c", "b", "b2", "a"]);
  assert.deepEqual(await sorted("sort_dir=1"), ["c", "a", "d", "b", "b2"]);
  assertRefused(await ask(service, "/api/v1/content?sort_field=title"), 400);
  assertRefused(await ask(service, "/api/v1/content?sort_dir=up"), 400);
});

test("unknown parameters and a trailing slash change nothing", async (t) => {
  const service = await serve(t);
  const plain = await ask(service, "/api/v1/content?detail=basic");
  const more = await ask(service, "/api/v1/content/?detail=basic&fresh=1&name[]=x&%zz=%");
  assert.deepEqual(more.bytes, plain.bytes);
  assert.equal((await ask(service, "/api/v1/content/c-bare/")).status, 200);
});
