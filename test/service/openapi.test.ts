import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { customFieldDefinition } from "../../src/api/custom-field.ts";
import { destination } from "../../src/api/destination.ts";
import { dynamicItem } from "../../src/api/dynamic.ts";
import { fullItem } from "../../src/api/full.ts";
import { ask, json, serve } from "./ask.ts";

const description = z.looseObject({
  openapi: z.literal("3.1.0"),
  info: z.looseObject({ title: z.string(), version: z.literal("v1") }),
  servers: z.tuple([z.object({ url: z.string() })]),
  paths: z.record(
    z.string(),
    z.record(z.string(), z.looseObject({ operationId: z.string(), responses: z.looseObject({}) })),
  ),
  components: z.looseObject({
    schemas: z.record(
      z.string(),
      z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() }),
    ),
  }),
});

test("describes every address and method, without credentials", async (t) => {
  const service = await serve(t);
  const answer = await ask(service, "/openapi.json", { token: null });
  assert.equal(answer.status, 200);
  const { paths, servers } = description.parse(json(answer));
  assert.deepEqual(
    Object.entries(paths).map(([path, methods]) => [path, Object.keys(methods)]),
    [
      ["/api/v1/content", ["get"]],
      ["/api/v1/content/{content_id}", ["get"]],
      ["/api/v1/destinations", ["get", "post"]],
      ["/api/v1/custom_fields_reference", ["get", "post"]],
    ],
  );
  assert.deepEqual(servers, [{ url: service.url }]);
});

test("describes the resources with the properties of the contract's schemas", async (t) => {
  const service = await serve(t);
  const { schemas } = description.parse(json(await ask(service, "/openapi.json"))).components;
  const expected = {
    DynamicItem: dynamicItem,
    FullItem: fullItem,
    Destination: destination,
    CustomFieldDefinition: customFieldDefinition,
  };
  for (const [name, schema] of Object.entries(expected)) {
    assert.deepEqual(Object.keys(schemas[name]?.properties ?? {}), Object.keys(schema.shape), name);
  }
});

test("every reference in the description leads somewhere", async (t) => {
  const service = await serve(t);
  const text = (await ask(service, "/openapi.json")).bytes.toString();
  const { schemas } = description.parse(JSON.parse(text)).components;
  const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(
    ([, name]) => name ?? "",
  );
  assert.ok(names.length > 20);
  assert.deepEqual(
    names.filter((name) => !(name in schemas)),
    [],
  );
  assert.ok(!text.includes('"$ref":"#/$defs'), "no reference into a part that is not there");
});
