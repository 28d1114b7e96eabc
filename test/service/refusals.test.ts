import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, assertRefused, basic, type Question, serve } from "./ask.ts";

const CONTENT = "/api/v1/content";
const FORM = { "content-type": "application/x-www-form-urlencoded" };

test("a token is accepted with any password, whatever characters it has", async (t) => {
  const tokens = [{ token: "tökén with spaces/+=", user_id: "admin" }];
  const service = await serve(t, { tokens });
  for (const password of ["x", "", "with:colon", "ü"]) {
    const authorization = basic("tökén with spaces/+=", password);
    for (const value of [authorization, authorization.replace("Basic", "BASIC")]) {
      const { status } = await ask(service, CONTENT, { token: null, headers: { authorization: value } });
      assert.equal(status, 200);
    }
  }
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
  for (const address of [
    CONTENT,
    `${CONTENT}/c-bare`,
    "/api/v1/destinations?name=Portal",
    "/api/v1/custom_fields_reference?name=region",
  ]) {
    const missing = await ask(service, address, { token: null });
    assertRefused(missing, 401);
    assert.match(missing.headers["www-authenticate"] ?? "", /^Basic realm=/);
    for (const authorization of wrong) {
      const answer = await ask(service, address, { token: null, headers: { authorization } });
      assert.ok(!assertRefused(answer, 401).includes("t-wrong"), "a refusal repeats no credentials");
    }
  }
});

test("what is not there is refused with 404, and what cannot be understood with 400", async (t) => {
  const service = await serve(t);
  const lookups = ["/api/v1/destinations", "/api/v1/custom_fields_reference"];
  const refused: readonly (readonly [status: number, paths: readonly string[], question?: Question])[] = [
    [404, [`${CONTENT}/c-none`, `${CONTENT}/C-BARE`, `${CONTENT}/c-bare/tasks`]],
    [404, ["/", "/api/v2/content", "/API/v1/content"]],
    [404, ["/nowhere"], { token: null }],
    [404, ["/nowhere"], { method: "POST", headers: { "content-type": "text/csv" } }],
    ...["", "dynamic", "FULL", "full,basic"].map(
      (detail) => [400, [CONTENT, `${CONTENT}/c-bare`].map((path) => `${path}?detail=${detail}`)] as const,
    ),
    // A lookup needs a name.
    [400, lookups.flatMap((path) => [path, `${path}?name=`, `${path}?platform=External`])],
    [400, lookups, { method: "POST" }],
    [400, lookups, { method: "POST", headers: FORM, body: "" }],
  ];
  for (const [status, paths, question] of refused)
    for (const path of paths) assertRefused(await ask(service, path, question), status);
});

test("a method that an address does not answer is refused with 405, and Allow has the others", async (t) => {
  const service = await serve(t);
  for (const [path, allow] of [
    [CONTENT, "HEAD, GET"],
    [`${CONTENT}/c-bare`, "HEAD, GET"],
    ["/api/v1/destinations?name=Shop", "HEAD, GET, POST"],
    ["/openapi.json", "HEAD, GET"],
  ] as const)
    for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS", ...(allow.includes("POST") ? [] : ["POST"])]) {
      const answer = await ask(service, path, { method, headers: { "content-type": "text/csv" } });
      assertRefused(answer, 405);
      assert.equal(answer.headers.allow, allow);
    }
});

test("a client that accepts no JSON is refused with 406", async (t) => {
  const service = await serve(t);
  const accepting = (accept: string) => ask(service, CONTENT, { headers: { accept } });
  assertRefused(await accepting("text/html"), 406);
  for (const accept of ["", "*/*", "application/json", "text/html, application/*;q=0.5"])
    assert.equal((await accepting(accept)).status, 200, accept);
});

test("HEAD answers like GET, without the body", async (t) => {
  const service = await serve(t);
  const got = await ask(service, `${CONTENT}?detail=full`);
  const head = await ask(service, `${CONTENT}?detail=full`, { method: "HEAD" });
  assert.deepEqual([head.status, head.bytes.length], [200, 0]);
  assert.equal(head.headers["content-length"], got.headers["content-length"]);
});

test("more requests than the limit are refused with 429, each token by itself, until time has passed", async (t) => {
  let now = 1_700_000_000_000;
  const service = await serve(t, {}, { rateLimit: 2, now: () => now });
  const statuses = async (token: string, requests: number) => {
    const found: number[] = [];
    while (found.length < requests) found.push((await ask(service, CONTENT, { token })).status);
    return found;
  };
  assert.deepEqual(await statuses("t-admin", 2), [200, 200]);
  const refused = await ask(service, CONTENT);
  assertRefused(refused, 429);
  assert.equal(refused.headers["retry-after"], "1");
  assert.deepEqual(await statuses("t-writer", 1), [200]);
  now += 499;
  assert.deepEqual(await statuses("t-admin", 1), [429]);
  now += 1;
  assert.deepEqual(await statuses("t-admin", 2), [200, 429]);
  now += 60_000;
  assert.deepEqual(await statuses("t-admin", 3), [200, 200, 429]);
  const slow = await serve(t, {}, { rateLimit: 0.1, now: () => 0 });
  assert.equal((await ask(slow, CONTENT)).status, 200);
  assert.equal((await ask(slow, CONTENT)).headers["retry-after"], "10");
});

test("every answer to a request is held back once for the latency, refusals too", async (t) => {
  const latency = 500;
  const service = await serve(t, {}, { latency, rateLimit: 0.001 });
  const questions: [status: number, path: string, question?: Question][] = [
    [200, CONTENT],
    [429, CONTENT],
    [200, "/openapi.json"],
    [400, "/%zz"],
    [401, CONTENT, { token: null }],
    [404, "/nowhere"],
    [414, `${CONTENT}/${"x".repeat(9000)}`],
  ];
  const tookMs = async ([status, path, question]: (typeof questions)[number]): Promise<number> => {
    const startedMs = performance.now();
    const answer = await ask(service, path, question);
    if (status === 200) assert.equal(answer.status, 200);
    else assertRefused(answer, status);
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
