import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { z } from "zod";
import { packagePath } from "../../src/common/package-root.ts";
import { ask, json, serve } from "./ask.ts";
import { describeApi } from "./describe-api.ts";
import { describe } from "./described.ts";

const description = z.looseObject({
  servers: z.tuple([z.object({ url: z.string() })]),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});

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

test("describes every refusal that an operation has, with the same body", async (t) => {
  const { paths } = await describe(await serve(t));
  const everywhere = ["400", "401", "405", "406", "408", "429", "431", "500", "503"];
  const expected = {
    listContent: [],
    getContent: ["404", "414"],
    getDestinations: [],
    getCustomFields: [],
    postDestinations: ["413", "415"],
    postCustomFields: ["413", "415"],
  };
  const error = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  const described = Object.values(paths).flatMap((methods) => Object.values(methods));
  assert.equal(described.length, Object.keys(expected).length);
  for (const [operationId, more] of Object.entries(expected)) {
    const responses = described.find((operation) => operation.operationId === operationId)?.responses ?? {};
    const { 200: _, ...refusals } = responses;
    assert.deepEqual(Object.keys(refusals).sort(), [...everywhere, ...more].sort(), operationId);
    for (const { content } of Object.values(refusals)) assert.deepEqual(content, error);
  }
});

test("names the address that the request was sent to, without credentials too", async (t) => {
  const service = await serve(t);
  const serverFor = async (host: string) => {
    const answer = await ask(service, "/openapi.json", { token: null, headers: { host } });
    return description.parse(json(answer)).servers[0].url;
  };
  assert.equal(await serverFor("cms.example:81"), "http://cms.example:81");
  assert.equal(await serverFor('a"],b'), 'http://a"],b');
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
