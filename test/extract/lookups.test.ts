import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { type TestContext, test } from "node:test";
import type { ServiceRequest } from "../../src/extract/http/request.ts";
import { Lookups } from "../../src/extract/lookups.ts";
import { failsWith } from "../failing.ts";
import { NEVER } from "../never.ts";
import fc from "../properties.ts";
import { clientOf, serve } from "./loopback.ts";

const SHOP = { id: "d1", identification: "Shop", platform: "External", supports_custom_field_mappings: true };
const SHOP_MAIL = { ...SHOP, id: "d2", platform: "Mail" };
const COLOR = { id: "f1", name: "color", field_type: "select", mappings: [] };
const COLOR_TOO = { id: "f2", name: "color", field_type: "text" };
const SIZE = { id: "f3", name: "Size", field_type: "text" };

type Answer = (path: string, names: string[], request: IncomingMessage) => { status: number; body: unknown };

/** Lookups against a service that answers so, with the requests that it saw as `METHOD path?parameters`. */
async function lookupsAgainst(t: TestContext, setting: "auto" | "get" | "post", answer: Answer) {
  const seen: string[] = [];
  const { url } = await serve(t, async (request, response) => {
    let form = "";
    for await (const piece of request.setEncoding("utf8")) form += piece;
    const [path = "", query = ""] = (request.url ?? "").split("?");
    if (request.method === "POST")
      assert.equal(request.headers["content-type"], "application/x-www-form-urlencoded");
    const parameters = new URLSearchParams(request.method === "POST" ? form : query);
    seen.push(`${request.method} ${path}?${decodeURIComponent(parameters.toString())}`);
    const names = [...parameters].filter(([name]) => name !== "platform").map(([, value]) => value);
    const { status, body } = answer(path, names, request);
    response.writeHead(status).end(JSON.stringify(body));
  });
  return { seen, lookups: new Lookups(clientOf(t, url), setting) };
}

const byName: Answer = (path, names) => ({
  status: 200,
  body: path.endsWith("destinations")
    ? [SHOP, SHOP_MAIL].filter((row) => names.includes(row.identification))
    : { response: [COLOR, COLOR_TOO, SIZE].filter((row) => names.includes(row.name)) },
});

test("destinations are found by name and platform, and those that are not there are named", async (t) => {
  const { seen, lookups } = await lookupsAgainst(t, "auto", byName);
  const other = { name: "Intranet", platform: "External" };
  const found = await lookups.destinations([{ name: "Shop", platform: "External" }, other], NEVER);
  assert.deepEqual(
    found.destinations,
    [SHOP],
    "the destination of the same name on another platform is another one",
  );
  assert.deepEqual(found.unmatched, [other]);
  assert.deepEqual(seen, [
    "GET /api/v1/destinations?name=Shop&platform=External",
    "GET /api/v1/destinations?name=Intranet&platform=External",
  ]);
  assert.deepEqual(
    found.responses.map(({ response }) => response.status),
    [200, 200],
  );
  assert.equal(found.responses[0]?.request.mode, "destinations");
});

test("all definitions of a name are given, unmatched names are named", async (t) => {
  const { seen, lookups } = await lookupsAgainst(t, "auto", byName);
  const found = await lookups.customFields(["color", "size", "color"], NEVER);
  assert.deepEqual(found.definitions, [COLOR, COLOR_TOO]);
  assert.deepEqual(found.unmatched, ["size"], "names are compared exactly");
  assert.deepEqual(seen, ["GET /api/v1/custom_fields_reference?name[]=color&name[]=size"]);
});

test("a lookup without a name is never sent", async (t) => {
  const { seen, lookups } = await lookupsAgainst(t, "auto", byName);
  assert.deepEqual(await lookups.customFields([], NEVER), { definitions: [], unmatched: [], responses: [] });
  assert.deepEqual((await lookups.customFields([""], NEVER)).unmatched, [""]);
  assert.deepEqual((await lookups.destinations([], NEVER)).destinations, []);
  assert.deepEqual(seen, []);
});

test("where GET does not exist, POST is asked, and remembered for the run", async (t) => {
  for (const status of [404, 405]) {
    const postOnly: Answer = (path, names, request) =>
      request.method === "GET" ? { status, body: { error: "no" } } : byName(path, names, request);
    const { seen, lookups } = await lookupsAgainst(t, "auto", postOnly);
    assert.deepEqual((await lookups.customFields(["color"], NEVER)).definitions, [COLOR, COLOR_TOO]);
    assert.deepEqual((await lookups.customFields(["Size"], NEVER)).definitions, [SIZE]);
    assert.deepEqual(seen, [
      "GET /api/v1/custom_fields_reference?name=color",
      "POST /api/v1/custom_fields_reference?name=color",
      "POST /api/v1/custom_fields_reference?name=Size",
    ]);
  }
});

test("once GET has worked, a 404 is an error and no reason to try POST", async (t) => {
  let answers = 0;
  const once: Answer = (path, names, request) =>
    answers++ === 0 ? byName(path, names, request) : { status: 404, body: {} };
  const { seen, lookups } = await lookupsAgainst(t, "auto", once);
  await lookups.customFields(["color"], NEVER);
  await failsWith("config.not_found", lookups.customFields(["Size"], NEVER));
  assert.equal(seen.length, 2);
});

test("a method that is configured is the only one", async (t) => {
  for (const [setting, method] of [
    ["get", "GET"],
    ["post", "POST"],
  ] as const) {
    const { seen, lookups } = await lookupsAgainst(t, setting, () => ({ status: 405, body: {} }));
    await failsWith(
      "config.not_found",
      lookups.destinations([{ name: "Shop", platform: "External" }], NEVER),
    );
    assert.deepEqual(seen, [`${method} /api/v1/destinations?name=Shop&platform=External`]);
  }
});

test("names are spread over addresses below 6 KB, each exactly once and in order", async () => {
  const name = fc.string({ minLength: 1, maxLength: 120, unit: "grapheme" });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name, { maxLength: 400 }), async (names) => {
      const asked: ServiceRequest[] = [];
      const readAs = async (request: ServiceRequest) => {
        asked.push(request);
        return { response: {}, value: request.parameters.map(([, name]) => ({ id: name, name })) };
      };
      const found = await new Lookups({ readAs } as never, "get").customFields(names, NEVER);
      assert.deepEqual(
        found.definitions.map((row) => row.name),
        names,
      );
      for (const { path, parameters } of asked)
        assert.ok(`${path}?${new URLSearchParams([...parameters])}`.length < 6000);
    }),
    { numRuns: 30 },
  );
});

test("a definition without an ID ends the lookup where it may be one that was asked for", async (t) => {
  for (const row of [{ name: "color" }, { id: "" }, { id: {}, name: null }]) {
    const { lookups } = await lookupsAgainst(t, "auto", () => ({ status: 200, body: [row] }));
    const error = await failsWith("contract.drift", lookups.customFields(["color"], NEVER));
    assert.match(error.message, /the custom field (null|"color") without an id/);
  }
  const others = ["color", null, [], { name: "size" }, { ...COLOR, mappings: [{ values: [{ value: 7 }] }] }];
  const { lookups } = await lookupsAgainst(t, "auto", () => ({ status: 200, body: others }));
  const { definitions } = await lookups.customFields(["color"], NEVER);
  assert.deepEqual(definitions, [{ ...COLOR, mappings: [{ values: [{ value: "7" }] }] }]);
});
