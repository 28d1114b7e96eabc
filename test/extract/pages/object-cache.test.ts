import assert from "node:assert/strict";
import { test } from "node:test";
import { type PageDocument, readList } from "../../../src/extract/pages/list-page.ts";
import { ObjectCache } from "../../../src/extract/pages/object-cache.ts";
import { isObject } from "../../../src/raw/document.ts";
import { either } from "../../long.ts";
import fc from "../../properties.ts";

const PAGINATION = { previous: null, next: null, current: 1, per_page: 9, count: 9, pages: 1 };

function page(documents: readonly string[]): Buffer {
  return Buffer.from(`{"response":[${documents.join(",")}],"pagination":${JSON.stringify(PAGINATION)}}`);
}

/** A description that is long enough to be remembered. */
function description(id: string, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ id, bio: "Keeps the maps of the northern trails. ".repeat(6), ...more });
}

function read(recurring: ObjectCache, documents: readonly string[]): PageDocument[] {
  return [...readList(page(documents), recurring).documents];
}

/** Reads the documents until what recurs in them is known. */
function knowing(documents: readonly string[]): ObjectCache {
  const recurring = new ObjectCache();
  for (let times = 0; times < 3; times++) read(recurring, documents);
  return recurring;
}

/** The document with the objects that it came without. */
function filled({ document, objects }: PageDocument): unknown {
  assert.ok(isObject(document));
  for (const { name, place, object } of objects) {
    const member = document[name];
    const original: unknown = JSON.parse(object.bytes.toString());
    if (place === undefined) document[name] = original;
    else if (Array.isArray(member)) member[place] = original;
  }
  return document;
}

test("an object that comes a second time is known from then on: as a member, and in a list that is one", () => {
  const user = description("u1");
  const field = description("f1", { values: [{ deep: [1] }] });
  const document = `{"id":"a","user":${user},"fields":[{"id":"x"},${field},null,${field}],"last":1}`;
  const recurring = new ObjectCache();
  assert.deepEqual(read(recurring, [document])[0]?.objects, [], "seen for the first time");
  read(recurring, [document]);
  const [sent] = read(recurring, [document]);
  assert.ok(sent);
  assert.deepEqual(sent.document, { id: "a", user: {}, fields: [{ id: "x" }, {}, null, {}], last: 1 });
  assert.deepEqual(
    sent.objects.map(({ name, place }) => [name, place]),
    [
      ["user", undefined],
      ["fields", 1],
      ["fields", 3],
    ],
  );
  assert.deepEqual(filled(sent), JSON.parse(document));
  assert.deepEqual(sent.parseWhole(), JSON.parse(document));
});

test("what is no JSON is none, whatever is known in it", () => {
  const user = description("u1");
  const known = knowing([`{"id":"a","user":${user}}`]);
  for (const document of [
    `{"id":"a","user":${user}${user}}`,
    `{"id":"a",${user}}`,
    `{"id":"a","user":1${user}}`,
    `{"id":"a","user":n${user}}`,
    `{"id":"a" ${user}}`,
    `{"id":"a","users":[1,${user} 2]}`,
  ]) {
    assert.throws(() => read(known, [document]), { code: "source.damaged" }, document.slice(0, 20));
  }
});

test("documents give the same values and texts whether or not what recurs in them is known", () => {
  const names = fc.constantFrom("id", "a", "b", "user", "fields", "7", "__proto__", "é", '"');
  const known = fc.constantFrom(
    description("u1"),
    description("u2", { list: [{ "}": "{" }], é: "ü\u{1f600}" }),
    description("u2", { list: [] }),
    ` { "id" : "u3" , "text" : "${"x".repeat(200)}" } `,
    `{"id":"u4","id":"u5","text":"${"x".repeat(200)}"}`,
  );
  const value = fc.oneof(
    known,
    fc.array(fc.oneof(known, fc.json({ maxDepth: 1 })), { maxLength: 4 }).map((list) => `[${list}]`),
    known.map((object) => `{"x":${object},"y":[${object}]}`),
    fc.json({ maxDepth: 2 }),
    fc.constantFrom("12345678901234567890", "1.50", '"\\u0041"', '"\\ud800"'),
  );
  const member = fc.tuple(names, value).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  const document = fc.array(member, { maxLength: 6 }).map((members) => `{${members}}`);
  fc.assert(
    fc.property(fc.array(document, { minLength: 1, maxLength: 4 }), (documents) => {
      const afresh = [...readList(page(documents)).documents];
      const again = read(knowing(documents), documents);
      assert.equal(again.length, afresh.length);
      for (const [i, sent] of again.entries()) {
        const one = afresh[i];
        const all = sent.objects.length === 0 ? sent.document : filled(sent);
        assert.equal(JSON.stringify(all), JSON.stringify(one?.document));
        assert.equal(JSON.stringify(sent.parseWhole()), JSON.stringify(one?.document));
        assert.equal(sent.mayHoldLoneSurrogates, one?.mayHoldLoneSurrogates);
        assert.equal(sent.largeNumbers, one?.largeNumbers);
        assert.deepEqual(sent.source?.names, one?.source?.names);
        assert.deepEqual(sent.source?.marks, one?.source?.marks);
      }
    }),
    { numRuns: either(200, 1000) },
  );
});
