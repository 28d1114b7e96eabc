import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  type AddressInfo,
  createServer as createRawServer,
  type Server as RawServer,
  type Socket,
} from "node:net";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import { systemClock } from "../../src/common/clock.ts";
import { silentLog } from "../../src/common/log.ts";
import { Secret } from "../../src/common/secret.ts";
import { HttpClient, type HttpClientConfig, type HttpResponse } from "../../src/extract/http/client.ts";
import { HTTP_LIMITS } from "../../src/extract/http/connection-pool.ts";
import { listRequest, readServiceUrl, type ServiceRequest } from "../../src/extract/http/request.ts";
import { RetryLoop } from "../../src/extract/http/retry.ts";
import type { RetryConfig } from "../../src/extract/http/retry-rules.ts";
import { CANARY } from "../run/canary.ts";

export const LIST = listRequest({ mode: "dynamic", page: 1, perPage: 2, columns: [] });

/** A real HTTP server on a loopback port, closed with the test. */
export async function serve(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; server: Server; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  const url = await listen(t, server);
  return { url, server, requests };
}

/** A server that speaks bytes: `answer` is called when the head of a request has come. */
export async function serveRaw(
  t: TestContext,
  answer: (socket: Socket, head: string) => void,
): Promise<{ url: string; heads: string[] }> {
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString("latin1");
      if (!text.includes("\r\n\r\n")) return;
      heads.push(text);
      answer(socket, text);
      text = "";
    });
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { url: await listen(t, server), heads };
}

async function listen(t: TestContext, server: Server | RawServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Asks once, whatever comes of it. */
const ONCE: Pick<RetryLoop, "run"> = { run: ({ attempt }) => attempt(() => {}) };

/** A policy to which each failure is its request's own, unless the test says otherwise. */
export function retryOf(changes: Partial<RetryConfig>): RetryLoop {
  return new RetryLoop({
    connections: 4,
    maxPerSecond: null,
    startPerSecond: null,
    outageMinutes: 0,
    isKnown: true,
    host: "host",
    settingNames: { url: "CONTENT_API_URL", token: "CONTENT_API_TOKEN" },
    retries: true,
    deadline: null,
    clock: systemClock,
    random: () => 0.5,
    log: silentLog,
    ...changes,
  });
}

/** The answer as it came. */
export async function read(
  client: HttpClient,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<HttpResponse> {
  return (await client.readAs(request, signal, () => null)).response;
}

/** A client for one test, with the canary as its token. */
export function clientOf(t: TestContext, url: string, changes: Partial<HttpClientConfig> = {}): HttpClient {
  const parsed = readServiceUrl(url);
  assert.ok("url" in parsed, inspect(parsed));
  const client = new HttpClient({
    url: parsed.url,
    token: new Secret(CANARY),
    hidesAddresses: true,
    settingNames: { url: "CONTENT_API_URL", token: "CONTENT_API_TOKEN" },
    proxy: null,
    connections: 4,
    limits: HTTP_LIMITS,
    clock: systemClock,
    log: silentLog,
    retry: ONCE,
    lookup: null,
    onAttempt: () => {},
    ...changes,
  });
  t.after(() => client.close());
  return client;
}
