import assert from "node:assert/strict";
import { test } from "node:test";
import { itemRequest, listRequest, readServiceUrl } from "../../../src/extract/http/request.ts";
import { SourceError } from "../../../src/extract/http/source-error.ts";

const view = { columns: ["id", "custom_fields"] };

test("a page of the dynamic listing names its columns; the other modes only their detail", () => {
  const asked = (mode: "dynamic" | "full" | "basic") => {
    const { path, parameters } = listRequest({ mode, page: 3, perPage: 100, ...view });
    assert.equal(path, "/api/v1/content");
    return parameters.map((each) => each.join("=")).join("&");
  };
  assert.equal(asked("dynamic"), "columns[]=id&columns[]=custom_fields&gallery=true&per_page=100&page=3");
  assert.equal(asked("full"), "detail=full&per_page=100&page=3");
  assert.equal(asked("basic"), "detail=basic&per_page=100&page=3");
});

test("a single item is asked for by its encoded ID", () => {
  const request = itemRequest({ id: "a/b?c#d ü", mode: "dynamic", columns: ["payment"] });
  assert.equal(request.path, "/api/v1/content/a%2Fb%3Fc%23d%20%C3%BC");
  assert.deepEqual(request.parameters.flat(), ["columns[]", "payment", "gallery", "true"]);
  assert.equal(request.mode, "item");
});

test("an ID that would be another path is never sent", () => {
  for (const id of ["", ".", "..", "\ud800"]) {
    assert.throws(() => itemRequest({ id, mode: "full", columns: [] }), SourceError);
  }
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
    ["https://content.example.com\u200b", /found one with an invisible character: U\+200B at the end$/],
    ["https://content.example.com/a\u00a0b", /: U\+00A0 at character 30$/],
    ["https://content\n.example.com", /: U\+000A at character 16$/],
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
