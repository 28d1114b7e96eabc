import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { dynamicItem } from "../../src/api/dynamic.ts";
import { fullItem } from "../../src/api/full.ts";
import { unknownFieldWalker } from "../../src/api/unknown-fields.ts";
import fc from "../properties.ts";

const walkDynamic = unknownFieldWalker(dynamicItem);
const walkFull = unknownFieldWalker(fullItem);

function unknownIn(walk: typeof walkDynamic, document: unknown): [string, unknown][] {
  const found: [string, unknown][] = [];
  walk(document, (path, value) => found.push([path.join("."), value]));
  return found;
}

test("takes whichever option of a union the value is", () => {
  assert.deepEqual(unknownIn(walkFull, { content_type: { id: "t", shade: 1 } }), [["content_type.shade", 1]]);
  assert.deepEqual(unknownIn(walkFull, { content_type: "t" }), []);
  assert.deepEqual(unknownIn(walkFull, { custom_fields: [{ value: { any: 1 } }] }), []);
  assert.deepEqual(unknownIn(walkDynamic, { custom_field_values: { f1: "text", f2: ["a", { b: 1 }] } }), []);
  const leaf = z.looseObject({ known: z.string() }).partial();
  const walk = unknownFieldWalker(
    z.looseObject({
      any: z.union([z.string(), leaf, z.array(leaf), z.null()]),
      other: z.union([z.array(leaf), leaf]),
    }),
  );
  const document = { any: [{ known: "", a: 1 }], other: { b: 2 } };
  assert.deepEqual(unknownIn(walk, document), [
    ["any.[].a", 1],
    ["other.b", 2],
  ]);
  assert.deepEqual(unknownIn(walk, { any: { c: 3 }, other: [{ d: 4 }] }), [
    ["any.c", 3],
    ["other.[].d", 4],
  ]);
});

test("passes over values of another type than the schema says", () => {
  for (const odd of [null, 1, "text", [], {}, [{ id: 1 }]]) assert.deepEqual(unknownIn(walkDynamic, odd), []);
  assert.deepEqual(unknownIn(walkDynamic, { id: 1, attachments: {}, acl: [{ odd: 1 }], tags: null }), []);
});

test("reports keys that objects inherit elsewhere as the fields they are", () => {
  const document: unknown = JSON.parse('{"id":"c1","__proto__":{"a":1},"constructor":2,"toString":3}');
  assert.deepEqual(unknownIn(walkDynamic, document), [
    ["__proto__", { a: 1 }],
    ["constructor", 2],
    ["toString", 3],
  ]);
});

/** Places in a dynamic document where a key can be planted, with the path the walker must give it. */
const PLACES: Record<string, (planted: object) => object> = {
  "": (planted) => planted,
  acl: (planted) => ({ acl: planted }),
  "attachments.[]": (planted) => ({ attachments: [{}, planted] }),
  "attachments.[].image_attributes": (planted) => ({ attachments: [{ image_attributes: planted }] }),
  author_details: (planted) => ({ author_details: planted }),
  "custom_field_values.{}": (planted) => ({ custom_field_values: { f: planted } }),
  "custom_fields_details.[]": (planted) => ({ custom_fields_details: [planted] }),
  "field_locks.{}": (planted) => ({ field_locks: { body: planted } }),
  content_file: (planted) => ({ content_file: planted }),
  next_task: (planted) => ({ next_task: planted }),
  "published_urls.[]": (planted) => ({ published_urls: [planted, null] }),
};

test("finds exactly the keys that were planted, wherever they were", () => {
  const plant = fc.record({
    place: fc.constantFrom(...Object.keys(PLACES)),
    key: fc.string({ minLength: 1 }).map((key) => `x-${key}`),
    value: fc.jsonValue(),
  });
  fc.assert(
    fc.property(plant, ({ place, key, value }) => {
      const document = PLACES[place]?.({ [key]: value });
      const path = place === "" ? key : `${place}.${key}`;
      assert.deepEqual(unknownIn(walkDynamic, document), [[path, value]]);
    }),
  );
});

test("never fails and never reports a known key, whatever JSON comes", () => {
  const known = new Set(Object.keys(dynamicItem.shape));
  const document = fc.dictionary(fc.oneof(fc.constantFrom(...known), fc.string()), fc.jsonValue());
  fc.assert(
    fc.property(document, (value) => {
      const expected = Object.keys(value).filter((key) => !known.has(key));
      const top: string[] = [];
      walkDynamic(value, (path) => {
        if (path.length === 1 && path[0] !== undefined) top.push(path[0]);
      });
      assert.deepEqual(top, expected);
    }),
  );
});

test("takes a single object in place of a list for its one element", () => {
  assert.deepEqual(unknownIn(walkDynamic, { attachments: { id: "a1", mood: 1 } }), [
    ["attachments.[].mood", 1],
  ]);
  assert.deepEqual(unknownIn(walkDynamic, { tags: { any: 1 } }), []);
});

test("shows lists and objects that stand where the contract knows none, but no lists of texts", () => {
  const found: [string, object][] = [];
  const document = {
    id: "c1",
    title: { any: 1 },
    status: ["any"],
    slug: [{ any: 0 }],
    acl: [{ group_ids: [] }],
    tags: ["text", { any: 2 }],
    attachments: [{ url: ["u"], filename: [["f"]] }],
    added_to_collection_date: { k1: "2026-01-01T00:00:00Z", k2: { any: 3 } },
    custom_field_values: { f1: [{ any: 4 }], f2: { id: "file", public: {} } },
    unheard: { of: {} },
  };
  walkDynamic(
    document,
    () => {},
    (path, value) => found.push([path.join("."), value]),
  );
  assert.deepEqual(found, [
    ["title", { any: 1 }],
    ["slug", [{ any: 0 }]],
    ["acl", [{ group_ids: [] }]],
    ["tags.[]", { any: 2 }],
    ["attachments.[].filename", [["f"]]],
    ["added_to_collection_date.{}", { any: 3 }],
    ["custom_field_values.{}.[]", { any: 4 }],
    ["custom_field_values.{}.public", {}],
  ]);
});
