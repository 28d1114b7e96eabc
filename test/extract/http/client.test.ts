import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { systemClock } from "../../../src/common/clock.ts";
import type { ErrorCode } from "../../../src/common/errors.ts";
import { createLog, silentLog } from "../../../src/common/log.ts";
import type { HttpClientConfig } from "../../../src/extract/http/client.ts";
import { HTTP_LIMITS } from "../../../src/extract/http/connection-pool.ts";
import { decodeBytes } from "../../../src/extract/http/decode.ts";
import { listRequest } from "../../../src/extract/http/request.ts";
import { SourceError } from "../../../src/extract/http/source-error.ts";
import { environment } from "../../environment.ts";
import { failsWith } from "../../failing.ts";
import { NEVER } from "../../never.ts";
import { CANARY } from "../../run/canary.ts";
import { clientOf, LIST, read, retryOf, serve, serveRaw } from "../loopback.ts";

const BODY = JSON.stringify({ response: [{ id: "a" }], pagination: { current: 1 } });
const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

/** What the client makes of these bytes, sent as the whole answer. */
async function readRaw(t: TestContext, answer: string | Buffer, changes: Partial<HttpClientConfig> = {}) {
  const { url, heads } = await serveRaw(t, (socket) => socket.end(answer));
  return { heads, reading: read(clientOf(t, url, changes), LIST, NEVER) };
}

async function readRawFails(t: TestContext, code: Parameters<typeof failsWith>[0], answer: string | Buffer) {
  const error = await failsWith(code, (await readRaw(t, answer)).reading);
  assert.ok(error instanceof SourceError);
  return error;
}

test("an answer comes as its bytes on the wire, with their digest and what the headers say", async (t) => {
  const bytes = gzipSync(BODY);
  const { url } = await serve(t, (_request, response) => {
    response.writeHead(200, {
      "content-type": "application/json; charset=utf-8",
      "content-encoding": "gzip",
      date: "Fri, 20 Nov 2026 02:00:00 GMT",
      "retry-after": "3",
    });
    response.end(bytes);
  });
  const { body, milliseconds, ...answer } = await read(clientOf(t, url), LIST, NEVER);
  assert.deepEqual(answer, {
    status: 200,
    contentType: "application/json; charset=utf-8",
    contentEncoding: "gzip",
    observedAt: Date.parse("2026-11-20T02:00:00Z") * 1000,
    dated: true,
    bytes: bytes.length,
    retryAfter: 3000,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    attempts: 1,
  });
  assert.ok(milliseconds > 0);
  assert.deepEqual(Buffer.from(body), bytes);
  assert.equal(
    body.byteLength,
    body.buffer.byteLength,
    "the buffer is the body's own, so it can be transferred",
  );
  assert.equal(decodeBytes({ body, ...answer }).toString(), BODY);
});

test("B19, B20: a request says who asks, for what, with which token, and no more: no cookie either", async (t) => {
  const { url, requests } = await serve(t, (_request, response) => {
    response.setHeader("set-cookie", "session=1; Path=/").end(BODY);
  });
  const request = listRequest({
    mode: "dynamic",
    page: 2,
    perPage: 50,
    columns: ["id", "a b"],
  });
  const client = clientOf(t, `${url}/tenants/a/`);
  for (let n = 0; n < 2; n++) await read(client, request, NEVER);
  const [, seen] = requests;
  assert.equal(
    seen?.url,
    "/tenants/a/api/v1/content?columns%5B%5D=id&columns%5B%5D=a+b&gallery=true&per_page=50&page=2",
  );
  const { host, connection, "user-agent": agent, ...headers } = seen?.headers ?? {};
  assert.equal(host, new URL(url).host);
  assert.equal(connection, "keep-alive");
  assert.match(agent ?? "", /^content-warehouse\/\d/);
  assert.deepEqual(headers, {
    accept: "application/json",
    "accept-encoding": "gzip",
    "cache-control": "no-cache",
    authorization: `Basic ${Buffer.from(`${CANARY}:x`).toString("base64")}`,
  });
});

test("B19: an answer that is older than the request is told once", async (t) => {
  const ages = ["0", "90000", "90001", "soon"];
  const { url } = await serve(t, (_request, response) => {
    response.setHeader("age", ages.shift() ?? "0").end(BODY);
  });
  const told: string[] = [];
  const client = clientOf(t, url, { log: { ...silentLog, warn: (message) => told.push(message) } });
  for (let page = 1; page <= 4; page++) {
    const request = listRequest({ mode: "full", page, perPage: 50, columns: [] });
    await read(client, request, NEVER);
  }
  assert.equal(told.length, 1);
  assert.match(told[0] ?? "", /answers from a cache \(age: 90000 s\)/);
});

