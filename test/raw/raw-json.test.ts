import assert from "node:assert/strict";
import { test } from "node:test";
import { isObject, type JsonObject } from "../../src/common/json.ts";
import { type PageDocument, readList } from "../../src/extract/pages/list-page.ts";
import { Drift } from "../../src/raw/drift.ts";
import { documentPreparer, type PrepareSettings } from "../../src/raw/prepare.ts";
import { serializeDocument } from "../../src/raw/raw-json.ts";
import { bodyOf } from "../extract/landing/nightly-landing.ts";
import { either } from "../long.ts";
import { DROP, HASH, KEEP } from "../policies.ts";
import fc from "../properties.ts";

const NOTHING: ReadonlySet<string> = new Set();

function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString();
}

function sent(json: string): PageDocument & { readonly document: JsonObject } {
  const [one] = readList(Buffer.from(bodyOf(json).bytes)).documents;
  assert.ok(one !== undefined && isObject(one.document));
  return { ...one, document: one.document };
}

test("a document that nobody changed is kept byte for byte", () => {
  for (const json of [
    '{"id":"a","b":[1,{"c":"\\"}\\\\"}],"d":null}',
    '{"id":"a"}',
    '{ "id" : "a" ,\n"b" : [ 1.50, -0, 0.10 ] }',
    '{"\\\\":1,"id":"a","b":{"\\\\\\"":2}}',
    '{"id":"é\u{1f600}","2":1,"1":{"x":2},"__proto__":3}',
  ]) {
    const { document, source } = sent(json);
    assert.equal(textOf(serializeDocument(document, source, NOTHING)), json);
  }
});

test("members that changed are written anew, those that are gone are left out, and all others stay as they came", () => {
  const { document, source } = sent('{ "a": 1.50, "b":"x" ,"c":[ 2.0 ],"d" : {"e":1}, "f":7}');
  document.b = { g: "\n" };
  delete document.d;
  delete document.f;
  const kept = serializeDocument(document, source, new Set(["b", "d", "f", "none"]));
  assert.equal(textOf(kept), '{ "a": 1.50,"b":{"g":"\\n"},"c":[ 2.0 ]}');
  delete document.a;
  delete document.b;
  delete document.c;
  assert.equal(textOf(serializeDocument(document, source, new Set("abcdf"))), "{}");
});

/**
 * Whether an object in it has a name with a backslash. V8's `JSON.parse` takes a name that has to be escaped, such as `"`,
 * for another that it saw at its place in an object before, if that is what the escaped text begins with: `\\`. A test that
 * reads both with it would tell the engine's mistake.
 */
function namesBackslash(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, each]) => name.includes("\\") || namesBackslash(each));
}

test("the text of any document means what the document is, whatever was changed", () => {
  const name = fc.oneof(
    fc.constantFrom("a", "b", "1", "0", "é", "Ã©", '"', "__proto__"),
    fc.string().filter((each) => !each.includes("\\")),
  );
  const value = fc.json().filter((text) => !namesBackslash(JSON.parse(text)));
  const member = fc.tuple(name, value, fc.constantFrom("", " ", "\n\t"));
  fc.assert(
    fc.property(fc.array(member, { minLength: 1, maxLength: 8 }), fc.array(fc.nat(7)), (members, changes) => {
      const json = `{${members.map(([key, value, gap]) => `${gap}${JSON.stringify(key)}${gap}:${value}${gap}`)}}`;
      const { document, source } = sent(json);
      const names = Object.keys(document);
      const changed = new Set(changes.flatMap((place) => names[place] ?? []));
      for (const [place, each] of [...changed].entries()) {
        if (place % 2 === 0) delete document[each];
        else Object.defineProperty(document, each, { value: [place], enumerable: true });
      }
      const kept = textOf(serializeDocument(document, source, changed));
      assert.equal(JSON.stringify(JSON.parse(kept)), JSON.stringify(document));
    }),
    { numRuns: either(200, 1000) },
  );
});

const POLICIES: readonly PrepareSettings[] = [
  DROP,
  HASH,
  KEEP,
  {
    ...DROP,
    aliases: { wordcount: "word_count", email: "contact_email" },
  },
];

test("what the personal-data policy or an alias did to a document shows in its text", () => {
  const name = fc.constantFrom(
    ..."author_details owner_details currently_editing last_updated_by custom_field_values tags".split(" "),
    ..."email name phone reviewer contact_email x id word_count wordcount".split(" "),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom("a", "jane@example.com", null, 1),
      tie("list"),
      tie("object"),
    ),
    list: fc.array(tie("value"), { maxLength: 3 }),
    object: fc.dictionary(name, tie("value"), { maxKeys: 4 }),
  }));
  fc.assert(
    fc.property(
      fc.dictionary(name, value, { maxKeys: 6 }),
      fc.constantFrom(...POLICIES),
      fc.constantFrom("dynamic", "full"),
      (members, policy, shape) => {
        const { document, source } = sent(JSON.stringify({ id: "a", ...members }));
        const at = { order: 1, contentId: "a" };
        const { changed } = documentPreparer(policy)(shape, document, at, new Drift());
        const kept = JSON.parse(textOf(serializeDocument(document, source, changed)));
        assert.deepEqual(kept, JSON.parse(JSON.stringify(document)));
      },
    ),
    { numRuns: either(200, 1000) },
  );
});

test("C13: a member is never taken for another whose name has the same bytes in another encoding", () => {
  const [drop] = POLICIES;
  assert.ok(drop);
  const { document, source } = sent('{"Ã©_owner":"Jane Doe","é_owner":5,"0":1,"id":"a"}');
  const { changed } = documentPreparer(drop)("full", document, { order: 1, contentId: "a" }, new Drift());
  const kept = textOf(serializeDocument(document, source, changed));
  assert.deepEqual(JSON.parse(kept), { 0: 1, é_owner: 5, id: "a" });
});

test("a document of more members than any item has, or nested deeply, means what it is", () => {
  const many = `{ ${Array.from({ length: 20_000 }, (_, i) => `"m${i}": ${i}`)} }`;
  const deep = `{"a": 1, "b": ${"[".repeat(2000)}${"]".repeat(2000)}}`;
  for (const json of [many, deep]) {
    const { document, source } = sent(json);
    const text = textOf(serializeDocument(document, source, NOTHING));
    assert.equal(JSON.stringify(JSON.parse(text)), JSON.stringify(document));
  }
});

test("a text is written anew where it may hide something from who reads or searches it", () => {
  const of = (json: string) => {
    const { document, source } = sent(json);
    return textOf(serializeDocument(document, source, NOTHING));
  };
  assert.equal(of('{"a":{"b":1,"c":2,"b":3}}'), '{"a":{"b":3,"c":2}}', "a name that stands twice");
  assert.equal(of('{"a":1,"a":2}'), '{"a":2}', "a name that stands twice at the top");
  assert.equal(of('{"a":"x\\u0040y","b":1.0}'), '{"a":"x@y","b":1}', "a character that need not be escaped");
  assert.equal(of('{"a":"x\\/y"}'), '{"a":"x/y"}', "a slash");
});

test("without the text, or with new names, all is written anew", () => {
  const { document, source } = sent('{"a": 1.0}');
  assert.equal(textOf(serializeDocument(document, undefined, NOTHING)), '{"a":1}');
  assert.equal(textOf(serializeDocument(document, source, undefined)), '{"a":1}');
});
