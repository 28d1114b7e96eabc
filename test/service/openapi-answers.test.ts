import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { packagePath } from "../../src/common/package-root.ts";
import type { Document } from "../../src/service/content-set.ts";
import { loadContentSet } from "../../src/service/load.ts";
import type { ContentSet } from "../../src/service/loaded-set.ts";
import type { Service } from "../../src/service/service.ts";
import { ALL_COLUMNS, ask, json, serve } from "./ask.ts";
import { describe, Presence, validator } from "./described.ts";
import { BARE, CONTENT_SET } from "./fixture.ts";
import { contentSetOf } from "./memory-set.ts";

/** Schema of an item, and the query that asks for it. */
const VIEWS: readonly (readonly [schema: string, query: string])[] = [
  ["BasicItem", "detail=basic"],
  ["FullItem", "detail=full"],
  ["DynamicItem", ""],
  ["DynamicItem", `gallery=true&${ALL_COLUMNS}`],
];

const ENVELOPES = new Set(["ContentList", "SingleContent"]);
const list = z.looseObject({ response: z.array(z.looseObject({ id: z.string() })) });
const single = z.looseObject({ response: z.unknown() });

/** What a content set may hold besides, as its files are read. */
const LOOSE: Document = JSON.parse(
  JSON.stringify({
    ...BARE,
    id: "c-loose",
    slug: "loose",
    field_locks: { body: {} },
    custom_fields: { plan: {} },
  }),
);

/** A field of the set's own in place of a described one is described by nothing. */
function isDescribed({ unknown }: Document): boolean {
  return unknown?.tags === undefined;
}

async function contentSets(): Promise<ContentSet[]> {
  const documents = [...CONTENT_SET.documents.filter(isDescribed), LOOSE];
  return [contentSetOf({ ...CONTENT_SET, documents }), await loadContentSet(packagePath("data/sample"))];
}

/** Names that documents have of their own: every view shows them, and nothing describes them. */
async function unknownNames(sets: readonly ContentSet[]): Promise<string[]> {
  const names = new Set<string>();
  for (const { documents } of sets) {
    const all = await documents.read(Array.from({ length: documents.count }, (_, position) => position));
    for (const { unknown = {} } of all) for (const name of Object.keys(unknown)) names.add(name);
  }
  return [...names].sort();
}

/** An envelope alone: whichever view its items are of, they are followed by themselves. */
function withoutItems(value: unknown): unknown {
  const { success, data } = list.safeParse(value);
  return success ? { ...data, response: [] } : { ...single.parse(value), response: null };
}

/** Every kind of answer of a service, with the name of its schema. */
async function* answersOf(service: Service): AsyncGenerator<readonly [schema: string, value: unknown]> {
  const { contentSet } = service;
  const [token = ""] = contentSet.tokens.keys();
  for (const [schema, query] of VIEWS) {
    const page = json(await ask(service, `/api/v1/content?per_page=1000&${query}`, { token }));
    yield ["ContentList", page];
    for (const item of list.parse(page).response) {
      yield [schema, item];
      const answer = json(await ask(service, `/api/v1/content/${item.id}?${query}`, { token }));
      yield ["SingleContent", answer];
      yield [schema, single.parse(answer).response];
    }
  }
  const fields = contentSet.fields.all.map(({ definition }) => definition.name);
  const destinations = contentSet.destinations.map(({ identification }) => identification);
  for (const [schema, path, names] of [
    ["CustomFieldDefinition", "/api/v1/custom_fields_reference", fields],
    ["Destination", "/api/v1/destinations", destinations],
  ] as const) {
    const body = names.map((name) => `name[]=${encodeURIComponent(name)}`).join("&");
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const found = json(await ask(service, path, { method: "POST", token, body, headers }));
    for (const one of z.array(z.unknown()).min(3).parse(found)) yield [schema, one];
  }
  yield ["Error", json(await ask(service, "/api/v1/destinations", { token }))];
}

test("every answer holds to its description, which requires exactly what is always sent", async (t) => {
  const sets = await contentSets();
  const services = await Promise.all(sets.map((data) => serve(t, { data, maxPerPage: 1000 })));
  const [first] = services;
  assert.ok(first);
  const document = await describe(first);
  const assertValid = validator(document);
  const presence = new Presence(document);
  for (const service of services) {
    for await (const [schema, value] of answersOf(service)) {
      assertValid(schema, value);
      presence.see(schema, ENVELOPES.has(schema) ? withoutItems(value) : value);
    }
  }
  assert.ok(presence.places.size > 30);
  const own = await unknownNames(sets);
  for (const [place, { required, always, undescribed }] of presence.places) {
    const isItem = VIEWS.some(([schema]) => schema === place);
    assert.deepEqual([...undescribed].sort(), isItem ? own : [], place);
    assert.deepEqual([...required].sort(), [...always].sort(), place);
  }
});
