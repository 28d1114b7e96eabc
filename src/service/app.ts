import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import fastify, {
  type ConnectionError,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import type { Pagination } from "../api/envelope.ts";
import { checkAccepts, sendJson } from "./answer.ts";
import { type Caller, identify } from "./credentials.ts";
import { HttpError } from "./http-error.ts";
import { Listing } from "./listing.ts";
import type { ContentSet } from "./loaded-set.ts";
import { lookUpCustomFields, lookUpDestinations } from "./lookups.ts";
import { openApi } from "./openapi.ts";
import { type PageBounds, parsePage, parseView, type ViewRequest } from "./query.ts";
import { ConcurrencyLimit, createRateLimit, type RateLimitSpec } from "./rate-limit.ts";
import { BASIC_VIEW } from "./views/basic.ts";
import { dynamicView } from "./views/dynamic.ts";
import { FULL_VIEW } from "./views/full.ts";
import { itemOf, renderView, type ViewColumn } from "./views/view.ts";

export interface AppOptions {
  readonly set: ContentSet;
  readonly bounds: PageBounds;
  /** Of each token. */
  readonly rateLimit: RateLimitSpec | undefined;
  /** Requests at the same time for each token. */
  readonly maxConcurrent: number | undefined;
  /** Every answer is held back for so long. */
  readonly latencyMs: number;
  readonly logger: FastifyBaseLogger | false;
  readonly now: () => number;
}

/** The routes of the read interface, not yet listening. */
export function buildApp(options: AppOptions): FastifyInstance {
  const app = fastify({
    ...(options.logger && { loggerInstance: options.logger }),
    // Every refusal has the same body, the framework's too.
    frameworkErrors: (_error, _request, reply) => {
      refuse(reply, new HttpError(400, "The address cannot be decoded."));
    },
    clientErrorHandler: refuseConnection,
    // Slugs are as long as titles are.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 8192 },
  });
  addBodies(app);
  addHooks(app, options.now);
  addRoutes(app, options);
  return app;
}

/** The only bodies are forms, for the lookups. */
function addBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string" },
    async (_request: FastifyRequest, body: string) => new URLSearchParams(body),
  );
}

function addHooks(app: FastifyInstance, now: () => number): void {
  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
  });
  app.addHook("onRequest", async (request) => checkAccepts(request.headers.accept));
  app.addHook("onSend", async (_request, reply) => {
    reply.header("date", new Date(now()).toUTCString());
    // A connection that is kept alive would keep the service from closing.
    if (closing) reply.header("connection", "close");
  });
  app.setErrorHandler((thrown, request, reply) => refuse(reply, asHttpError(thrown, request)));
  app.setNotFoundHandler(() => {
    throw new HttpError(404, "There is nothing at this address; /openapi.json describes what there is.");
  });
}

function addRoutes(app: FastifyInstance, options: AppOptions): void {
  const { set, bounds } = options;
  const listing = new Listing(set);
  app.decorateRequest("caller", null);
  const admit = admission(options);

  route(app, "/api/v1/content", ["GET"], admit, async (request) => {
    const query = queryOf(request);
    const view = viewOf(parseView(query), false);
    const { actor } = request.getDecorator<Caller>("caller");
    const { positions, pagination } = listing.page(parsePage(query, bounds), actor);
    const documents = await set.documents.read(positions);
    const items = documents.map((document) => renderView(view, itemOf(document, set, actor)));
    return listBody(items, pagination);
  });

  route(app, "/api/v1/content/:id", ["GET"], admit, async (request) => {
    const view = viewOf(parseView(queryOf(request)), true);
    const { actor } = request.getDecorator<Caller>("caller");
    const position = listing.find(pathId(request), actor);
    const [document] = position === undefined ? [] : await set.documents.read([position]);
    if (document === undefined) throw new HttpError(404, "There is no content item with this ID or slug.");
    return `{"response":${renderView(view, itemOf(document, set, actor))}}`;
  });

  route(app, "/api/v1/destinations", ["GET", "POST"], admit, async (request) =>
    JSON.stringify(lookUpDestinations(set, parametersOf(request))),
  );
  route(app, "/api/v1/custom_fields_reference", ["GET", "POST"], admit, async (request) =>
    JSON.stringify(lookUpCustomFields(set, parametersOf(request))),
  );
  route(app, "/openapi.json", ["GET"], undefined, async (request) =>
    JSON.stringify(openApi(`${request.protocol}://${request.host}`, bounds)),
  );
}

