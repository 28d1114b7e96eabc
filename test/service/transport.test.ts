import assert from "node:assert/strict";
import { Agent } from "node:http";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { assembleContentSet } from "../../src/service/load.ts";
import { createService, type Service } from "../../src/service/service.ts";
import { failsWith } from "../failing.ts";
import { ask, assertRefused, json, serve } from "./ask.ts";
import { BARE, CONTENT_SET } from "./fixture.ts";

test("an answer is compressed where the client accepts gzip and the body is large enough", async (t) => {
  const service = await serve(t);
  const full = (encoding: string) =>
    ask(service, "/api/v1/content?detail=full", { headers: { "accept-encoding": encoding } });
  const plain = await ask(service, "/api/v1/content?detail=full");
  assert.deepEqual([plain.headers["content-encoding"], plain.headers.vary], [undefined, "accept-encoding"]);
  for (const encoding of ["gzip", "br, gzip"]) {
    const { headers, bytes } = await full(encoding);
    assert.equal(headers["content-encoding"], "gzip", encoding);
    assert.deepEqual(gunzipSync(bytes), plain.bytes);
    assert.equal(headers["content-length"], String(bytes.length));
  }
  for (const encoding of ["br", "gzip;q=0", ""])
    assert.deepEqual((await full(encoding)).bytes, plain.bytes, encoding);
  const headers = { "accept-encoding": "gzip" };
  const small = await ask(service, "/api/v1/destinations?name=Shop", { headers });
  assert.equal(small.headers["content-encoding"], undefined);
});

test("every answer is JSON in UTF-8, with the date of the service's clock", async (t) => {
  const service = await serve(t, {}, { now: () => Date.UTC(2026, 10, 20, 2, 0, 5, 999) });
  for (const path of ["/api/v1/content", "/api/v1/content/none", "/openapi.json"]) {
    const { headers } = await ask(service, path);
    assert.equal(headers["content-type"], "application/json; charset=utf-8");
    assert.equal(headers.date, "Fri, 20 Nov 2026 02:00:05 GMT");
  }
});

test("text of any script goes through unchanged", async (t) => {
  const title = "ü 漢字 👩‍🚀 \u0000 \u2028 \ud800 </script>";
  const service = await serve(t, { documents: [{ ...BARE, title }] });
  const body = json(await ask(service, "/api/v1/content?detail=basic")) as { response: { title: string }[] };
  assert.equal(body.response[0]?.title, title);
});

/** A service that is not closed with the test. Answers take longer than it waits for them when it closes. */
const slowService = () => createService({ data: assembleContentSet(CONTENT_SET), latency: 60_000 });

/** Closes, and lets the second pass at once after which connections are closed. */
async function closesAfterASecond(t: TestContext, service: Service): Promise<void> {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const closing = service.close();
  t.mock.timers.tick(1000);
  await closing;
}

test("closes at once, though connections are kept alive", async (t) => {
  const service = await createService({ data: assembleContentSet(CONTENT_SET) });
  const agent = new Agent({ keepAlive: true });
  await ask(service, "/api/v1/content", { agent });
  const silent = connect(service.port, "127.0.0.1");
  await new Promise((resolve) => silent.once("connect", resolve));
  const closed = new Promise((resolve) => silent.once("close", resolve));
  await closesAfterASecond(t, service);
  await closed;
  await assert.rejects(ask(service, "/api/v1/content"), /ECONNREFUSED/);
  agent.destroy();
});

test("an answer under way is finished before the service closes, and ends its connection", async () => {
  const service = await createService({ data: assembleContentSet(CONTENT_SET), latency: 300 });
  const answer = ask(service, "/api/v1/content", { agent: new Agent({ keepAlive: true }) });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await service.close();
  const { status, headers, bytes } = await answer;
  assert.deepEqual([status, headers.connection], [200, "close"]);
  assert.ok(bytes.includes('"pagination"'));
});

test("an answer that never ends does not keep the service from closing", async (t) => {
  const service = await slowService();
  const refused = assert.rejects(ask(service, "/api/v1/content"), /hang up|ECONNRESET/);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await closesAfterASecond(t, service);
  await refused;
});

test("what makes the service fail is told to its owner, and not to the client", async (t) => {
  const failures: unknown[] = [];
  const failure = new Error("the clock stands still");
  let calls = 0;
  const now = () => {
    if (calls++ === 0) throw failure;
    return 0;
  };
  const onFailure = (thrown: unknown) => failures.push(thrown);
  const service = await serve(t, {}, { rateLimit: 1, onFailure, now });
  const answer = assertRefused(await ask(service, "/api/v1/content?detail=basic"), 500);
  assert.deepEqual(failures, [failure]);
  assert.ok(!answer.includes("clock"));
});

test("listens on loopback unless told otherwise, and a port that is taken is a configuration error", async (t) => {
  const { url, port } = await serve(t);
  assert.equal(url, `http://127.0.0.1:${port}`);
  const every = await serve(t, {}, { host: "0.0.0.0" });
  assert.equal((await ask(every, "/openapi.json")).status, 200);
  const second = createService({ data: assembleContentSet(CONTENT_SET), port });
  const { message } = await failsWith("config.invalid", second);
  assert.match(message, new RegExp(`port ${port} .*EADDRINUSE`));
});
