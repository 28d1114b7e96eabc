import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readList } from "../../src/extract/envelope.ts";
import { RecurringObjects } from "../../src/extract/recurring.ts";
import { DocumentReader } from "../../src/run/documents.ts";
import type { DocumentOptions } from "../../src/transform/document.ts";
import { isObject } from "../../src/transform/views.ts";
import { bodyOf } from "./nightly-staging.ts";

const KEY = new TextEncoder().encode("0123456789abcdef0123456789abcdef");
const DROP = { policy: "drop", hashKey: undefined, aliases: {} } as const;
const POLICIES: readonly DocumentOptions[] = [
  DROP,
  { policy: "hash", hashKey: KEY, aliases: {} },
  { policy: "keep", hashKey: undefined, aliases: {} },
  { ...DROP, aliases: { wordcount: "word_count", whose: "owner_details", owner: "author_details" } },
];

const LONG = "Keeps the maps of the northern trails. ".repeat(6);

/** All that the documents of a page give, as text. */
function read(
  options: DocumentOptions,
  mode: "dynamic" | "full",
  documents: readonly string[],
  times: number,
): string {
  const recurring = new RecurringObjects();
  const reader = new DocumentReader(options, recurring);
  let given = "";
  for (let time = 0; time < times; time++) {
    const body = bodyOf(...documents);
    const place = {
      kind: "page",
      mode,
      sweep: 1,
      group: 0,
      firstPage: 1,
      page: 1,
      pairWith: [],
      body,
    } as const;
    const page = readList(Buffer.from(body.bytes), recurring);
    const { items, rejects, raw, viewed, drift } = reader.page(place, page.documents);
    given = JSON.stringify({
      items,
      rejects,
      raw: raw.map(({ document, ...rest }) => ({
        ...rest,
        document: Buffer.concat([...document]).toString(),
      })),
      viewed: viewed.map(({ contentId, view: { unknown, ...view } }) => {
        return {
          contentId,
          view,
          unknown: unknown.map(({ path, parent, value }) => ({ path, parent, value })),
        };
      }),
      drift: drift.sorted(),
    });
  }
  return given;
}

test("C13: a page gives the same whether or not the objects in it are known, by every policy", () => {
  const name = fc.constantFrom(
    ..."author_details owner_details last_updated_by currently_editing content_type custom_fields".split(" "),
    ..."email name phone reviewer contact_email x whose owner word_count wordcount".split(" "),
  );
  const anything = fc
    .dictionary(
      fc.constantFrom(..."id email name phone slug role bio field_type value reviewer_name x".split(" ")),
      fc.constantFrom<unknown>("u1", "jane@example.com", null, 1, ["a"], { email: "j@example.com" }),
    )
    .map((attributes) => JSON.stringify({ ...attributes, tz: LONG }));
  const somebody = JSON.stringify({ id: "u1", email: "jane@example.com", tz: LONG });
  const described = fc.oneof(fc.constant(somebody), anything);
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      described,
      fc.array(tie("value"), { maxLength: 3 }).map((list) => `[${list}]`),
      fc.constantFrom('"jane@example.com"', "null", "1", "{}", '{"email":"j@example.com"}', "[]"),
    ),
  }));
  const document = fc
    .dictionary(name, value, { maxKeys: 5 })
    .map((members) => Object.entries(members).map(([key, json]) => `${JSON.stringify(key)}:${json}`))
    .chain((members) =>
      fc.constantFrom('"id":"a"', '"id":7', `"id":{"tz":"${LONG}"}`).map((id) => `{${[id, ...members]}}`),
    );
  fc.assert(
    fc.property(
      fc.array(document, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...POLICIES),
      fc.constantFrom("dynamic", "full"),
      (documents, options, mode) => {
        assert.equal(read(options, mode, documents, 4), read(options, mode, documents, 1));
      },
    ),
    { numRuns: 2000 },
  );
});

test("an object that documents share cannot be changed by what comes after", () => {
  const recurring = new RecurringObjects();
  const reader = new DocumentReader(DROP, recurring);
  const document = JSON.stringify({ id: "a", owner_details: { id: "u1", tz: LONG, tours_seen: ["a"] } });
  const owners = Array.from({ length: 4 }, () => {
    const body = bodyOf(document);
    const place = { sweep: 1, group: 0, firstPage: 1, page: 1, pairWith: [], body } as const;
    const { documents } = readList(Buffer.from(body.bytes), recurring);
    const { viewed } = reader.page({ kind: "page", mode: "full", ...place }, documents);
    return viewed[0]?.view.document.owner_details;
  });
  const [, , third, fourth] = owners;
  assert.ok(isObject(third));
  assert.equal(third, fourth);
  assert.throws(() => Object.assign(third, { tz: "" }), TypeError);
  assert.throws(() => (third.tours_seen as string[]).push("b"), TypeError);
});
