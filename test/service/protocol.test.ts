import assert from "node:assert/strict";
import { METHODS } from "node:http";
import { test } from "node:test";
import { createService } from "../../src/service/service.ts";
import { ask, serve } from "./ask.ts";
import { CONTENT_SET } from "./fixture.ts";
import { contentSetOf } from "./memory-set.ts";
import { assertRefusal, FORM, LAST, open, rawRequest, received, TUNNEL, talk } from "./raw.ts";

test("what is not HTTP is refused after the answers that are due", { timeout: 30_000 }, async (t) => {
  const service = await serve(t);
  const good = rawRequest("/api/v1/content?per_page=1");
  const badForm = rawRequest("/api/v1/destinations", {
    method: "POST",
    headers: `${FORM}Transfer-Encoding: chunked\r\n`,
    body: "zz\r\n",
  });
  for (const text of [
    `${good}rubbish\r\n\r\n`,
    `${good}${good}${badForm}`,
    `${good}${good}GET / HTTP/9.9\r\n\r\n`,
  ]) {
    const answers = await talk(t, service, text);
    assertRefusal(answers.pop(), 400, /not valid HTTP/);
    assert.ok(answers.length > 0 && answers.every(({ status }) => status === 200));
  }
  assertRefusal((await talk(t, service, badForm))[0], 400, /not valid HTTP/);
});

test("what Node refuses by itself has the body of every refusal", async (t) => {
  const now = () => Date.UTC(2026, 10, 20, 2, 0, 5);
  const service = await serve(t, { now });
  const target = "/api/v1/content?per_page=1";
  const refusals: [text: string, status: number, sentence: RegExp][] = [
    ["HELO there\r\n\r\n", 400, /not valid HTTP/],
    ["get / HTTP/1.1\r\nHost: a\r\n\r\n", 400, /not valid HTTP/],
    ["BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 400, /not valid HTTP/],
    [`GET ${target} HTTP/1.1\r\n\r\n`, 400, /one Host/],
    [`GET ${target} HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n`, 400, /one Host/],
    [
      rawRequest(target, { headers: "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n" }),
      400,
      /not valid HTTP/,
    ],
    [`GET / HTTP/1.1\r\nHost: a\r\nx: ${"x".repeat(100_000)}`, 431, /too large/],
    [rawRequest(`/api/v1/content/${"x".repeat(9000)}`, { headers: LAST }), 414, /too long/],
    [TUNNEL, 405, /reading/],
  ];
  for (const [text, status, sentence] of refusals) {
    const answers = await talk(t, service, text);
    assert.equal(answers.length, 1, text.slice(0, 40));
    assertRefusal(answers[0], status, sentence);
    assert.equal(answers[0]?.headers.connection, "close");
  }
});

test("an expectation that nobody knows, and HTTP/1.0 without a host, are no reason to refuse", async (t) => {
  const service = await serve(t);
  const target = "/api/v1/content?per_page=1";
  const expecting = rawRequest(target, { headers: `Expect: the-best\r\n${LAST}` });
  const older = rawRequest(target).replace("HTTP/1.1\r\nHost: cms.example", "HTTP/1.0");
  for (const text of [expecting, older]) assert.equal((await talk(t, service, text))[0]?.status, 200);
  const description = "GET /openapi.json HTTP/1.0\r\n\r\n";
  assert.match((await talk(t, service, description))[0]?.body ?? "", /"servers":\[{"url":"\/"}\]/);
});

test("every method that HTTP knows and an address does not is refused with 405", async (t) => {
  const service = await serve(t);
  const addresses: [address: string, allow: string][] = [
    ["/api/v1/content", "GET, HEAD"],
    ["/api/v1/content/c-bare", "GET, HEAD"],
    ["/api/v1/destinations?name=Shop", "GET, HEAD, POST"],
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

test("a request that comes whole when the service is stopping is refused with 503", async (t) => {
  const service = await createService({ data: contentSetOf(CONTENT_SET) });
  const socket = await open(t, service);
  const answers = received(socket);
  const text = rawRequest("/api/v1/content");
  socket.write(text.slice(0, 30));
  assert.equal((await ask(service, "/api/v1/content")).status, 200);
  const closed = service.close();
  while ((await ask(service, "/nowhere").catch(() => undefined)) !== undefined);
  socket.write(text.slice(30));
  assertRefusal((await answers)[0], 503, /is stopping/);
  await closed;
});