type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Lets a request in whose token is known and within its limits. */
function admission({ set, rateLimit, maxConcurrent, latencyMs, now }: AppOptions): Admit {
  const rate = rateLimit === undefined ? undefined : createRateLimit(rateLimit, now);
  const concurrency = maxConcurrent === undefined ? undefined : new ConcurrencyLimit(maxConcurrent);
  return async (request, reply) => {
    const caller = identify(request.headers.authorization, set);
    if (concurrency !== undefined) {
      concurrency.enter(caller.token);
      reply.raw.once("close", () => concurrency.leave(caller.token));
    }
    rate?.take(caller.token);
    if (latencyMs > 0) await delay(latencyMs);
    request.setDecorator<Caller>("caller", caller);
  };
}

/** One address: its methods, whoever may use them, the JSON that it answers, and 405 for every other method. */
function route(
  app: FastifyInstance,
  url: string,
  methods: readonly ("GET" | "POST")[],
  admit: Admit | undefined,
  answer: (request: FastifyRequest) => Promise<string | Buffer>,
): void {
  const admission = admit === undefined ? {} : { onRequest: admit };
  app.route({
    method: [...methods],
    url,
    ...admission,
    handler: async (request, reply) => sendJson(request, reply, await answer(request)),
  });
  const allowed = ["GET", "HEAD", "POST"].filter(
    (name) => name === "HEAD" || methods.some((m) => m === name),
  );
  const refuseMethod = async () => {
    throw new HttpError(405, "This interface is for reading; the address does not answer this method.", {
      allow: allowed.join(", "),
    });
  };
  const others = app.supportedMethods.filter((method) => !allowed.includes(method));
  app.route({ method: others, url, onRequest: refuseMethod, handler: refuseMethod });
}

/** Encoded item by item: one item with letters beyond Latin-1 does not make the whole page costly to encode. */
function listBody(items: readonly string[], pagination: Pagination): Buffer {
  const encoded = items.map((item, index) => Buffer.from(index === 0 ? item : `,${item}`));
  const end = `],"count":${items.length},"pagination":${JSON.stringify(pagination)}}`;
  return Buffer.concat([Buffer.from('{"response":['), ...encoded, Buffer.from(end)]);
}

function viewOf({ detail, columns, gallery }: ViewRequest, singleItem: boolean): readonly ViewColumn[] {
  if (detail === "basic") return BASIC_VIEW;
  if (detail === "full") return FULL_VIEW;
  return dynamicView({ columns, gallery, singleItem });
}

function queryOf(request: FastifyRequest): URLSearchParams {
  const [, query = ""] = request.url.split("?", 2);
  return new URLSearchParams(query);
}

/** Parameters of a lookup: the query's, and the form's where one was sent. */
function parametersOf(request: FastifyRequest): URLSearchParams {
  const form = request.body instanceof URLSearchParams ? [...request.body] : [];
  return new URLSearchParams([...queryOf(request), ...form]);
}

function pathId({ params }: FastifyRequest): string {
  const id = typeof params === "object" && params !== null && "id" in params ? params.id : undefined;
  return typeof id === "string" ? id : "";
}

function refuse(reply: FastifyReply, { status, headers, message }: HttpError): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .header("content-type", "application/json; charset=utf-8")
    .send(JSON.stringify({ error: message }));
}

/** What is no HTTP has no request to answer: the refusal goes to the connection, which ends. */
function refuseConnection(error: ConnectionError, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, sentence] = CONNECTION_REFUSALS[error.code] ?? [
    "400 Bad Request",
    "This is not valid HTTP.",
  ];
  const body = JSON.stringify({ error: sentence });
  const head = `content-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
}

const CONNECTION_REFUSALS: Readonly<Record<string, readonly [status: string, sentence: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request took too long to arrive."],
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The headers are too large."],
};

function asHttpError(thrown: unknown, request: FastifyRequest): HttpError {
  if (thrown instanceof HttpError) return thrown;
  const status = thrown instanceof Error && "statusCode" in thrown ? thrown.statusCode : 500;
  if (typeof status === "number" && status >= 400 && status < 500) {
    return new HttpError(status, REFUSALS[status] ?? "The request cannot be read.");
  }
  request.log.error(thrown, "a request failed");
  return new HttpError(500, "The service failed to answer; its log says why.");
}

/** Refusals of the framework, in our words. */
const REFUSALS: Readonly<Record<number, string>> = {
  413: "The body is too large.",
  415: "Send the parameters in the query, or as form data (application/x-www-form-urlencoded).",
};
