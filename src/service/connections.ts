import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Connection } from "./connection.ts";
import { methodRefusal } from "./http-error.ts";

export interface ConnectionLimits {
  /** How long a request may take to arrive, its body included. */
  readonly requestTimeoutMs: number;
  /** How long an answer may wait without the client taking any of it. */
  readonly unreadTimeoutMs: number;
}

/** As long as Fastify's own server keeps them. */
const KEEP_ALIVE_MS = 72_000;
const MAX_CHECK_INTERVAL_MS = 1000;

/** Node's server forgets the sockets that it hands over for CONNECT, and would wait for them without end. */
class RememberingServer extends Server {
  readonly #handedOver = new Set<Duplex>();

  remember(socket: Duplex): void {
    this.#handedOver.add(socket);
    socket.once("close", () => this.#handedOver.delete(socket));
  }

  override closeAllConnections(): void {
    super.closeAllConnections();
    for (const socket of this.#handedOver) socket.destroy();
  }
}

/** Answers the requests of a connection one after another, and what is no request with the same error body. */
export function createHttpServer(
  answer: RequestListener,
  { requestTimeoutMs, unreadTimeoutMs }: ConnectionLimits,
  now: () => number,
): Server {
  const server = new RememberingServer({
    // Node's own refusal has no body; the application refuses instead.
    requireHostHeader: false,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(MAX_CHECK_INTERVAL_MS, requestTimeoutMs / 4),
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  // A client that ends its side after its requests is answered all the same. Node's types lack this property.
  Object.assign(server, { httpAllowHalfOpen: true });
  const connections = new WeakMap<Duplex, Connection>();
  const take = (request: IncomingMessage, response: ServerResponse) =>
    connections.get(request.socket)?.take({ request, response });
  return (
    server
      .setTimeout(unreadTimeoutMs, (socket) => connections.get(socket)?.endIfIdle())
      .on("connection", (socket) =>
        connections.set(socket, new Connection(socket, { answer, requestTimeoutMs, now })),
      )
      .on("request", take)
      // Node would refuse an expectation that it does not know, without a body.
      .on("checkExpectation", take)
      .on("connect", (_request, socket) => {
        server.remember(socket);
        socket.on("timeout", () => connections.get(socket)?.endIfIdle());
        connections.get(socket)?.refuse(methodRefusal(["GET", "HEAD", "POST"]));
      })
      .on("clientError", (error, socket) => connections.get(socket)?.fail(error))
  );
}
