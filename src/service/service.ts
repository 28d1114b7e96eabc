/** The embedded service: the read interface over a content set. */
import { once } from "node:events";
import type { Server } from "node:http";
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
  /** Takes what was thrown where a request was answered with 500; ignored unless given. */
  readonly onFailure?: (thrown: unknown) => void;
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
  const { maxPerPage = 100, latency = 0, onFailure = () => {}, now = Date.now } = options;
  if (data === undefined) {
    throw new WarehouseError("config.content_set", "A service needs `data`: the folder of a content set.");
  }
  const loaded = typeof data === "string" ? await loadContentSet(data) : data;
  const contentSet = repeat === 1 ? loaded : repeatContentSet(loaded, repeat);
  // Only a service needs its routes, and the contract that they load.
  const { buildServer } = await import("./app.ts");
  const server = buildServer({ set: contentSet, maxPerPage, rateLimit, latencyMs: latency, onFailure, now });
  await listen(server, host, port);
  const listensAt = portOf(server);
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    const deadline = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    await closed.finally(() => clearTimeout(deadline));
  };
  return { url: urlOf(host, listensAt), port: listensAt, close, contentSet };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** URL at which this machine reaches the service. */
function urlOf(host: string, port: number): string {
  const reached = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    const listening = once(server, "listening");
    server.listen({ host, port });
    await listening;
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
