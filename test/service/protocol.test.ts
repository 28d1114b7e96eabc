import assert from "node:assert/strict";
import { METHODS } from "node:http";
import { test } from "node:test";
import { long } from "../long.ts";
import { ask, serve } from "./ask.ts";
import { assertRefusal, LAST, rawRequest, talk } from "./raw.ts";

test("what is not HTTP ends the connection with a status that says why", async (t) => {
  const service = await serve(t);
  const target = "/api/v1/content?per_page=1";
  const refusals: [text: string, status: number][] = [
    ["HELO there\r\n\r\n", 400],
    ["BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    [`GET ${target} HTTP/1.1\r\n\r\n`, 400],
    [rawRequest(target, { headers: "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n" }), 400],
    [`GET / HTTP/1.1\r\nHost: a\r\nx: ${"x".repeat(100_000)}`, 431],
  ];
  for (const [text, status] of refusals) {
    const answers = await talk(t, service, text);
    assert.equal(answers[0]?.status, status, text.slice(0, 40));
  }
  const [long] = await talk(t, service, rawRequest(`/api/v1/content/${"x".repeat(9000)}`, { headers: LAST }));
  assertRefusal(long, 414, /too long/);
  assert.equal((await ask(service, target)).status, 200, "and the service goes on");
});

long("a request that does not arrive in time is refused with 408", { timeout: 60_000 }, async (t) => {
  const service = await serve(t, { requestTimeoutMs: 60 });
  const [answer] = await talk(t, service, "GET /api/v1/content HTTP/1.1\r\nHost: a\r\nX: ");
  assert.equal(answer?.status, 408);
});

test("every method that HTTP knows and an address does not is refused with 405", async (t) => {
  const service = await serve(t);
  const addresses: [address: string, allow: string][] = [
    ["/api/v1/content", "GET, HEAD"],
    ["/api/v1/content/c-bare", "GET, HEAD"],
    ["/api/v1/destinations?name=Shop", "GET, HEAD, POST"],
    ["/api/v1/custom_fields_reference?name=note", "GET, HEAD, POST"],
    ["/openapi.json", "GET, HEAD"],
  ];
  for (const [address, allow] of addresses) {
    for (const method of METHODS.filter((name) => name !== "CONNECT" && !allow.includes(name))) {
      const [answer] = await talk(t, service, rawRequest(address, { method, headers: LAST }));
      assertRefusal(answer, 405, /does not answer this method/);
      assert.equal(answer?.headers.allow, allow);
    }
  }
  const [elsewhere] = await talk(t, service, rawRequest("/nowhere", { method: "PURGE", headers: LAST }));
  assertRefusal(elsewhere, 404, /nothing at this address/);
});
