/** The routes of the read interface. */
import { readFileSync } from "node:fs";
import { METHODS } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import type { ContentApi } from "./content-api.ts";
import { badRequest, HttpError, methodRefusal } from "./http-error.ts";
import { type Caller, identify } from "./permissions.ts";
import { type PageSizeLimits, parsePage, parseView } from "./query.ts";
import { checkAccepts, sendJson } from "./send-json.ts";

export interface AppConfig {
  readonly content: ContentApi;
  readonly bounds: PageSizeLimits;
  /** Requests a second for each token. */
  readonly rateLimit: number | undefined;
  /** Delay of every response. */
  readonly latencyMs: number;
  /** Longest time in which a request must arrive, with its body. */
  readonly requestTimeoutMs: number;
  readonly logger: FastifyBaseLogger | false;
  readonly now: () => number;
}

/** Builds the service; it does not listen yet. */
export function buildApp(options: AppConfig): FastifyInstance {
  const app = fastify({
    ...(options.logger && { loggerInstance: options.logger }),
    requestTimeout: options.requestTimeoutMs,
    http: { connectionsCheckingInterval: options.requestTimeoutMs },
    // Refusals by the framework get the same body as ours.
    frameworkErrors: async ({ statusCode }, _request, reply) => {
      // No hook is called here.
      await holdBack(reply, options.latencyMs);
      refuse(
        reply,
        statusCode === 414
          ? new HttpError(414, "The address is too long.")
          : badRequest("The address cannot be decoded."),
      );
    },
    // Slugs are as long as titles.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 8192 },
  });
  // Node parses more methods than Fastify knows; routes refuse them too.
  for (const method of METHODS) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  addBodies(app);
  addHooks(app, options);
  addRoutes(app, options);
  return app;
}

/** Accepts forms for the lookups, and no other bodies. */
function addBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    async ({ headers }: FastifyRequest, body: string) => {
      if ((headers["content-encoding"] ?? "identity") !== "identity") throw new HttpError(415, FORMS_ONLY);
      return new URLSearchParams(body);
    },
  );
}

function addHooks(app: FastifyInstance, { latencyMs, now }: AppConfig): void {
  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
  });
  app.addHook("onRequest", async ({ headers }) => checkAccepts(headers.accept));
  app.addHook("onSend", async (_request, reply) => {
    await holdBack(reply, latencyMs);
    reply.header("date", new Date(now()).toUTCString());
    // A kept connection would keep the service from closing.
    if (closing) reply.header("connection", "close");
  });
  app.setErrorHandler((thrown, request, reply) => refuse(reply, asHttpError(thrown, request)));
  app.setNotFoundHandler(() => {
    throw new HttpError(404, "There is nothing at this address; /openapi.json describes what there is.");
  });
}

function addRoutes(app: FastifyInstance, options: AppConfig): void {
  const { content, bounds } = options;
  app.decorateRequest("caller", null);
  const admit = admission(options);

  route(app, "/api/v1/content", ["GET"], admit, async (request) => {
    const query = queryOf(request);
    const { actor } = request.getDecorator<Caller>("caller");
    const { items, pagination } = await content.page(parseView(query), parsePage(query, bounds), actor);
    const response = `{"response":[${items.join(",")}],"count":${items.length}`;
    return `${response},"pagination":${JSON.stringify(pagination)}}`;
  });

  route(app, "/api/v1/content/:id", ["GET"], admit, async (request) => {
    const view = parseView(queryOf(request));
    const { actor } = request.getDecorator<Caller>("caller");
    const { id } = request.params as { readonly id: string };
    const item = await content.item(id, view, actor);
    if (item === undefined) throw new HttpError(404, "There is no content item with this ID or slug.");
    return `{"response":${item}}`;
  });

  route(app, "/api/v1/destinations", ["GET", "POST"], admit, async (request) =>
    JSON.stringify(content.destinations(parametersOf(request))),
  );
  route(app, "/api/v1/custom_fields_reference", ["GET", "POST"], admit, async (request) =>
    JSON.stringify(content.customFields(parametersOf(request))),
  );
  // The file is written by a test from the contract; the URL of the request is added here.
  const description = readFileSync(new URL("openapi.json", import.meta.url), "utf8")
    .trim()
    .slice(1);
  route(app, "/openapi.json", ["GET"], undefined, async ({ protocol, headers: { host } }) => {
    const url = host === undefined ? "/" : `${protocol}://${host}`;
    return `{"servers":${JSON.stringify([{ url }])},${description}`;
  });
}

