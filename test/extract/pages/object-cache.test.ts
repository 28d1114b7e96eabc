import assert from "node:assert/strict";
import { test } from "node:test";
import { DocumentReader, type ReaderConfig } from "../../../src/extract/pages/documents.ts";
import { either } from "../../long.ts";
import { DROP, HASH, KEEP } from "../../policies.ts";
import fc from "../../properties.ts";
import { bodyOf } from "../landing/nightly-landing.ts";

const POLICIES: readonly Omit<ReaderConfig, "details" | "settings">[] = [
  DROP,
  HASH,
  KEEP,
  { ...DROP, aliases: { wordcount: "word_count", whose: "owner_details", owner: "author_details" } },
  // Round and round.
  {
    ...DROP,
    aliases: {
      owner_details: "author_details",
      author_details: "last_updated_by",
      last_updated_by: "owner_details",
    },
  },
];

const readerOf = (policy: (typeof POLICIES)[number]) =>
  new DocumentReader({ ...policy, details: "none", settings: "" });

const LONG = "Keeps the maps of the northern trails. ".repeat(6);

interface Listing {
  readonly mode: "dynamic" | "full";
  readonly documents: readonly string[];
}

/** All that the documents of a page give, as text. */
function read(reader: DocumentReader, { mode, documents }: Listing): string {
  const body = bodyOf(...documents);
  const place = {
    kind: "page",
    mode,
    lands: true,
    pass: 1,
    unit: 0,
    page: 1,
    body,
  } as const;
  const { items, rejects, raw, fieldNames, drift } = reader.page(place, Buffer.from(body.bytes));
  return JSON.stringify({
    items,
    rejects,
    raw: raw.map(({ document, ...rest }) => ({ ...rest, document: Buffer.concat([...document]).toString() })),
    fieldNames: [...fieldNames],
    drift: drift.sorted(),
  });
}

test("C13: a page gives the same whether or not the objects in it are known, by every policy", () => {
  const name = fc.constantFrom(
    ..."author_details owner_details last_updated_by currently_editing content_type custom_fields".split(" "),
    ..."email name phone reviewer contact_email x whose owner word_count wordcount 7 __proto__ é".split(" "),
  );
  const anything = fc
    .dictionary(
      fc.constantFrom(..."id email name phone slug role bio field_type value reviewer_name x".split(" ")),
      fc.constantFrom<unknown>("u1", "jane@example.com", null, 1, ["a"], { email: "j@example.com" }),
    )
    .map((attributes) => JSON.stringify({ ...attributes, tz: LONG }));
  const somebody = JSON.stringify({ id: "u1", email: "jane@example.com", tz: LONG });
  const texts = [
    `{"id":"u1","list":[{"}":"{"}],"é":"ü\u{1f600}","tz":"${LONG}"}`,
    ` { "id" : "u3" , "tz" : "${LONG}" } `,
    `{"id":"u4","id":"u5","tz":"${LONG}"}`,
  ];
  const described = fc.oneof(fc.constant(somebody), fc.constantFrom(...texts), anything);
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      described,
      fc.array(tie("value"), { maxLength: 3 }).map((list) => `[${list}]`),
      fc.constantFrom('"jane@example.com"', "null", "1", "{}", '{"email":"j@example.com"}', "[]"),
      fc.constantFrom("12345678901234567890", "1.50", '"\\u0041"', '"\\ud800"'),
    ),
  }));
  const document = fc
    .dictionary(name, value, { maxKeys: 5 })
    .map((members) => Object.entries(members).map(([key, json]) => `${JSON.stringify(key)}:${json}`))
    .chain((members) =>
      fc.constantFrom('"id":"a"', '"id":7', `"id":{"tz":"${LONG}"}`).map((id) => `{${[id, ...members]}}`),
    );
  const listing = fc.record({
    mode: fc.constantFrom("dynamic" as const, "full" as const),
    documents: fc.array(document, { minLength: 1, maxLength: 3 }),
  });
  fc.assert(
    fc.property(
      fc.array(listing, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...POLICIES),
      (pages, options) => {
        const reader = readerOf(options);
        for (const each of [...pages, ...pages, ...pages]) {
          assert.equal(read(reader, each), read(readerOf(options), each));
        }
      },
    ),
    { numRuns: either(150, 1000) },
  );
});

test("what is no JSON is none, whatever is known in it", () => {
  const user = JSON.stringify({ id: "u1", tz: LONG });
  const reader = readerOf(DROP);
  for (let times = 0; times < 3; times++)
    read(reader, { mode: "full", documents: [`{"id":"a","user":${user}}`] });
  for (const document of [
    `{"id":"a","user":${user}${user}}`,
    `{"id":"a",${user}}`,
    `{"id":"a","user":1${user}}`,
    `{"id":"a","user":n${user}}`,
    `{"id":"a" ${user}}`,
    `{"id":"a","users":[1,${user} 2]}`,
  ]) {
    const page = { mode: "full", documents: [document] } as const;
    assert.throws(() => read(reader, page), { code: "source.damaged" }, document.slice(0, 20));
  }
});
