import type { LookupFunction } from "node:net";
import { type Dispatcher, Pool, ProxyAgent } from "undici";
import { codeOf } from "../../common/errors.ts";
import type { Log } from "../../common/log.ts";
import type { HttpProxy } from "../../common/proxy.ts";
import type { ServiceUrl } from "./service-url.ts";

export interface ConnectionOptions {
  readonly url: ServiceUrl;
  /** Null: the service is reached directly. */
  readonly proxy: HttpProxy | null;
  /** At the same time, one request on each. */
  readonly connections: number;
  readonly timeouts: { readonly connectMs: number; readonly headersMs: number; readonly bodyMs: number };
  /** How names become addresses; `null`: as the system does it. */
  readonly lookup: LookupFunction | null;
  readonly log: Log;
}

/** What a request is sent on. */
export interface Connection {
  readonly pool: Dispatcher;
  /** Whether the connection may serve another request afterwards. */
  readonly isKept: boolean;
  /** To be called when an answer begins. */
  readonly onBegin: () => void;
}

/** After so many losses of kept connections each request gets a connection of its own. */
const MAX_LOSSES = 3;
const RESET: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * Connections to the service, kept from request to request. A service, or what stands before it, may end a kept one as
 * it is used again: that says nothing about the request, which is sent at once on a new connection. All others are as
 * old, so they are replaced too, and are one loss together.
 */
export class Connections {
  readonly #options: ConnectionOptions;
  #pool: Dispatcher;
  /** Whether a connection of the pool has served an answer. */
  #isUsed = false;
  #losses = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#pool = openPool(options);
  }

  async use<T>(send: (connection: Connection) => Promise<T>): Promise<T> {
    for (;;) {
      const pool = this.#pool;
      let hasBegun = false;
      const onBegin = () => {
        hasBegun = true;
        this.#isUsed ||= pool === this.#pool;
      };
      try {
        return await send({ pool, isKept: this.#losses < MAX_LOSSES, onBegin });
      } catch (thrown) {
        if (hasBegun || !RESET.has(codeOf(thrown)) || !this.#isReplaced(pool)) throw thrown;
      }
    }
  }

  /** Ends all, with what is under way on them. */
  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /** Whether other connections than those of the pool, one of which was lost, are there by now. */
  #isReplaced(pool: Dispatcher): boolean {
    if (pool !== this.#pool) return true;
    if (!this.#isUsed || this.#losses === MAX_LOSSES) return false;
    const { log, url } = this.#options;
    this.#losses += 1;
    if (this.#losses === MAX_LOSSES)
      log.warn(
        `${url.host} ends connections that are used again: each request opens one of its own from now on.`,
      );
    void pool.close();
    this.#pool = openPool(this.#options);
    this.#isUsed = false;
    return true;
  }
}

/**
 * One connection a request, HTTP/1.1, certificates always checked, whatever the environment says. A proxy is asked for a
 * tunnel and sees nothing of what goes through it.
 */
function openPool({ url, proxy, connections, timeouts, lookup }: ConnectionOptions): Dispatcher {
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
