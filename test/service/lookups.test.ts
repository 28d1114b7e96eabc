import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { customFieldDefinition } from "../../src/api/custom-field.ts";
import { destination } from "../../src/api/destination.ts";
import type { Service } from "../../src/service/service.ts";
import { type Answer, ask, assertRefused, json, serve, strictly } from "./ask.ts";
import { FIELDS, REGIONS } from "./fixture.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };

function post(service: Service, path: string, body: string): Promise<Answer> {
  return ask(service, path, { method: "POST", headers: FORM, body });
}

/** The rows of a lookup, which answers with a bare array. */
function rows<Item extends z.ZodObject>(item: Item, answer: Answer): z.infer<Item>[] {
  assert.equal(answer.status, 200, answer.bytes.toString());
  return z
    .array(z.unknown())
    .parse(json(answer))
    .map((row) => strictly(item, row));
}

test("the external destination is found by its name and platform, by GET and by form POST", async (t) => {
  const service = await serve(t);
  const expected = [
    { id: "d-portal", identification: "Portal", platform: "External", supports_custom_field_mappings: true },
  ];
  const path = "/api/v1/destinations";
  assert.deepEqual(rows(destination, await ask(service, `${path}?name=Portal&platform=External`)), expected);
  assert.deepEqual(rows(destination, await post(service, path, "name=Portal&platform=External")), expected);
  assert.deepEqual(
    rows(destination, await post(service, `${path}?platform=External`, "name=Portal")),
    expected,
  );
});

test("names are compared exactly, and the platform where one is named", async (t) => {
  const service = await serve(t);
  for (const [query, ids] of [
    ["name=Portal", ["d-portal", "d-wp"]],
    ["name=portal", []],
    ["name=Portal%20", []],
    ["name=Portal&platform=external", []],
    ["name=Port", []],
  ] as const) {
    const found = rows(destination, await ask(service, `/api/v1/destinations?${query}`));
    assert.deepEqual(
      found.map(({ id }) => id),
      ids,
      query,
    );
  }
  const field = await ask(service, "/api/v1/custom_fields_reference?name=REGION");
  assert.deepEqual(rows(customFieldDefinition, field), []);
});

test("a custom field is found with its mappings, the select values on select fields only", async (t) => {
  const service = await serve(t);
  const [region] = rows(
    customFieldDefinition,
    await ask(service, "/api/v1/custom_fields_reference?name=region"),
  );
  assert.deepEqual(region, {
    id: "region",
    field_type: "select",
    display_label: "Label region",
    name: "region",
    formatted_select_values: REGIONS,
    mappings: FIELDS[1]?.mappings,
  });
  const [note] = rows(customFieldDefinition, await ask(service, "/api/v1/custom_fields_reference?name=note"));
  assert.deepEqual(note, {
    id: "note",
    field_type: "text",
    display_label: "Label note",
    name: "note",
    mappings: [],
  });
});

test("several names are looked up at once, and a name that two fields share finds both", async (t) => {
  const service = await serve(t);
  const path = "/api/v1/custom_fields_reference";
  const names = "name[]=twin&name[]=region&name[]=nothing";
  for (const answer of [
    await ask(service, `${path}?${names}`),
    await post(service, path, names),
    await post(service, path, "name%5B%5D=twin&name%5B%5D=region"),
    await ask(service, `${path}?name=twin&name[]=region`),
  ]) {
    assert.deepEqual(
      rows(customFieldDefinition, answer).map(({ id }) => id),
      ["region", "twin-1", "twin-2"],
    );
  }
});

test("a body that is no form is refused with what would be taken", async (t) => {
  const service = await serve(t);
  const answer = await ask(service, "/api/v1/destinations", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"name":"Portal"}',
  });
  assert.match(assertRefused(answer, 415), /form data/);
  const compressed = await ask(service, "/api/v1/destinations", {
    method: "POST",
    headers: { ...FORM, "content-encoding": "gzip" },
    body: "name=Portal",
  });
  assert.match(assertRefused(compressed, 415), /uncompressed/);
  const huge = await post(service, "/api/v1/destinations", `name=${"x".repeat(2_000_000)}`);
  assertRefused(huge, 413);
});
