import assert from "node:assert/strict";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createHttpServer } from "../../src/service/connections.ts";
import type { ContentSet } from "../../src/service/loaded-set.ts";
import type { Service } from "../../src/service/service.ts";
import { ask, heldSet, serve } from "./ask.ts";
import { BARE, CONTENT_SET } from "./fixture.ts";
import { contentSetOf } from "./memory-set.ts";
import { assertRefusal, FORM, LAST, open, rawRequest, received, TUNNEL, talk } from "./raw.ts";

/** A connection that should end and does not would be waited for without end. */
const LIMITED = { timeout: 30_000 };
const MIB = 1024 * 1024;

/** `count` items with a body of this many bytes; `made` counts the pages that were asked of the set. */
function countedSet(count: number, bytes: number): { set: ContentSet; made: () => number } {
  const content = "x".repeat(bytes);
  const set = contentSetOf({
    ...CONTENT_SET,
    documents: Array.from({ length: count }, (_, at) => ({
      ...BARE,
      id: `i-${at}`,
      slug: `s-${at}`,
      content,
    })),
  });
  let made = 0;
  const read = (positions: readonly number[]) => {
    made += 1;
    return set.documents.read(positions);
  };
  const documents = { count, read, close: () => set.documents.close() };
  return { set: { ...set, documents }, made: () => made };
}

/** Asks on other connections until no more pages are made. */
async function settled(service: Service, made: () => number): Promise<void> {
  for (let before = -1, same = 0; same < 20; before = made()) {
    assert.equal((await ask(service, "/api/v1/destinations?name=Shop")).status, 200);
    same = made() === before ? same + 1 : 0;
  }
}

test("pages that a client asks for in one go and never reads are not made", async (t) => {
  const { set, made } = countedSet(1, 2 * MIB);
  const service = await serve(t, { data: set });
  const silent = await open(t, service);
  silent.pause();
  silent.write(rawRequest("/api/v1/content?detail=full").repeat(300));
  await settled(service, made);
  assert.ok(made() >= 1 && made() < 50, `${made()} pages of 2 MiB wait`);
});

/** Any failure outside of a request has come by then. */
async function assertGoesOn(service: Service): Promise<void> {
  for (let n = 0; n < 20; n++) {
    assert.equal((await ask(service, "/api/v1/destinations?name=Shop")).status, 200);
  }
}

test("a client that resets its connection while answers are due before a refusal ends nothing else", async (t) => {
  for (const end of [TUNNEL, "no HTTP\r\n\r\n", ""]) {
    const { set, goOn, reached } = heldSet();
    const service = await serve(t, { data: set });
    const waiting = await open(t, service);
    waiting.write(rawRequest("/api/v1/content") + end);
    await reached;
    await assertGoesOn(service);
    waiting.resetAndDestroy();
    await assertGoesOn(service);
    goOn();
    await assertGoesOn(service);
    const silent = await open(t, service);
    silent.pause();
    silent.write(rawRequest("/openapi.json").repeat(400) + end);
    await assertGoesOn(service);
    silent.resetAndDestroy();
    await assertGoesOn(service);
  }
});

test("a connection is not read while its requests wait", async (t) => {
  const server = await listen(t, () => {}, {});
  const socket = await open(t, server);
  const request = rawRequest("/", { headers: `X: ${"x".repeat(8000)}\r\n` });
  for (let sent = 0; sent < 8000; sent += 100) socket.write(request.repeat(100));
  for (let before = -1, same = 0; same < 20; before = server.arrived()) {
    await talk(t, server, "no HTTP\r\n\r\n");
    same = server.arrived() === before ? same + 1 : 0;
  }
  assert.ok(server.arrived() >= 1 && server.arrived() < 100, `${server.arrived()} requests wait`);
});

test("what is asked for in one go is answered in order, and other connections in between", async (t) => {
  const { set, made } = countedSet(300, 10);
  const service = await serve(t, { data: set });
  const socket = await open(t, service);
  const answers = received(socket);
  const pages = Array.from({ length: 300 }, (_, at) => at + 1);
  const target = (page: number) => `/api/v1/content?detail=full&per_page=1&page=${page}`;
  socket.write(pages.map((page) => rawRequest(target(page), page === 300 ? { headers: LAST } : {})).join(""));
  assert.equal((await ask(service, "/api/v1/destinations?name=Shop")).status, 200);
  assert.ok(made() < 300, "another connection has waited for all pages");
  const current = (await answers).map(({ body }) => JSON.parse(body).pagination.current);
  assert.deepEqual(current, pages);
});

test("forms and pages that are asked for in one go are answered in order", async (t) => {
  const service = await serve(t);
  const form = (name: string) =>
    rawRequest("/api/v1/destinations", {
      method: "POST",
      headers: `${FORM}Content-Length: ${name.length + 5}\r\n`,
      body: `name=${name}`,
    });
  const page = rawRequest("/api/v1/content?detail=basic&per_page=1");
  const end = rawRequest("/api/v1/content?per_page=2", { headers: LAST });
  const asked = [form("Shop"), page, form("Portal"), end, "never read"].join("");
  const [first, second, third, fourth, ...more] = await talk(t, service, asked);
  assert.match(first?.body ?? "", /^\[.*"Shop".*\]$/);
  assert.match(second?.body ?? "", /"per_page":1,/);
  assert.match(third?.body ?? "", /"Portal"/);
  assert.equal(fourth?.headers.connection, "close");
  assert.equal(more.length, 0);
});

