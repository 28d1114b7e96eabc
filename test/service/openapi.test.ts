import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
import { packagePath } from "../../src/common/package-root.ts";
import type { Service } from "../../src/service/service.ts";
import { ALL_COLUMNS, ask, json, serve } from "./ask.ts";
import { describeApi } from "./describe-api.ts";
import { BARE, CONTENT_SET } from "./fixture.ts";

const description = z.looseObject({ servers: z.tuple([z.object({ url: z.string() })]) });

async function describe(service: Service, headers: Record<string, string> = {}) {
  return description.parse(json(await ask(service, "/openapi.json", { token: null, headers })));
}

test("the description is what the contract says", async () => {
  const file = packagePath("src/service/openapi.json");
  const made = `${JSON.stringify(describeApi())}\n`;
  if (process.env.UPDATE_DOCS === "1") await writeFile(file, made);
  else
    assert.equal(
      await readFile(file, "utf8"),
      made,
      "UPDATE_DOCS=1 npm test -- test/service/openapi.test.ts",
    );
});

test("names the address that the request was sent to, without credentials too", async (t) => {
  const service = await serve(t);
  for (const host of ["cms.example:81", 'a"],b'])
    assert.equal((await describe(service, { host })).servers[0].url, `http://${host}`);
});

/** Schema of an item, and the query that asks for it. */
const VIEWS: readonly (readonly [schema: string, query: string])[] = [
  ["BasicItem", "detail=basic"],
  ["FullItem", "detail=full"],
  ["DynamicItem", ""],
  ["DynamicItem", `gallery=true&${ALL_COLUMNS}`],
];

/** Every kind of answer of a service, with the name of its schema. */
async function* answersOf(service: Service): AsyncGenerator<readonly [schema: string, value: unknown]> {
  const { contentSet } = service;
  const [token = ""] = contentSet.tokens.keys();
  const list = z.looseObject({ response: z.array(z.looseObject({ id: z.string() })) });
  for (const [schema, query] of VIEWS) {
    const page = json(await ask(service, `/api/v1/content?per_page=1000&${query}`, { token }));
    yield ["ContentList", page];
    for (const item of list.parse(page).response) yield [schema, item];
    const [first] = list.parse(page).response;
    const single = json(await ask(service, `/api/v1/content/${first?.id}?${query}`, { token }));
    yield ["SingleContent", single];
    yield [schema, z.object({ response: z.unknown() }).parse(single).response];
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

test("every answer holds to its description, which allows no field that is not described", async (t) => {
  // Fields of a set's own are described by nothing.
  const described = CONTENT_SET.documents.filter(({ unknown }) => unknown === undefined);
  const loose = JSON.parse(JSON.stringify({ field_locks: { body: {} }, custom_fields: { plan: {} } }));
  const documents = [...described, { ...BARE, id: "c-loose", slug: "loose", ...loose }];
  const own = await serve(t, { documents }, { maxPerPage: 1000 });
  const sample = await serve(t, {}, { data: packagePath("data/sample"), maxPerPage: 1000 });
  const document = await describe(own);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema(document, "openapi");
  for (const service of [own, sample]) {
    for await (const [name, value] of answersOf(service)) {
      const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
      assert.ok(validate, name);
      assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}`);
      const schema = z.object({ properties: z.record(z.string(), z.unknown()) }).parse(validate.schema);
      if (service === own && typeof value === "object" && value !== null)
        for (const field of Object.keys(value)) assert.ok(field in schema.properties, `${name}.${field}`);
    }
  }
});
