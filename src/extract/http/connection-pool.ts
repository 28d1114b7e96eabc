/** Connections to the service, kept from request to request. */
import { hash } from "node:crypto";
import type { LookupFunction } from "node:net";
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";
import { codeOf } from "../../common/errors.ts";
import type { Log } from "../../common/log.ts";
import type { HttpProxy } from "../../common/proxy.ts";
import type { ServiceUrl } from "./request.ts";
import { tooLarge } from "./source-error.ts";

/** Limits of one attempt. */
export const HTTP_LIMITS = {
  connectMs: 10_000,
  /** From the request to the last of the headers. */
  headersMs: 60_000,
  /** Between two pieces of the body. */
  bodyMs: 30_000,
  /** For all of it: a body that comes byte by byte never exceeds the other limits. */
  totalMs: 180_000,
  /** Largest body as it comes over the wire. */
  wireBytes: 32 * 1024 * 1024,
  /** What is read of the body of a failure; the rest is discarded. */
  failureBytes: 64 * 1024,
};

export interface ConnectionConfig {
  readonly url: ServiceUrl;
  /** `null`: the service is reached directly. */
  readonly proxy: HttpProxy | null;
  /** Connections at the same time, each for one request. */
  readonly connections: number;
  readonly limits: Readonly<typeof HTTP_LIMITS>;
  /** How host names are resolved; `null`: as the system does it. */
  readonly lookup: LookupFunction | null;
  readonly log: Log;
}

/** After this many resets of kept connections, each request gets a connection of its own. */
const MAX_RESETS = 3;
const RESET_CODES: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * A service, or a proxy in front of it, may close a kept connection just when it is used again. That says nothing about
 * the request, so it is sent again at once on a new connection. All other kept connections are as old: they are replaced
 * too, and count as one reset together.
 */
export class ConnectionPool {
  readonly #config: ConnectionConfig;
  #dispatcher: Dispatcher;
  /** Whether a connection of the dispatcher has received a response. */
  #isUsed = false;
  #resets = 0;

  constructor(config: ConnectionConfig) {
    this.#config = config;
    this.#dispatcher = openDispatcher(config);
  }

  /**
   * Sends a request and resolves with the response, whatever its status. `signal` ends the request and its connection.
   *
   * @throws what undici throws, the signal's reason, `source.too_large`; the connection is closed then
   */
  async send(
    request: Pick<Dispatcher.RequestOptions, "method" | "path" | "headers" | "body">,
    signal: AbortSignal,
  ) {
    for (;;) {
      const dispatcher = this.#dispatcher;
      let hasStarted = false;
      const onStart = () => {
        hasStarted = true;
        this.#isUsed ||= dispatcher === this.#dispatcher;
      };
      const how = { reset: this.#resets === MAX_RESETS, signal, onInfo: onStart };
      try {
        const response = await dispatcher.request({ ...request, origin: this.#config.url.origin, ...how });
        onStart();
        return await this.#collect(response);
      } catch (thrown) {
        if (hasStarted || !RESET_CODES.has(codeOf(thrown)) || !this.#replace(dispatcher)) throw thrown;
      }
    }
  }

  /** Reads a body. The status of a failure counts even if its body is cut off, and the rest of a long one is not needed. */
  async #collect({ statusCode: status, headers, body: pieces }: Dispatcher.ResponseData) {
    const { wireBytes, failureBytes } = this.#config.limits;
    const isFailure = status !== 200;
    const read: Uint8Array[] = [];
    let length = 0;
    try {
      for await (const piece of pieces as AsyncIterable<Uint8Array>) {
        read.push(piece);
        length += piece.length;
        if (isFailure && length >= failureBytes) break;
        if (length > wireBytes) throw tooLarge(wireBytes);
      }
    } catch (thrown) {
      if (!isFailure) throw thrown;
    }
    // `allocUnsafeSlow` gives a buffer of its own and does not fill it with zeros.
    const body = Buffer.allocUnsafeSlow(length);
    let at = 0;
    for (const piece of read) {
      body.set(piece, at);
      at += piece.length;
    }
    return { status, headers, body, sha256: hash("sha256", body) };
  }

  /** Closes all connections, with the requests that they serve. */
  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }

  /** Replaces the connections after a reset. Returns whether there are other ones now. */
  #replace(dispatcher: Dispatcher): boolean {
    if (dispatcher !== this.#dispatcher) return true;
    if (!this.#isUsed || this.#resets === MAX_RESETS) return false;
    const { log, url } = this.#config;
    this.#resets += 1;
    if (this.#resets === MAX_RESETS)
      log.warn(`${url.host} closes kept connections; each request opens a new one from now on.`);
    void dispatcher.close();
    this.#dispatcher = openDispatcher(this.#config);
    this.#isUsed = false;
    return true;
  }
}

/**
 * HTTP/1.1, one request at a time on each connection. Certificates are always checked, whatever the environment says.
 * A proxy opens a tunnel and sees nothing of what goes through it.
 */
function openDispatcher({ url, proxy, connections, limits, lookup }: ConnectionConfig): Dispatcher {
  const connect = {
    timeout: limits.connectMs,
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    ...(lookup === null ? {} : { lookup }),
  } as const;
  const options = {
    connections,
    pipelining: 1,
    allowH2: false,
    useMilo: false,
    maxHeaderSize: 16 * 1024,
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.bodyMs,
  };
  const connector = buildConnector({ ...connect, allowH2: false });
  if (proxy === null) return new Pool(url.origin, { ...options, connect: closingOnError(connector) });
  return new ProxyAgent({
    ...options,
    uri: proxy.url.reveal(),
    proxyTunnel: true,
    proxyTls: connect,
    requestTls: { ...connect, allowH2: false },
    clientFactory: (origin, given) => new Pool(origin, { ...given, headersTimeout: limits.headersMs }),
  });
}

/**
 * Closes a connection on its first error, which is then the one that is thrown: over TLS 1.3 a service asks for a client
 * certificate after the handshake, in an alert before it closes.
 */
function closingOnError(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...outcome) => {
      const [, socket] = outcome;
      socket?.once("error", () => socket.destroy());
      callback(...outcome);
    });
}