test("a client that ends its side when it has asked is answered", async (t) => {
  const service = await serve(t);
  const socket = await open(t, service);
  const answers = received(socket);
  socket.end(rawRequest("/api/v1/content?per_page=1").repeat(3));
  assert.deepEqual(
    (await answers).map(({ status }) => status),
    [200, 200, 200],
  );
});

/** Writes a byte again and again until the connection ends. */
function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write("x"), 5);
  socket.once("close", () => clearInterval(timer));
}

test("a request that does not arrive in time is refused with 408", LIMITED, async (t) => {
  const service = await serve(t, { requestTimeoutMs: 60 });
  const beginnings = {
    nothing: "",
    "a header": "GET /api/v1/content HTTP/1.1\r\nHost: a\r\nX: ",
    "a form": rawRequest("/api/v1/destinations", {
      method: "POST",
      headers: `${FORM}Content-Length: 9999\r\n`,
      body: "name=",
    }),
  };
  for (const [what, beginning] of Object.entries(beginnings)) {
    for (const drips of [false, beginning !== ""]) {
      const socket = await open(t, service);
      const answers = received(socket);
      socket.write(beginning);
      if (drips) drip(socket);
      const [answer, ...more] = await answers;
      assertRefusal(answer, 408, /took too long/);
      assert.equal(answer?.headers.connection, "close", what);
      assert.equal(more.length, 0);
    }
  }
  assert.equal((await ask(service, "/api/v1/content")).status, 200);
});

test("a refused request whose body goes on and on is not answered twice", async (t) => {
  const service = await serve(t, { requestTimeoutMs: 60 });
  const socket = await open(t, service);
  const answers = received(socket);
  socket.write(rawRequest("/api/v1/content", { method: "PUT", headers: "Content-Length: 9999\r\n" }));
  drip(socket);
  const all = await answers;
  assertRefusal(all[0], 405, /reading/);
  assert.equal(all.length, 1);
});

/** An HTTP server of its own whose answers wait for `goOn`. */
async function listen(
  t: TestContext,
  answer: RequestListener,
  limits: { requestTimeoutMs?: number; unreadTimeoutMs?: number },
) {
  const server = createHttpServer(
    answer,
    { requestTimeoutMs: 60_000, unreadTimeoutMs: 60_000, ...limits },
    Date.now,
  );
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const ended: Promise<unknown>[] = [];
  let arrived = 0;
  server.on("request", () => {
    arrived += 1;
  });
  server.on("connection", (socket) => ended.push(once(socket, "close")));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return { port: address.port, ended, arrived: () => arrived };
}

test("a request that is late because those before it are being answered is answered", async (t) => {
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  const server = await listen(t, (request, response) => void held.then(() => response.end(request.url)), {
    requestTimeoutMs: 300,
  });
  const socket = await open(t, server);
  const answers = received(socket);
  socket.write(`${rawRequest("/first")}${rawRequest("/second")}GET /third HTTP/1.1\r\n`);
  // Opened later and late as well: when it is refused, the third request has been late.
  assertRefusal((await talk(t, server, ""))[0], 408, /too long/);
  goOn();
  socket.write(`Host: a\r\n${LAST}\r\n`);
  assert.deepEqual(
    (await answers).map(({ status }) => status),
    [200, 200, 200],
  );
});

test(
  "a request that waited for others and then does not come whole is refused with 408",
  LIMITED,
  async (t) => {
    const form = rawRequest("/", {
      method: "POST",
      headers: `${FORM}Content-Length: 9999\r\n`,
      body: "name=",
    });
    for (const beginning of [form, "GET /half HTTP/1.1\r\n"]) {
      const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
      const answer: RequestListener = (request, response) => {
        request.resume().once("end", () => void held.then(() => response.end("")));
      };
      const server = await listen(t, answer, { requestTimeoutMs: 60 });
      const socket = await open(t, server);
      const answers = received(socket);
      socket.write(rawRequest("/first") + beginning);
      assertRefusal((await talk(t, server, ""))[0], 408, /too long/);
      goOn();
      const [first, second, ...more] = await answers;
      assert.equal(first?.status, 200);
      assertRefusal(second, 408, /too long/);
      assert.equal(more.length, 0);
    }
  },
);

test(
  "a client that takes nothing of its answer loses its connection; one whose answer is being made does not",
  LIMITED,
  async (t) => {
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    const answer: RequestListener = async (request, response) => {
      if (request.url === "/slow") await held;
      response
        .setHeader("connection", "close")
        .setHeader("content-length", 32 * MIB)
        .end(Buffer.alloc(32 * MIB));
    };
    const server = await listen(t, answer, { unreadTimeoutMs: 300 });
    const patient = await open(t, server);
    patient.write(rawRequest("/slow"));
    const silent = await open(t, server);
    silent.pause();
    silent.write(rawRequest("/page"));
    await server.ended[1];
    goOn();
    let bytes = 0;
    patient.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await once(patient, "close");
    assert.ok(bytes > 32 * MIB);
  },
);

test("a client that asks for a tunnel and takes no answer loses its connection", LIMITED, async (t) => {
  const answer: RequestListener = (_request, response) => void response.end(Buffer.alloc(32 * MIB));
  const server = await listen(t, answer, { unreadTimeoutMs: 300 });
  const silent = await open(t, server);
  silent.pause();
  silent.write(rawRequest("/") + TUNNEL);
  await server.ended[0];
});
