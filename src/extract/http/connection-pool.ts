/** Connections to the service, kept from request to request. */
import type { LookupFunction } from "node:net";
import { type Dispatcher, Pool, ProxyAgent } from "undici";
import { codeOf } from "../../common/errors.ts";
import type { Log } from "../../common/log.ts";
import type { HttpProxy } from "../../common/proxy.ts";
import type { ServiceUrl } from "./service-url.ts";

export interface ConnectionConfig {
  readonly url: ServiceUrl;
  /** `null`: the service is reached directly. */
  readonly proxy: HttpProxy | null;
  /** Connections at the same time, each for one request. */
  readonly connections: number;
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly bodyMs: number };
  /** How host names are resolved; `null`: as the system does it. */
  readonly lookup: LookupFunction | null;
  readonly log: Log;
}

/** What a request is sent on. */
export interface PoolConnection {
  readonly dispatcher: Dispatcher;
  /** Whether the connection may serve another request afterwards. */
  readonly isKept: boolean;
  /** To be called when a response begins. */
  readonly onStart: () => void;
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

  async use<T>(send: (connection: PoolConnection) => Promise<T>): Promise<T> {
    for (;;) {
      const dispatcher = this.#dispatcher;
      let hasStarted = false;
      const onStart = () => {
        hasStarted = true;
        this.#isUsed ||= dispatcher === this.#dispatcher;
      };
      try {
        return await send({ dispatcher, isKept: this.#resets < MAX_RESETS, onStart });
      } catch (thrown) {
        if (hasStarted || !RESET_CODES.has(codeOf(thrown)) || !this.#replace(dispatcher)) throw thrown;
      }
    }
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
function openDispatcher({ url, proxy, connections, timeouts, lookup }: ConnectionConfig): Dispatcher {
  const connect = {
    timeout: timeouts.connectMs,
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
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
  };
  if (proxy === null) return new Pool(url.origin, { ...options, connect });
  return new ProxyAgent({
    ...options,
    uri: proxy.url.reveal(),
    proxyTunnel: true,
    proxyTls: connect,
    requestTls: { ...connect, allowH2: false },
    clientFactory: (origin, given) => new Pool(origin, { ...given, headersTimeout: timeouts.headersMs }),
  });
}