test("A1: a closed port is unreachable, and the sentence names the host and the URL", async (t) => {
  const { url, server } = await serve(t, () => {});
  await new Promise((resolve) => server.close(resolve));
  for (const address of [url, url.replace("127.0.0.1", "localhost")]) {
    const error = await failsWith("source.unreachable", read(clientOf(t, address), LIST, NEVER));
    assert.match(error.message, new RegExp(`${new URL(address).host}.*CONTENT_API_URL`));
    assert.ok(error.retry);
    assert.equal(error.exitCode, 21);
  }
});

test("A2: a name that does not exist is worth one more attempt, a name service that is down several", async (t) => {
  for (const [code, attempts] of [
    ["ENOTFOUND", 2],
    ["EAI_AGAIN", 6],
  ] as const) {
    const lookup: HttpClientConfig["lookup"] = (_name, _options, found) =>
      found(Object.assign(new Error(`getaddrinfo ${code}`), { code }), "", 4);
    const client = clientOf(t, "https://content.invalid", { lookup });
    const error = await failsWith("source.unreachable", read(client, LIST, NEVER));
    assert.ok(error instanceof SourceError);
    assert.match(error.message, /content\.invalid/);
    assert.equal(error.attemptsAtMost, attempts);
  }
});

test("A3: a connection that never comes about ends by the connect timeout", async (t) => {
  const limits = { ...HTTP_LIMITS, connectMs: 60 };
  const client = clientOf(t, "https://content.invalid", { limits, lookup: () => {} });
  const error = await failsWith("source.timeout", read(client, LIST, NEVER));
  assert.ok(error.retry);
  assert.match(error.message, /did not answer in time/);
});

test("A6: a connection that ends in the middle of a body gives no answer, and the next one is whole", async (t) => {
  const { url, heads } = await serveRaw(t, (socket) => {
    socket.write(
      `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${heads.length === 1 ? BODY.slice(0, 20) : BODY}`,
      () => {
        if (heads.length === 1) socket.resetAndDestroy();
      },
    );
  });
  const client = clientOf(t, url);
  assert.ok((await failsWith("source.unreachable", read(client, LIST, NEVER))).retry);
  const answer = await read(client, LIST, NEVER);
  assert.equal(Buffer.from(answer.body).toString(), BODY);
  assert.doesNotMatch(heads.join(), /^range:/im);
});

/** What a connection does when a request has come, the limits, and what becomes of it. */
const UNANSWERED: Readonly<
  Record<
    string,
    readonly [
      act: (socket: Socket) => void,
      limits: Partial<typeof HTTP_LIMITS>,
      code: ErrorCode,
      says: RegExp,
    ]
  >
> = {
  "A5: a reset": [(socket) => socket.resetAndDestroy(), {}, "source.unreachable", /closed the connection/],
  "A5: an end before an answer": [
    (socket) => socket.end(),
    {},
    "source.unreachable",
    /closed the connection/,
  ],
  "A7: no headers": [() => {}, { headersMs: 60 }, "source.timeout", /did not answer in time/],
  "A7: a body that stops": [
    (socket) => socket.write(`${HEAD}Content-Length: 100\r\n\r\n{`),
    { bodyMs: 60 },
    "source.timeout",
    /did not answer in time/,
  ],
  "A8: a body that drips in byte by byte": [
    (socket) => drip(socket),
    { bodyMs: 1000, totalMs: 120 },
    "source.timeout",
    /within 0\.12 s/,
  ],
  "B18: hints without end": [
    (socket) => drip(socket, HINT, HINT),
    { totalMs: 120 },
    "source.timeout",
    /within 0\.12 s/,
  ],
};

const HINT = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";

function drip(socket: Socket, begin = `${HEAD}Content-Length: 1000000\r\n\r\n`, drop = " "): void {
  socket.write(begin);
  const timer = setInterval(() => socket.write(drop), 5);
  socket.on("close", () => clearInterval(timer));
}

test("A5, A7, A8, B18: a connection without an answer ends in time, and can be asked again", async (t) => {
  for (const [what, [act, changed, code, says]] of Object.entries(UNANSWERED)) {
    const { url } = await serveRaw(t, act);
    const client = clientOf(t, url, { limits: { ...HTTP_LIMITS, ...changed } });
    const error = await failsWith(code, read(client, LIST, NEVER));
    assert.ok(error.retry, what);
    assert.match(error.message, says);
  }
});

