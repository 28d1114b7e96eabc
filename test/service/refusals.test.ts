import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, assertRefused, basic, type Question, serve } from "./ask.ts";
import { CONTENT_SET } from "./fixture.ts";
import { contentSetOf } from "./memory-set.ts";

const ADDRESSES = [
  "/api/v1/content",
  "/api/v1/content/c-bare",
  "/api/v1/destinations?name=Portal",
  "/api/v1/custom_fields_reference?name=region",
];

test("a token is accepted with any password, an empty one too", async (t) => {
  const service = await serve(t);
  for (const password of ["x", "", "with:colon", "ü"]) {
    const headers = { authorization: basic("t-admin", password) };
    assert.equal((await ask(service, ADDRESSES[0] ?? "", { token: null, headers })).status, 200);
  }
  const headers = { authorization: basic("t-admin").replace("Basic", "BASIC") };
  assert.equal((await ask(service, ADDRESSES[0] ?? "", { token: null, headers })).status, 200);
});

test("missing and wrong credentials are refused with 401 and a challenge, at every address", async (t) => {
  const service = await serve(t);
  const wrong = [
    "",
    "Basic",
    "Basic !!!",
    "Bearer t-admin",
    basic("t-wrong"),
    basic(""),
    basic("T-ADMIN"),
    "t-admin",
  ];
  for (const address of ADDRESSES) {
    const missing = await ask(service, address, { token: null });
    assertRefused(missing, 401);
    assert.match(missing.headers["www-authenticate"] ?? "", /^Basic realm=/);
    for (const authorization of wrong) {
      const sentence = assertRefused(
        await ask(service, address, { token: null, headers: { authorization } }),
        401,
      );
      assert.ok(!sentence.includes("t-wrong"), "a refusal repeats no credentials");
    }
  }
});

test("a token that holds what Basic credentials allow is accepted", async (t) => {
  const tokens = [{ token: "tökén with spaces/+=", user_id: "admin" }];
  const data = contentSetOf({ ...CONTENT_SET, shared: { ...CONTENT_SET.shared, tokens } });
  const service = await serve(t, { data });
  assert.equal((await ask(service, "/api/v1/content", { token: "tökén with spaces/+=" })).status, 200);
});

test("an item that is not there, and an address that is not, are refused with 404", async (t) => {
  const service = await serve(t);
  const addresses = [
    "/api/v1/content/c-none",
    "/api/v1/content/C-BARE",
    "/",
    "/api",
    "/api/v1",
    "/api/v2/content",
  ];
  for (const address of [...addresses, "/api/v1/content/c-bare/tasks", "/API/v1/content"]) {
    assertRefused(await ask(service, address), 404);
  }
  assertRefused(await ask(service, "/nowhere", { token: null }), 404);
  assertRefused(
    await ask(service, "/nowhere", { method: "POST", headers: { "content-type": "text/csv" } }),
    404,
  );
});

test("HEAD answers like GET, without the body", async (t) => {
  const service = await serve(t);
  const got = await ask(service, "/api/v1/content?detail=full");
  const head = await ask(service, "/api/v1/content?detail=full", { method: "HEAD" });
  assert.equal(head.status, 200);
  assert.equal(head.bytes.length, 0);
  assert.equal(head.headers["content-length"], got.headers["content-length"]);
});

test("a detail that does not exist is refused with 400", async (t) => {
  const service = await serve(t);
  for (const detail of ["", "dynamic", "FULL", "full,basic"]) {
    assertRefused(await ask(service, `/api/v1/content?detail=${detail}`), 400);
    assertRefused(await ask(service, `/api/v1/content/c-bare?detail=${detail}`), 400);
  }
});

test("a client that accepts no JSON is refused with 406", async (t) => {
  const service = await serve(t);
  const status = async (accept: string) =>
    (await ask(service, "/api/v1/content", { headers: { accept } })).status;
  for (const accept of [
    "application/json",
    "*/*",
    "text/html, application/*;q=0.2",
    "Application/JSON;q=1",
    "",
  ]) {
    assert.equal(await status(accept), 200, accept);
  }
  assertRefused(await ask(service, "/api/v1/content", { headers: { accept: "text/html" } }), 406);
  assert.equal(await status("text/xml, application/json;q=0"), 406);
});

test("more requests than the limit are refused with 429, each token by itself, until time has passed", async (t) => {
  let now = 1_700_000_000_000;
  const service = await serve(t, { rateLimit: 2, now: () => now });
  const status = async (token: string) => (await ask(service, "/api/v1/content", { token })).status;
  assert.deepEqual([await status("t-admin"), await status("t-admin")], [200, 200]);
  const refused = await ask(service, "/api/v1/content");
  assertRefused(refused, 429);
  assert.equal(refused.headers["retry-after"], "1");
  assert.equal(await status("t-writer"), 200);
  now += 499;
  assert.equal(await status("t-admin"), 429);
  now += 1;
  assert.equal(await status("t-admin"), 200);
  assert.equal(await status("t-admin"), 429);
  now += 60_000;
  assert.deepEqual(
    [await status("t-admin"), await status("t-admin"), await status("t-admin")],
    [200, 200, 429],
  );
  const slow = await serve(t, { rateLimit: 0.1, now: () => 0 });
  assert.equal((await ask(slow, "/api/v1/content")).status, 200);
  assert.equal((await ask(slow, "/api/v1/content")).headers["retry-after"], "10");
});

test("every answer to a request is held back once for the latency, refusals too", async (t) => {
  const latency = 500;
  const service = await serve(t, { latency, rateLimit: 0.001 });
  const questions: [status: number, path: string, question?: Question][] = [
    [200, "/api/v1/content"],
    [429, "/api/v1/content"],
    [200, "/openapi.json"],
    [400, "/%zz"],
    [401, "/api/v1/content", { token: null }],
    [404, "/nowhere"],
    [405, "/api/v1/content", { method: "PUT" }],
    [406, "/api/v1/content", { headers: { accept: "text/html" } }],
    [414, `/api/v1/content/${"x".repeat(9000)}`],
  ];
  const tookMs = async ([status, path, question]: (typeof questions)[number]): Promise<number> => {
    const startedMs = performance.now();
    assert.equal((await ask(service, path, question)).status, status);
    const ms = performance.now() - startedMs;
    // A timer may fire a little early.
    assert.ok(ms >= latency - 5, `${status} after ${ms} ms`);
    return ms;
  };
  const [first, ...others] = questions;
  assert.ok(first);
  await tookMs(first);
  const longestMs = Math.max(...(await Promise.all(others.map(tookMs))));
  assert.ok(longestMs < 2 * latency - 5, `the last after ${longestMs} ms`);
});
