import assert from "node:assert/strict";
import { test } from "node:test";
import { DYNAMIC_COLUMN_NAMES } from "../../src/api/dynamic.ts";
import type { JsonObject } from "../../src/common/json.ts";
import { Drift } from "../../src/raw/drift.ts";
import { NO_FINGERPRINT } from "../../src/raw/raw-file.ts";
import { fingerprintOf, reusablePart, reuseRecord } from "../../src/raw/reusable.ts";
import fc from "../properties.ts";

const SIGNED = "https://files.example.com/a.pdf?X-Amz-Signature=ab12&X-Amz-Date=20261120T020000Z&v=3";
const SIGNED_ANEW = "https://files.example.com/a.pdf?X-Amz-Signature=cd34&X-Amz-Date=20261121T020000Z&v=3";
const OTHER_FILE = "https://files.example.com/a.pdf?X-Amz-Signature=cd34&X-Amz-Date=20261121T020000Z&v=4";

test("a fingerprint changes with each field of the item, and with none that is of the moment or of others", () => {
  const before = Object.fromEntries(DYNAMIC_COLUMN_NAMES.map((name) => [name, `${name} before`]));
  const kept = DYNAMIC_COLUMN_NAMES.filter((name) => {
    const after = { ...before, [name]: [{ [name]: "after" }] };
    return fingerprintOf(after, "") === fingerprintOf(before, "");
  });
  assert.deepEqual(
    kept,
    [
      "author_details available_actions campaign_details can_destroy can_modify content_type_details creator_details",
      "currently_editing custom_field_values custom_fields_details favorite favorite_count favorite_dates",
      "favorited_by_users full_content_type initiatives_details instance previewable_custom_field_values",
    ].flatMap((names) => names.split(" ")),
  );
});

test("values that differ have other fingerprints, and the order of keys is none", () => {
  const member = fc.tuple(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(fc.array(member, { maxLength: 5 }), fc.jsonValue(), fc.jsonValue(), (members, one, other) => {
      const document = (entries: typeof members, x: unknown) => ({ ...Object.fromEntries(entries), x });
      const print = fingerprintOf(document(members, one), "s");
      assert.equal(fingerprintOf(document(members.toReversed(), one), "s") === print, isSame(members));
      const isEqual = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      assert.equal(fingerprintOf(document(members, other), "s") === print, isEqual);
      assert.notEqual(fingerprintOf(document(members, one), "t"), print);
    }),
  );
});

/** Whether the last of equal names has the same value from either end. */
function isSame(members: readonly (readonly [string, unknown])[]): boolean {
  const of = (entries: typeof members) => JSON.stringify(sorted(Object.fromEntries([...entries, ["x", 0]])));
  return of(members) === of(members.toReversed());
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

test("a URL is the same whoever signed it when, at any depth, and another where its file is", () => {
  const document = (url: string) => ({ attachments: [{ file: { url } }], url });
  const print = fingerprintOf(document(SIGNED), "");
  assert.equal(fingerprintOf(document(SIGNED_ANEW), ""), print);
  assert.notEqual(fingerprintOf(document(OTHER_FILE), ""), print);
});

test("an image that is signed anew within a text changes no fingerprint, and another link does", () => {
  const html = (url: string, link: string) =>
    `<p>Ä <img src="${url.replaceAll("&", "&amp;")}" alt='a'> <a href="https://x.example/?se=${link}">b</a></p>`;
  const print = (body: string) => fingerprintOf({ id: "1", body, custom_fields: { f1: [body] } }, "");
  assert.equal(print(html(SIGNED_ANEW, "1")), print(html(SIGNED, "1")));
  assert.notEqual(print(html(OTHER_FILE, "1")), print(html(SIGNED, "1")));
  assert.notEqual(print(html(SIGNED, "2")), print(html(SIGNED, "1")));
  assert.notEqual(print(`${SIGNED} one`), print(`${SIGNED} two`));
  assert.notEqual(print(`${SIGNED},${OTHER_FILE}`), print(`${SIGNED},${SIGNED}`), "after a comma");
});

test("a copy has what listings do not give, and what it is of", () => {
  const document = { id: "1", url: SIGNED, title: "A", payment: 3, favorite: true, unheard_of: { a: [1] } };
  const kept = { updated_at: "2026-11-01T10:00:00Z", place_id: null };
  const copy = { id: "1", payment: 3, unheard_of: { a: [1] }, ...kept };
  assert.deepEqual(reusablePart({ ...document, ...kept }), copy);
});

test("an answer is of a fingerprint where it says the same in the default set, whatever else it says", () => {
  const listed = { id: "1", url: SIGNED, published: true, completed_date: null, title: "A" };
  const print = fingerprintOf(listed, "settings");
  const at = { order: 1, contentId: "1" };
  const reused = (document: JsonObject) => reuseRecord(document, print, at, new Drift()).fingerprint;
  assert.equal(reused({ id: "1", url: SIGNED_ANEW, published: true, payment: 3 }), print);
  for (const other of [{ published: false }, { url: OTHER_FILE }, { completed_date: "2026-11-01T10:00:00Z" }])
    assert.equal(reused({ ...listed, ...other }), NO_FINGERPRINT, JSON.stringify(other));
});

test("a document that would lose what no listing gives is not reused", () => {
  assert.equal(reusablePart({ id: "1", unheard_of: { a: [SIGNED] } }), undefined);
  assert.equal(reusablePart({ id: "1", place_id: SIGNED }), undefined);
  assert.equal(reusablePart({ id: "1", unheard_of: `<img src="${SIGNED}">` }), undefined);
});
