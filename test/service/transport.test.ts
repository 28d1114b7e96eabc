import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import pino from "pino";
import type { WarehouseError } from "../../src/common/errors.ts";
import { createService, type Service } from "../../src/service/service.ts";
import { ask, assertRefused, basic, heldSet, json, serve } from "./ask.ts";
import { BARE, CONTENT_SET } from "./fixture.ts";
import { contentSetOf } from "./memory-set.ts";
import { open, rawRequest, TUNNEL } from "./raw.ts";

test("an answer is compressed where the client accepts gzip and the body is large enough", async (t) => {
  const service = await serve(t);
  const full = (encoding: string) =>
    ask(service, "/api/v1/content?detail=full", { headers: { "accept-encoding": encoding } });
  const plain = await ask(service, "/api/v1/content?detail=full");
  assert.equal(plain.headers["content-encoding"], undefined);
  assert.equal(plain.headers.vary, "accept-encoding");
  for (const encoding of ["gzip", "br, GZIP;q=0.5", "*", "identity;q=0.1,x-gzip"]) {
    const answer = await full(encoding);
    assert.equal(answer.headers["content-encoding"], "gzip", encoding);
    assert.ok(answer.bytes.length < plain.bytes.length / 2);
    assert.deepEqual(gunzipSync(answer.bytes), plain.bytes);
    assert.equal(answer.headers["content-length"], String(answer.bytes.length));
  }
  for (const encoding of ["br", "gzip;q=0", "*;q=0", "gzip;q=0, *", ""]) {
    assert.deepEqual((await full(encoding)).bytes, plain.bytes, encoding);
  }
  const small = await ask(service, "/api/v1/destinations?name=Shop", {
    headers: { "accept-encoding": "gzip" },
  });
  assert.equal(small.headers["content-encoding"], undefined);
});

test("every answer is JSON in UTF-8, with the date of the service's clock", async (t) => {
  const service = await serve(t, { now: () => Date.UTC(2026, 10, 20, 2, 0, 5, 999) });
  for (const path of ["/api/v1/content", "/api/v1/content/none", "/openapi.json"]) {
    const { headers } = await ask(service, path);
    assert.equal(headers["content-type"], "application/json; charset=utf-8");
    assert.equal(headers.date, "Fri, 20 Nov 2026 02:00:05 GMT");
  }
});

test("text of any script goes through unchanged", async (t) => {
  const title = "ü 漢字 👩‍🚀 \u0000 \u2028 \ud800 </script>";
  const service = await serve(t, { data: contentSetOf({ ...CONTENT_SET, documents: [{ ...BARE, title }] }) });
  const body = json(await ask(service, "/api/v1/content?detail=basic")) as { response: { title: string }[] };
  assert.equal(body.response[0]?.title, title);
});

/** Closes, and lets the second pass at once after which connections are closed. */
async function closesAfterASecond(t: TestContext, service: Service): Promise<void> {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const closing = service.close();
  t.mock.timers.tick(1000);
  await closing;
}

test("closes at once, though connections are kept alive", async (t) => {
  const service = await createService({ data: contentSetOf(CONTENT_SET) });
  const agent = new Agent({ keepAlive: true });
  const headers = { authorization: basic("t-admin") };
  await new Promise<void>((resolve, reject) => {
    const answered = get(`${service.url}/api/v1/content`, { agent, headers }, (response) => {
      response.resume().on("end", resolve);
    });
    answered.on("error", reject);
  });
  const silent = connect(service.port, "127.0.0.1");
  await new Promise((resolve) => silent.once("connect", resolve));
  const closed = new Promise((resolve) => silent.once("close", resolve));
  await closesAfterASecond(t, service);
  await closed;
  await assert.rejects(ask(service, "/api/v1/content"), /ECONNREFUSED/);
  agent.destroy();
});

/** A service whose next answer waits: `reached` when it is under way, until `goOn` is called. */
async function serveHeld() {
  const { set, reached, goOn } = heldSet();
  return { service: await createService({ data: set }), reached, goOn };
}

test("an answer under way is finished before the service closes, and ends its connection", {
  timeout: 20_000,
}, async (t) => {
  // The time after which connections are closed does not pass: this one is not waited for.
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { service, reached, goOn } = await serveHeld();
  const agent = new Agent({ keepAlive: true });
  const answer = ask(service, "/api/v1/content", { agent });
  await reached;
  const closed = service.close();
  // Until no new connection is taken, the service has not begun to close.
  while ((await ask(service, "/nowhere").catch(() => undefined)) !== undefined);
  goOn();
  const { status, headers, bytes } = await answer;
  await closed;
  assert.deepEqual([status, headers.connection], [200, "close"]);
  assert.ok(bytes.includes('"pagination"'));
});

test("an answer that never ends does not keep the service from closing", async (t) => {
  const { service, reached } = await serveHeld();
  const refused = assert.rejects(ask(service, "/api/v1/content"), /hang up|ECONNRESET/);
  await reached;
  await closesAfterASecond(t, service);
  await refused;
});

test("a client that asked for a tunnel does not keep the service from closing", {
  timeout: 20_000,
}, async (t) => {
  const { service, reached } = await serveHeld();
  const socket = await open(t, service);
  socket.write(rawRequest("/api/v1/content") + TUNNEL);
  await reached;
  await closesAfterASecond(t, service);
});

test("logs requests and failures, and no credentials", async (t) => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const service = await serve(t, { logger });
  await ask(service, "/api/v1/content?detail=basic");
  assertRefused(await ask(service, "/api/v1/content", { token: "t-secret" }), 401);
  const log = lines.join("");
  assert.match(log, /detail=basic/);
  assert.ok(!log.includes("t-secret") && !log.includes(basic("t-admin")));
});

test("a port that is taken is a configuration error", async (t) => {
  const service = await serve(t);
  const second = createService({ data: contentSetOf(CONTENT_SET), port: service.port });
  await assert.rejects(second, (thrown: WarehouseError) => {
    assert.equal(thrown.code, "config.invalid");
    assert.match(thrown.message, new RegExp(`port ${service.port} .*EADDRINUSE`));
    return true;
  });
});

test("listens on loopback unless told otherwise", async (t) => {
  const service = await serve(t);
  assert.equal(service.url, `http://127.0.0.1:${service.port}`);
  const every = await serve(t, { host: "0.0.0.0" });
  assert.equal((await ask(every, "/openapi.json")).status, 200);
});
