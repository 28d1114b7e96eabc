import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import type { ErrorCode } from "../../../src/common/errors.ts";
import { readLookup } from "../../../src/extract/lookups.ts";
import { readItem } from "../../../src/extract/pages/documents.ts";
import { readList as readPage } from "../../../src/extract/pages/list-page.ts";
import { throwsWith } from "../../failing.ts";

const PAGINATION = { previous: null, next: 2, current: 1, per_page: 2, count: 4, pages: 2 };
const PAGE = { response: [{ id: "a" }, null, 7], count: 3, pagination: PAGINATION };
/** A page with all its documents. */
function readList(text: string) {
  const { pagination, rows, documents } = readPage(Buffer.from(text));
  const response = Array.from(documents, ({ document }) => document);
  assert.equal(response.length, rows);
  return { response, pagination };
}

test("a page is its documents, whatever they are, and where it stands", () => {
  assert.deepEqual(readList(JSON.stringify(PAGE)), { response: PAGE.response, pagination: PAGINATION });
  assert.deepEqual(readList(JSON.stringify({ ...PAGE, response: [] })).response, []);
});

test("D16: the count beside the page is not relied on", () => {
  for (const count of [undefined, null, "many", -1, 4])
    assert.ok(readList(JSON.stringify({ ...PAGE, count })));
});

test("the ends of a list may be null or missing", () => {
  const { previous: _, next: __, ...rest } = PAGINATION;
  assert.equal(readList(JSON.stringify({ ...PAGE, pagination: rest })).pagination.next, undefined);
  assert.equal(
    readList(JSON.stringify({ ...PAGE, pagination: { ...rest, next: null } })).pagination.next,
    null,
  );
});

test("B16, C13: what is no page is an error and never a page without items", () => {
  const bodies: unknown[] = [
    null,
    [],
    "",
    0,
    true,
    {},
    { response: [] },
    { pagination: PAGINATION },
    { ...PAGE, response: {} },
    { ...PAGE, response: null },
    { ...PAGE, response: "none" },
    { ...PAGE, pagination: null },
    { ...PAGE, pagination: [] },
    { ...PAGE, pagination: { ...PAGINATION, count: "4" } },
    { ...PAGE, pagination: { ...PAGINATION, pages: 1.5 } },
    { ...PAGE, pagination: { ...PAGINATION, current: null } },
  ];
  for (const body of bodies)
    assert.equal(throwsWith("source.protocol", () => readList(JSON.stringify(body))).retry, false);
});

test("D5: a next page that is no number is a protocol error that says where", () => {
  for (const next of ["2", "https://evil.example/?page=2", {}, true]) {
    const text = JSON.stringify({ ...PAGE, pagination: { ...PAGINATION, next } });
    assert.match(throwsWith("source.protocol", () => readList(text)).message, /pagination\.next/);
  }
});

test("C3: a total that no number can hold is a protocol error", () => {
  const text = JSON.stringify(PAGE).replace('"count":4', '"count":90071992547409931');
  throwsWith("source.protocol", () => readList(text));
});

const errors = (...said: unknown[]) => said.map((error) => JSON.stringify({ error }));

const NO_ANSWERS: Readonly<
  Record<string, readonly [code: ErrorCode, bodies: readonly string[], says: RegExp]>
> = {
  "B13: an error about signing in is a refused token, whatever the status": [
    "source.credentials",
    errors(
      "You need to sign in before continuing.",
      "Please log in.",
      "Not signed in",
      "Unauthorized",
      "Invalid API token",
      "bad credentials",
      "The token has expired",
    ),
    /CONTENT_API_TOKEN.* It said: /,
  ],
  "B16: another error with status 200 is a failure of the service, never an empty answer": [
    "source.unavailable",
    errors("Something went\u001b[2J wrong", "Unexpected token <", { code: 7 }, null, ["x"]),
    /It said: \P{Cc}+$/u,
  ],
  "B14: a web page is a service under repair": [
    "source.unavailable",
    ["<!doctype html><title>Back soon</title>", "\n <html></html>", "<?xml version='1.0'?>"],
    /web page/,
  ],
  "B16, C18: an empty body and two documents are damaged": [
    "source.damaged",
    ["", "  \n", `${JSON.stringify(PAGE)} trailing`, `${JSON.stringify(PAGE)}{}`],
    /not JSON/,
  ],
};

for (const [what, [code, bodies, says]] of Object.entries(NO_ANSWERS))
  test(what, () => {
    for (const read of [readList, readItem, readLookup])
      for (const body of bodies) {
        const { message, retry } = throwsWith(code, () => read(body));
        assert.match(message, says);
        assert.equal(retry, code !== "source.credentials");
      }
  });

test("an item, and the rows of a lookup, come in an envelope or bare; what is neither is an error", () => {
  assert.deepEqual(readItem('{"response":{"id":"a","error":"its own"}}'), { id: "a", error: "its own" });
  assert.deepEqual(readItem('{"id":"a","title":null}'), { id: "a", title: null });
  assert.deepEqual(readItem('{"response":{}}'), {}, "an item without an ID is for the caller to reject");
  assert.deepEqual(readLookup('[{"id":"d"}]'), [{ id: "d" }]);
  assert.deepEqual(readLookup('{"response":[{"id":"d"}],"count":1}'), [{ id: "d" }]);
  for (const text of ["null", "{}", '{"response":null}', '"a"', "7"])
    for (const read of [readItem, readLookup]) throwsWith("source.protocol", () => read(text));
  for (const text of ["[]", '{"response":[{"id":"a"}]}', '{"id":"a","response":7}'])
    throwsWith("source.protocol", () => readItem(text));
  for (const text of ['{"response":{}}', '{"id":"d"}']) throwsWith("source.protocol", () => readLookup(text));
});

test("no error shows a piece of a document", () => {
  const text = JSON.stringify({
    response: { email: "jane@example.com" },
    pagination: { count: "jane@example.com" },
  });
  const failure = throwsWith("source.protocol", () => readList(text));
  assert.ok(!inspect(failure, { depth: Number.POSITIVE_INFINITY }).includes("jane"));
});
