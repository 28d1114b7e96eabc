import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJson } from "../../../src/extract/http/decode.ts";
import { SourceError } from "../../../src/extract/http/source-error.ts";
import { readList } from "../../../src/extract/pages/list-page.ts";
import { splitPage } from "../../../src/extract/pages/split-page.ts";
import { either } from "../../long.ts";
import fc from "../../properties.ts";

const PAGINATION = { previous: null, next: null, current: 1, per_page: 9, count: 9, pages: 1 };
const TAIL = `"count":9,"pagination":${JSON.stringify(PAGINATION)}}`;

function documentsOf(text: string): unknown[] {
  return Array.from(readList(Buffer.from(text)).documents, ({ document }) => document);
}

/** What a parse of the whole gives, as JSON text: numbers that were kept exactly show. */
function whole(text: string): string {
  const body = parseJson(text);
  assert.ok(typeof body === "object" && body !== null && "response" in body);
  return JSON.stringify(body.response);
}

function page(elements: readonly string[], gap = ""): string {
  return `${gap}{${gap}"response"${gap}:${gap}[${elements.map((one) => gap + one + gap).join(",")}${gap}],${TAIL}`;
}

test("a page that is parsed element by element gives what a parse of the whole gives", () => {
  const json = fc.oneof(fc.json(), fc.json({ noUnicodeString: false }), fc.json({ stringUnit: "binary" }));
  const number = fc.stringMatching(/^-?(?:0|[1-9]\d{0,25})(?:\.\d{1,20})?(?:[eE][+-]?\d{1,4})?$/);
  const element = fc.oneof(
    json,
    number,
    number.map((digits) => `{"a":[${digits},{"b":${digits}}]}`),
  );
  fc.assert(
    fc.property(
      fc.array(element, { maxLength: 6 }),
      fc.stringMatching(/^[ \n\r\t]{0,2}$/),
      (elements, gap) => {
        const text = page(elements, gap);
        assert.equal(splitPage(Buffer.from(text))?.elements.length, elements.length);
        assert.equal(JSON.stringify(documentsOf(text)), whole(text));
      },
    ),
    { numRuns: either(200, 1000) },
  );
});

test("a body of commas makes no list as long as it is", () => {
  for (const [open, close] of ["[]", "{}"]) {
    const split = splitPage(Buffer.from(page([`${open}${",".repeat(200_000)}${close}`])));
    assert.ok(split?.elements.every(({ marks }) => marks.length <= 10_001));
  }
});

test("a page whose list is not its first field, or is named twice, is parsed as a whole", () => {
  const pagination = JSON.stringify(PAGINATION);
  for (const text of [
    `{"pagination":${pagination},"response":[1,{"a":2}]}`,
    `{"response":[3],"response":[1,{"a":2}],"pagination":${pagination}}`,
    `{"response":[3],"\\u0072esponse":[1,{"a":2}],"pagination":${pagination}}`,
  ]) {
    assert.equal(splitPage(Buffer.from(text)), undefined);
    assert.deepEqual(documentsOf(text), [1, { a: 2 }]);
  }
});

test("C5: whatever is cut or altered in a page is damage, told with its place in the page", () => {
  const elements = ['{"a":[1,"x"]}', "7", '{"b":{"c":null}}'];
  const text = page(elements);
  for (let end = 1; end < text.length; end++) assertDamaged(text.slice(0, end));
  for (const wrong of [
    page(['{"a":1', "2}", "3"]),
    page(["1", "", "2"]),
    page(["1", ""]),
    page(['{"a":1]', '{"b":2}']),
    page(["[1}", "2"]),
    page(["tru", "1"]),
    page(["\v"]),
    page([" \f "]),
    page(["\u00a0"]),
    page(["01", "1"]),
    page(['{"a":"\t"}']),
    `${text}}`,
    `${text} {}`,
  ]) {
    assertDamaged(wrong);
  }
});

test("C5: bytes of any kind in a list are JSON or damage", () => {
  const piece = fc.constantFrom(
    ...'{}[],:"\\ \n\t\v\f0123456789.eE+-tfn',
    "true",
    "null",
    "\\u",
    '"a"',
    "\u00a0",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = page([pieces.join("")]);
      if (isJson(text)) assert.equal(JSON.stringify(documentsOf(text)), whole(text));
      else assertDamaged(text);
    }),
    { numRuns: either(600, 3000) },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("a page of more elements than any page has is parsed as a whole, or is damage", () => {
  assert.equal(documentsOf(page(Array.from({ length: 100_002 }, () => "0"))).length, 100_002);
  assert.equal(splitPage(Buffer.from(`{"response":[${",".repeat(200_000)}],${TAIL}`)), undefined);
  assertDamaged(`{"response":[${",".repeat(200_000)}],${TAIL}`);
});

function assertDamaged(text: string): void {
  const place = /position (\d+)/.exec(messageOf(() => JSON.parse(text)))?.[1];
  const message = messageOf(() => documentsOf(text));
  if (place !== undefined)
    assert.ok(message.includes(`invalid from position ${place}`), `${text}: ${message}`);
}

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof SourceError) assert.equal(error.code, "source.damaged");
    if (error instanceof SyntaxError || error instanceof SourceError) return error.message;
    throw error;
  }
  assert.fail("nothing was thrown");
}