test("A9: a body that is shorter than announced, or longer, is no answer", async (t) => {
  const head = `${HEAD}Content-Length: ${BODY.length + 9}\r\n`;
  const closed = await readRawFails(t, "source.unreachable", `${head}\r\n${BODY}`);
  assert.equal(closed.attemptsAtMost, 6);
  const announced = await readRawFails(t, "source.damaged", `${head}Connection: close\r\n\r\n${BODY}`);
  assert.equal(announced.attemptsAtMost, 6);
  const long = await (await readRaw(t, `${HEAD}Content-Length: 5\r\n\r\n${BODY}`)).reading.catch(
    (error) => error,
  );
  assert.ok(
    long instanceof SourceError || long.body.length === 5,
    "what follows is never part of this answer",
  );
});

test("A11: a chunked body without its last chunk is no answer", async (t) => {
  const chunk = `${BODY.length.toString(16)}\r\n${BODY}\r\n`;
  const head = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
  const whole = await (await readRaw(t, `${head}${chunk}0\r\n\r\n`)).reading;
  assert.equal(Buffer.from(whole.body).toString(), BODY);
  const { url } = await serveRaw(t, (socket) => socket.end(`${head}${chunk}`));
  assert.ok(
    await read(clientOf(t, url), LIST, NEVER).then(
      () => false,
      (error) => error.retry,
    ),
  );
});

test("A16: a body above the cap is given up, announced or not", async (t) => {
  const limits = { ...HTTP_LIMITS, wireBytes: 100_000, failureBytes: 1000 };
  for (const announced of [true, false]) {
    let ended: () => void = () => {};
    const aborted = new Promise<void>((resolve) => (ended = resolve));
    const { url } = await serve(t, (_request, response) => {
      response.on("close", ended);
      if (announced) response.writeHead(200, { "content-length": 10_000_000 });
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384, 32)));
      };
      response.on("drain", more);
      more();
    });
    const error = await failsWith("source.too_large", read(clientOf(t, url, { limits }), LIST, NEVER));
    assert.equal(error.retry, false);
    assert.match(error.message, /perPage/);
    await aborted;
  }
});

