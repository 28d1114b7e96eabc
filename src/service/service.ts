/** The embedded service: the read interface over a content set. */
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { codeOf, WarehouseError } from "../common/errors.ts";
import { type ContentSet, loadContentSet, repeatContentSet } from "./load.ts";

export interface ServiceOptions {
  /** Folder of a content set, or a set in memory. */
  readonly data: string | ContentSet;
  /** Number of copies of the set, with other IDs, slugs and times; 1 unless given. */
  readonly repeat?: number;
  /** 0 (the default) takes any free port. */
  readonly port?: number;
  /** Address to listen on; loopback unless given. */
  readonly host?: string;
  /** Largest page, 100 unless given. A larger `per_page` is reduced to it. */
  readonly maxPerPage?: number;
  /** Requests a second for each token; no limit unless given. */
  readonly rateLimit?: number;
  /** Delay of every response in milliseconds; 0 unless given. */
  readonly latency?: number;
  /** A pino logger; false (the default) logs nothing. */
  readonly logger?: FastifyBaseLogger | false;
  /** Milliseconds since 1970, for the `Date` header and the rate limit. */
  readonly now?: () => number;
}

/** A running service. */
export interface Service {
  /** E.g. `http://127.0.0.1:41523`. */
  readonly url: string;
  readonly port: number;
  /** Finishes responses under way for a second at most, then closes all connections. */
  close(): Promise<void>;
  readonly contentSet: ContentSet;
}

/** Longest time for responses under way after the service began to close. */
const CLOSE_GRACE_MS = 1000;

/**
 * Starts the service. Throws `config.content_set` for data that cannot be served, and `config.invalid` for an address that
 * cannot be listened on.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { data, repeat = 1, rateLimit, host = "127.0.0.1", port = 0 } = options;
  const { maxPerPage = 100, latency = 0, logger = false, now = Date.now } = options;
  if (data === undefined) {
    throw new WarehouseError("config.content_set", "A service needs `data`: the folder of a content set.");
  }
  const once = typeof data === "string" ? await loadContentSet(data) : data;
  const contentSet = repeat === 1 ? once : repeatContentSet(once, repeat);
  // The framework takes a tenth of a command's start, so only a service imports it.
  const { buildApp } = await import("./app.ts");
  const app = buildApp({
    set: contentSet,
    maxPerPage,
    rateLimit,
    latencyMs: latency,
    logger,
    now,
  });
  const close = async () => {
    const deadline = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS);
    await app.close().finally(() => clearTimeout(deadline));
  };
  try {
    return { url: await listen(app, host, port), port: portOf(app), close, contentSet };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** The port, which a URL leaves out if it is the default of its scheme. */
function portOf({ server }: FastifyInstance): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    const code = codeOf(cause);
    const reason = code === undefined ? "" : ` (${code})`;
    throw new WarehouseError(
      "config.invalid",
      `The service cannot listen on ${host}, port ${port}${reason}; choose another with --port or --host.`,
      { cause },
    );
  }
}
