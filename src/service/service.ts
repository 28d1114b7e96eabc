import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { codeOf, WarehouseError } from "../common/errors.ts";
import type { ContentSet } from "./assemble-set.ts";
import { contentApi } from "./content-api.ts";
import { loadContentSet } from "./load.ts";
import { repeatContentSet } from "./repeat.ts";

export interface ServiceOptions {
  /** Folder of a content set, or one that is loaded: closing that one stays its owner's business. */
  readonly data: string | ContentSet;
  /** Serves the set so many times, under new IDs, slugs and times; once unless told otherwise. */
  readonly repeat?: number;
  /** 0 (the default) takes any free port. */
  readonly port?: number;
  /** Address to listen on; loopback unless told otherwise. */
  readonly host?: string;
  /** Largest page, 100 unless told otherwise; a larger `per_page` is taken as this. */
  readonly maxPerPage?: number;
  /** Page size of a request that names none, 25 unless told otherwise. */
  readonly defaultPerPage?: number;
  /** Requests a second for each token; no limit unless told otherwise. */
  readonly rateLimit?: number;
  /** Milliseconds for which every answer is held back, but to what is not HTTP; 0 unless told otherwise. */
  readonly latency?: number;
  /** How long a request may take to arrive, its body included; 30 seconds unless told otherwise. Then: 408. */
  readonly requestTimeoutMs?: number;
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
  /** Answers what was begun, for a second at most, then ends every connection. */
  close(): Promise<void>;
  readonly contentSet: ContentSet;
}

/** How long answers under way may take once the service is closing. */
const CLOSE_GRACE_MS = 1000;

/**
 * Starts the read interface over a content set. Throws `config.content_set` for data that cannot be served and
 * `config.invalid` for an address that cannot be listened on.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { data, repeat = 1, rateLimit, host = "127.0.0.1", port = 0 } = options;
  const { maxPerPage = 100, defaultPerPage = 25, latency = 0, logger = false, now = Date.now } = options;
  const { requestTimeoutMs = 30_000 } = options;
  if (data === undefined) {
    throw new WarehouseError("config.content_set", "A service needs `data`: the folder of a content set.");
  }
  const once = typeof data === "string" ? await loadContentSet(data) : data;
  const contentSet = repeat === 1 ? once : await repeatContentSet(once, repeat);
  // Its framework takes a tenth of a command's start, and only who serves needs it.
  const { buildApp } = await import("./app.ts");
  const app = buildApp({
    content: contentApi(contentSet),
    bounds: { maxPerPage, defaultPerPage: Math.min(defaultPerPage, maxPerPage) },
    rateLimit,
    latencyMs: latency,
    requestTimeoutMs,
    logger,
    now,
  });
  const close = async () => {
    const deadline = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS);
    await app.close().finally(() => clearTimeout(deadline));
    if (once !== data) await contentSet.close();
  };
  try {
    return { url: await listen(app, host, port), port: portOf(app), close, contentSet };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** What a URL does not say where it is the port of its scheme. */
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
      `The service cannot listen on ${host}, port ${port}${reason}; choose another port or address.`,
      { cause },
    );
  }
}