test("A17: bodies of failures that nobody waits for do no harm, and a failure counts even if its body is cut", async (t) => {
  for (const kilobytes of [0, 1, 32, 64, 100, 1024]) {
    const body = "x".repeat(kilobytes * 1024);
    const { url } = await serveRaw(t, (socket) => {
      socket.end(
        `HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
    const client = clientOf(t, url);
    const errors = await Promise.all(
      [1, 2, 3].map(() => failsWith("source.unavailable", read(client, LIST, NEVER))),
    );
    assert.ok(errors.every((error) => error.retry));
  }
  const cut = await readRaw(t, "HTTP/1.1 401 No\r\nContent-Length: 500\r\n\r\nx");
  await failsWith("source.credentials", cut.reading);
});

test("A18: headers of more than 16 KB are refused, in one or in hundreds", async (t) => {
  const fields = [
    "x".repeat(20_000),
    ...[Array.from({ length: 500 }, (_, n) => `v\r\nX-${n}: ${"x".repeat(40)}`).join("")],
  ];
  for (const field of fields) await readRawFails(t, "source.protocol", `${HEAD}X: ${field}\r\n\r\n`);
});

test("A19, S1: what is not proper HTTP is refused, and not quoted", async (t) => {
  const answers = [
    "HELLO WORLD\r\n\r\n",
    BODY,
    `HTTP/9.9 200 OK\r\n\r\n${BODY}`,
    `${HEAD}Content-Length: -5\r\n\r\n12345`,
    "SSH-2.0-OpenSSH_9.2\r\n",
    `${CANARY} jane@example.com\r\n\r\n`,
  ];
  for (const answer of answers) {
    const error = await readRawFails(t, "source.protocol", answer);
    assert.equal(error.retry, false);
    assert.match(error.message, /^[^ ]+ sent an answer that is not valid HTTP, or/);
  }
});

test("A19: contradictory lengths are refused", async (t) => {
  for (const second of ["Content-Length: 6", "Transfer-Encoding: chunked"]) {
    const { reading } = await readRaw(t, `${HEAD}Content-Length: 5\r\n${second}\r\n\r\n123456`);
    await assert.rejects(reading, { exitCode: 22 });
  }
});

/** A service that resets a connection at the use with this number; how many connections there were, and how many asked not to be kept. */
async function resetting(t: TestContext, atUse: number) {
  const uses = new Map<Socket, number>();
  let unkept = 0;
  const { url } = await serveRaw(t, (socket, head) => {
    const use = (uses.get(socket) ?? 0) + 1;
    uses.set(socket, use);
    if (use === atUse) return socket.resetAndDestroy();
    if (/^connection: close/im.test(head)) unkept += 1;
    socket.write(`${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`);
  });
  return { url, counts: () => ({ connections: uses.size, unkept }) };
}

test("A20: kept connections that are reset as they are used again are replaced at once, and after three of them none is kept", async (t) => {
  const { url, counts } = await resetting(t, 4);
  const attempts: (number | null)[] = [];
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (line: string) => void warnings.push(line) };
  const client = clientOf(t, url, { connections: 1, log, onAttempt: (status) => void attempts.push(status) });
  for (let n = 0; n < 12; n++) assert.equal((await read(client, LIST, NEVER)).attempts, 1);
  assert.deepEqual(attempts, Array(12).fill(200));
  // Three answers on each of three connections, then one on each.
  assert.deepEqual(counts(), { connections: 6, unkept: 3 });
  assert.deepEqual(warnings.length, 1);
  assert.match(warnings.join(), /closes kept connections/);
});

test("A21: the client itself looks at no variables for a proxy", async (t) => {
  const proxy = await serve(t, (_request, response) => response.end(BODY));
  const service = await serve(t, (_request, response) => response.end(BODY));
  const names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"];
  t.after(environment(Object.fromEntries(names.map((name) => [name, proxy.url]))));
  await read(clientOf(t, service.url), LIST, NEVER);
  assert.equal(service.requests.length, 1);
  assert.equal(proxy.requests.length, 0);
});

test("B9, B10: a redirect is a refused token, and is followed nowhere", async (t) => {
  const other = await serve(t, (_request, response) => response.end(BODY));
  for (const status of [301, 302, 303, 307, 308]) {
    const { url, requests } = await serve(t, (_request, response) => {
      response.writeHead(status, { location: `${other.url}/users/sign_in?token=${CANARY}` }).end();
    });
    const error = await failsWith("source.credentials", read(clientOf(t, url), LIST, NEVER));
    assert.match(error.message, /redirect.*sign-in page/);
    assert.equal(error.exitCode, 20);
    assert.equal(requests.length, 1);
  }
  assert.equal(other.requests.length, 0);
});

test("B18: early hints are passed over", async (t) => {
  const answer = `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`;
  assert.equal((await (await readRaw(t, HINT.repeat(16) + answer)).reading).status, 200);
});

test("S1: an error shows the service's words and never the token, even where the service sends it back", async (t) => {
  const { url } = await serve(t, (request, response) => {
    response
      .writeHead(500)
      .end(JSON.stringify({ error: `no\u001b[2J luck with ${request.headers.authorization} ${CANARY}` }));
  });
  const error = await failsWith("source.unavailable", read(clientOf(t, url), LIST, NEVER));
  assert.match(error.message, /It said: no \[2J luck with Basic \[redacted\] \[redacted\]/);
});

test("S5: the log has method, path, status and size of an answer, and nothing of its query or body", async (t) => {
  const lines: string[] = [];
  const log = createLog({
    level: "debug",
    format: "json",
    secrets: [],
    clock: systemClock,
    write: (line) => lines.push(line),
  });
  const { url } = await serve(t, (_request, response) => response.end(BODY));
  await read(clientOf(t, url, { log }), LIST, NEVER);
  const { time: _, milliseconds: __, ...line } = JSON.parse(lines.join());
  assert.deepEqual(line, {
    level: "debug",
    method: "GET",
    path: "/api/v1/content",
    status: 200,
    bytes: BODY.length,
    msg: "answer",
  });
});

test("a stop ends a request at once, with the reason of the stop", async (t) => {
  const { url, requests } = await serve(t, () => stop.abort(new Error("stopped")));
  const stop = new AbortController();
  const client = clientOf(t, url);
  await assert.rejects(read(client, LIST, stop.signal), /stopped/);
  await assert.rejects(read(client, LIST, stop.signal), /stopped/);
  assert.equal(requests.length, 1);
});

test("while an answer is read, its connection serves the next request, and never two at a time", {
  timeout: 10_000,
}, async (t) => {
  const sent = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  let underWay = 0;
  let atOnce = 0;
  let count = 0;
  const { url } = await serve(t, (_request, response) => {
    underWay += 1;
    atOnce = Math.max(atOnce, underWay);
    response.on("close", () => {
      underWay -= 1;
    });
    sent[count++]?.resolve();
    setImmediate(() => response.end(BODY));
  });
  const client = clientOf(t, url, { connections: 2, retry: retryOf({ connections: 1 }) });
  // Who reads the first answer waits for the last request.
  await Promise.all([
    client.readAs(LIST, NEVER, () => sent[2]?.promise),
    client.readAs(LIST, NEVER, () => {}),
    client.readAs(LIST, NEVER, () => {}),
  ]);
  assert.equal(atOnce, 1);
});
