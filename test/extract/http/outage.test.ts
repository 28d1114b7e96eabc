import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { HttpClient } from "../../../src/extract/http/client.ts";
import { HTTP_LIMITS } from "../../../src/extract/http/connection-pool.ts";
import { itemRequest } from "../../../src/extract/http/request.ts";
import { NEVER } from "../../never.ts";
import { HurriedClock } from "../../run/running.ts";
import { itemsOf, Scripted } from "../../run/scripted.ts";
import { clientOf, LIST, read, retryOf } from "../loopback.ts";

/** A client that waits for half an hour, and a service of three items. */
async function patient(t: TestContext, connections: number) {
  const service = await Scripted.start(t, itemsOf(3));
  const clock = new HurriedClock();
  const retry = retryOf({ connections, clock, outageMinutes: 30 });
  const limits = { ...HTTP_LIMITS, totalMs: 400 };
  return { service, clock, retry, client: clientOf(t, service.url, { connections, retry, limits }) };
}

const item = (client: HttpClient, place: number, signal = NEVER) => {
  const request = itemRequest({ id: `c-00${place}`, mode: "full", columns: [] });
  return read(client, request, signal);
};

test("a service that takes requests and does not answer is out, however many are under way", async (t) => {
  const { service, client, retry, clock } = await patient(t, 3);
  await read(client, LIST, NEVER);
  service.script = () => (clock.elapsedMs() < 3000 ? "hang" : undefined);
  const answers = await Promise.all([0, 1, 2].map((place) => item(client, place)));
  assert.deepEqual(
    answers.map(({ status, attempts }) => [status, attempts]),
    [200, 200, 200].map((status) => [status, 2]),
  );
  assert.equal(retry.outages.totals?.count, 1);
  // Pauses of 0.25, 0.5, 1, 2 s: a check before each, and the one that is answered.
  assert.equal(service.asked("list").length, 1 + 4 + 1);
});

test("where the request that asks for all is ended, another one asks on", async (t) => {
  const { service, client, clock } = await patient(t, 2);
  await read(client, LIST, NEVER);
  const stop = new AbortController();
  service.script = () => {
    if (clock.elapsedMs() > 3000) stop.abort(new Error("stopped"));
    return clock.elapsedMs() < 20_000 ? { status: 502 } : undefined;
  };
  const [first, second] = await Promise.allSettled([item(client, 0, stop.signal), item(client, 1)]);
  assert.equal(first?.status, "rejected");
  assert.match(String(first?.status === "rejected" && first.reason), /stopped/);
  assert.equal(second?.status === "fulfilled" && second.value.status, 200);
});

test("being asked to slow down ends an outage: the service answers", async (t) => {
  const { service, client, retry, clock } = await patient(t, 1);
  await read(client, LIST, NEVER);
  let refused = 0;
  service.script = () => {
    if (clock.elapsedMs() < 5000) return { status: 504 };
    return refused++ < 2 ? { status: 429, headers: { "retry-after": "7" } } : undefined;
  };
  assert.equal((await item(client, 1)).status, 200);
  assert.ok((retry.outages.totals?.seconds ?? 0) < 12);
  assert.ok(clock.elapsedMs() >= 5000 + 2 * 7000);
});

test("an item that was there and is gone by now answers for the service", async (t) => {
  const { service, client, retry } = await patient(t, 1);
  await item(client, 0);
  const gone = { status: 404, body: { error: "There is no such item." } };
  service.script = ({ id }) => (id === "c-000" ? gone : id === "c-001" ? { status: 500 } : undefined);
  await assert.rejects(item(client, 1), /Gave up after 6 attempts\.$/);
  assert.equal(retry.outages.totals, null);
});
