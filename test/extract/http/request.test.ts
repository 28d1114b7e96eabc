import assert from "node:assert/strict";
import { test } from "node:test";
import {
  customFieldRequests,
  destinationRequest,
  formOf,
  itemRequest,
  listRequest,
  targetOf,
} from "../../../src/extract/http/request.ts";
import { readServiceUrl } from "../../../src/extract/http/service-url.ts";
import { SourceError } from "../../../src/extract/http/source-error.ts";
import fc from "../../properties.ts";

const view = { columns: ["id", "custom_fields"], gallery: true };

test("a page of the dynamic listing names its columns; the other modes only their detail", () => {
  const target = (mode: "dynamic" | "full" | "basic") =>
    targetOf(listRequest({ mode, page: 3, perPage: 100, ...view }));
  assert.equal(
    target("dynamic"),
    "/api/v1/content?columns%5B%5D=id&columns%5B%5D=custom_fields&gallery=true&per_page=100&page=3",
  );
  assert.equal(target("full"), "/api/v1/content?detail=full&per_page=100&page=3");
  assert.equal(target("basic"), "/api/v1/content?detail=basic&per_page=100&page=3");
});

test("a single item is asked for by its encoded ID", () => {
  const request = itemRequest({ id: "a/b?c#d ü", mode: "dynamic", columns: ["payment"], gallery: false });
  assert.equal(targetOf(request), "/api/v1/content/a%2Fb%3Fc%23d%20%C3%BC?columns%5B%5D=payment");
  assert.equal(request.mode, "item");
});

test("an ID that would be another path is never sent", () => {
  for (const id of ["", ".", "..", "\ud800"]) {
    assert.throws(() => itemRequest({ id, mode: "full", columns: [], gallery: false }), SourceError);
  }
});

test("a lookup goes as a query or as a form, with the same parameters", () => {
  const get = destinationRequest({ name: "Website & Shop", platform: "External" }, "GET");
  assert.equal(targetOf(get), "/api/v1/destinations?name=Website+%26+Shop&platform=External");
  assert.equal(formOf(get), null);
  const post = destinationRequest({ name: "Website & Shop", platform: "External" }, "POST");
  assert.equal(targetOf(post), "/api/v1/destinations");
  assert.equal(formOf(post), "name=Website+%26+Shop&platform=External");
});

test("one custom field is asked for by name, several by name[], each once, none never", () => {
  const targets = (names: string[]) => customFieldRequests(names, "GET").map(targetOf);
  assert.deepEqual(targets([]), []);
  assert.deepEqual(targets(["a b"]), ["/api/v1/custom_fields_reference?name=a+b"]);
  assert.deepEqual(targets(["a", "b", "a"]), ["/api/v1/custom_fields_reference?name%5B%5D=a&name%5B%5D=b"]);
});

test("names are spread over addresses below 6 KB, each exactly once and in order", () => {
  const name = fc.string({ minLength: 1, maxLength: 120, unit: "grapheme" });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 400 }), (names) => {
      const requests = customFieldRequests(names, "GET");
      for (const request of requests) assert.ok(targetOf(request).length < 6000);
      assert.deepEqual(
        requests.flatMap((request) => request.parameters.map(([, value]) => value)),
        [...new Set(names)],
      );
    }),
    { numRuns: 50 },
  );
});

test("the address of a service: https, or http on this machine, with or without a path", () => {
  const read = (text: string) => readServiceUrl(text);
  assert.deepEqual(read("https://content.example.com"), {
    url: { origin: "https://content.example.com", host: "content.example.com", prefix: "" },
  });
  assert.deepEqual(read(" HTTPS://Content.Example.com:8443/tenants/a// "), {
    url: {
      origin: "https://content.example.com:8443",
      host: "content.example.com:8443",
      prefix: "/tenants/a",
    },
  });
  assert.deepEqual(read("https://content.example.com/api/v1/"), read("https://content.example.com/"));
  for (const host of ["127.0.0.1", "localhost", "[::1]", "127.9.9.9"])
    assert.ok("url" in read(`http://${host}:80/`), host);
});

test("an address that is none, or not a safe one, is refused with what was found", () => {
  const rows: [string, RegExp][] = [
    ["content.example.com", /https:\/\/content\.example\.com, found "content\.example\.com"/],
    ["", /found ""/],
    ["ftp://content.example.com", /found "ftp:/],
    ["https://", /found "https:\/\/"/],
    ["https:content.example.com", /found "https:content/],
    ["http://content.example.com", /expected https .*found "http:\/\/content/],
    ["http://127.0.0.1.evil.example", /expected https/],
    ["http://localhost.evil.example", /expected https/],
    ["https://a b.example", /found/],
  ];
  for (const [text, says] of rows) {
    const result = readServiceUrl(text);
    assert.ok("problem" in result, text);
    assert.match(result.problem, says);
  }
});

test("S3: an address with credentials in any form is refused without showing them", () => {
  const hidden = "CANARY-PASSWORD";
  const texts = [
    `https://user:${hidden}@content.example.com`,
    `https://${hidden}@content.example.com`,
    `https:\\\\${hidden}@content.example.com`,
    `https:${hidden}@content.example.com`,
    `//${hidden}@h`,
    `${hidden}@content.example.com`,
    `https://content.example.com/?token=${hidden}`,
    `https://content.example.com/#${hidden}`,
    `https://user:${hidden}@[`,
  ];
  for (const text of texts) {
    const result = readServiceUrl(text);
    assert.ok("problem" in result && !result.problem.includes(hidden), text);
  }
});