type Admit = (request: FastifyRequest) => Promise<void>;

/** Delays a response, unless the client disconnects. */
async function holdBack({ raw }: FastifyReply, latencyMs: number): Promise<void> {
  if (latencyMs === 0 || raw.destroyed) return;
  const gone = new AbortController();
  const leave = () => gone.abort();
  raw.once("close", leave);
  await delay(latencyMs, undefined, { signal: gone.signal }).catch(() => {});
  raw.off("close", leave);
}

/** Checks the token of a request and its rate limit. */
function admission({ content, rateLimit, now }: AppConfig): Admit {
  const count = rateLimit === undefined ? undefined : createRateLimit(rateLimit, now);
  return async (request) => {
    const caller = identify(request.headers.authorization, content.actors);
    count?.(caller.token);
    request.setDecorator<Caller>("caller", caller);
  };
}

/** Adds a route that answers with JSON, and 405 for every other method. */
function route(
  app: FastifyInstance,
  url: string,
  methods: readonly ("GET" | "POST")[],
  admit: Admit | undefined,
  answer: (request: FastifyRequest) => Promise<string>,
): void {
  app.route({
    method: [...methods],
    url,
    ...(admit && { onRequest: admit }),
    handler: async (request, reply) => sendJson(request, reply, await answer(request)),
  });
  const allowed = methods.includes("POST") ? ["GET", "HEAD", "POST"] : ["GET", "HEAD"];
  const refuseMethod = async () => {
    throw methodRefusal(allowed);
  };
  const others = app.supportedMethods.filter((method) => !allowed.includes(method));
  app.route({ method: others, url, onRequest: refuseMethod, handler: refuseMethod });
}

function queryOf(request: FastifyRequest): URLSearchParams {
  const start = request.url.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : request.url.slice(start + 1));
}

/** Parameters of a lookup: the query, and the form if one was sent. */
function parametersOf(request: FastifyRequest): URLSearchParams {
  const form = request.body instanceof URLSearchParams ? [...request.body] : [];
  return new URLSearchParams([...queryOf(request), ...form]);
}

function refuse(reply: FastifyReply, { status, headers, message }: HttpError): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .header("content-type", "application/json; charset=utf-8")
    .send(JSON.stringify({ error: message }));
}

function asHttpError(thrown: unknown, request: FastifyRequest): HttpError {
  if (thrown instanceof HttpError) return thrown;
  const status = thrown instanceof Error && "statusCode" in thrown ? thrown.statusCode : 500;
  if (typeof status === "number" && status >= 400 && status < 500) {
    return new HttpError(status, REFUSALS[status] ?? "The request cannot be read.");
  }
  request.log.error(thrown, "a request failed");
  return new HttpError(500, "The service failed to answer; its log says why.");
}

const FORMS_ONLY =
  "Send the parameters in the query, or as uncompressed form data (application/x-www-form-urlencoded).";

/** Our sentences for refusals by the framework. */
const REFUSALS: Readonly<Record<number, string>> = {
  413: "The body is too large.",
  415: FORMS_ONLY,
};

/**
 * Limits the requests of each token by a bucket of one second's requests. Throws a 429 with the whole seconds to wait.
 * `now`: milliseconds since 1970.
 */
function createRateLimit(perSecond: number, now: () => number): (token: string) => void {
  const capacity = Math.max(1, perSecond);
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (token) => {
    const nowMs = now();
    const bucket = buckets.get(token) ?? { tokens: capacity, atMs: nowMs };
    bucket.tokens = Math.min(capacity, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    buckets.set(token, bucket);
    if (bucket.tokens < 1) {
      const seconds = String(Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)));
      throw new HttpError(
        429,
        `Too many requests: this service answers ${perSecond} a second for each token. Retry in ${seconds} s.`,
        { "retry-after": seconds },
      );
    }
    bucket.tokens -= 1;
  };
}
