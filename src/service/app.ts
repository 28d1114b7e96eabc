/** The routes of the read interface, and what they answer. */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import { z } from "zod";
import { customFieldDefinition } from "../api/custom-field.ts";
import { type Document, sortableInstant } from "./content-set.ts";
import { badRequest, HttpError } from "./http-error.ts";
import type { ContentSet } from "./load.ts";
import { type Actor, admission, canView } from "./permissions.ts";
import { parseNames, parsePage } from "./query.ts";
import { renderView, viewItem, viewOf } from "./views/item-views.ts";

interface AppConfig {
  readonly set: ContentSet;
  readonly maxPerPage: number;
  /** Requests a second for each token. */
  readonly rateLimit: number | undefined;
  /** Delay of every response. */
  readonly latencyMs: number;
  readonly logger: FastifyBaseLogger | false;
  readonly now: () => number;
}

/** Longest time in which a request must arrive, with its body. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Builds the service; it does not listen yet. */
export function buildApp(options: AppConfig): FastifyInstance {
  const app = fastify({
    ...(options.logger && { loggerInstance: options.logger }),
    requestTimeout: REQUEST_TIMEOUT_MS,
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

/** A type in `Accept` that JSON is of. Weights are not read. */
const JSON_TYPE = /^\s*$|application\/(json|\*)|\*\/\*/i;

function addHooks(app: FastifyInstance, { latencyMs, now }: AppConfig): void {
  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
  });
  app.addHook("onRequest", async ({ headers: { accept } }) => {
    if (accept && !JSON_TYPE.test(accept))
      throw new HttpError(406, "This service answers in JSON only: accept application/json.");
  });
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

/** Fields of a definition that the contract declares, in its order. */
const shownDefinition = z.object(customFieldDefinition.shape);

function addRoutes(app: FastifyInstance, options: AppConfig): void {
  const { set, maxPerPage } = options;
  const orderOf = listing(set);
  app.decorateRequest("actor", null);
  const actorOf = admission(set, options.rateLimit, options.now);
  const admit = async (request: FastifyRequest) =>
    request.setDecorator<Actor>("actor", actorOf(request.headers.authorization));

  route(app, "/api/v1/content", ["GET"], admit, (request) => {
    const query = queryOf(request);
    const actor = request.getDecorator<Actor>("actor");
    const view = viewOf(query, false);
    const wanted = parsePage(query, maxPerPage);
    const { page, perPage } = wanted;
    const order = orderOf(wanted, actor);
    const items = order
      .slice((page - 1) * perPage, page * perPage)
      .map((document) => renderView(view, viewItem(document, set, actor)));
    const count = order.length;
    const pages = Math.ceil(count / perPage);
    const pagination = {
      previous: page > 1 ? page - 1 : null,
      next: page < pages ? page + 1 : null,
      current: page,
      per_page: perPage,
      count,
      pages,
    };
    const response = `{"response":[${items.join(",")}],"count":${items.length}`;
    return `${response},"pagination":${JSON.stringify(pagination)}}`;
  });

  route(app, "/api/v1/content/:id", ["GET"], admit, (request) => {
    const view = viewOf(queryOf(request), true);
    const actor = request.getDecorator<Actor>("actor");
    const document = set.find((request.params as { readonly id: string }).id);
    if (document === undefined || !canView(actor, document))
      throw new HttpError(404, "There is no content item with this ID or slug.");
    return `{"response":${renderView(view, viewItem(document, set, actor))}}`;
  });

  // Names are compared exactly, and so is the platform if one is given.
  route(app, "/api/v1/destinations", ["GET", "POST"], admit, (request) => {
    const parameters = parametersOf(request);
    const names = new Set(parseNames(parameters));
    const wanted = parameters.get("platform");
    const isFound = ({ identification, platform }: ContentSet["destinations"][number]) =>
      names.has(identification) && (wanted === null || platform === wanted);
    return JSON.stringify(set.destinations.filter(isFound));
  });
  route(app, "/api/v1/custom_fields_reference", ["GET", "POST"], admit, (request) => {
    const names = new Set(parseNames(parametersOf(request)));
    const found = set.fields.all.filter(({ definition }) => names.has(definition.name));
    return JSON.stringify(found.map(({ definition }) => shownDefinition.parse(definition)));
  });
  // The file is written by a test from the contract; the URL of the request is added here.
  const description = readFileSync(new URL("openapi.json", import.meta.url), "utf8")
    .trim()
    .slice(1);
  route(app, "/openapi.json", ["GET"], undefined, ({ protocol, headers: { host } }) => {
    const url = host === undefined ? "/" : `${protocol}://${host}`;
    return `{"servers":${JSON.stringify([{ url }])},${description}`;
  });
}

/**
 * Returns the items that a user may see, in the order that a request asks for. Documents are in creation order, which also
 * decides between equal instants. Orders are cached, because the set does not change.
 */
function listing({ documents }: ContentSet) {
  const orders = new Map<string, readonly Document[]>();
  return (
    { sortField, descending }: Pick<ReturnType<typeof parsePage>, "sortField" | "descending">,
    actor: Actor,
  ): readonly Document[] => {
    const key = `${sortField} ${descending} ${actor.id}`;
    const known = orders.get(key);
    if (known !== undefined) return known;
    const [before, after] = descending ? [1, -1] : [-1, 1];
    const sorted = documents
      .filter((document) => canView(actor, document))
      .map((document) => ({ document, at: sortableInstant(document[sortField]) }))
      .sort((a, b) => (a.at < b.at ? before : a.at > b.at ? after : 0))
      .map(({ document }) => document);
    orders.set(key, sorted);
    return sorted;
  };
}

/** Delays a response, unless the client disconnects. */
async function holdBack({ raw }: FastifyReply, latencyMs: number): Promise<void> {
  if (latencyMs === 0 || raw.destroyed) return;
  const gone = new AbortController();
  const leave = () => gone.abort();
  raw.once("close", leave);
  await delay(latencyMs, undefined, { signal: gone.signal }).catch(() => {});
  raw.off("close", leave);
}

/** Adds a route that answers with JSON, and 405 for every other method: nothing can be written. */
function route(
  app: FastifyInstance,
  url: string,
  method: ("GET" | "POST")[],
  admit: ((request: FastifyRequest) => Promise<void>) | undefined,
  answer: (request: FastifyRequest) => string,
): void {
  app.route({
    method,
    url,
    ...(admit && { onRequest: admit }),
    handler: async (request, reply) => sendJson(request, reply, answer(request)),
  });
  const allowed: readonly string[] = ["HEAD", ...method];
  const refuseMethod = async () => {
    const sentence = "This interface is for reading; the address does not answer this method.";
    throw new HttpError(405, sentence, { allow: allowed.join(", ") });
  };
  const others = app.supportedMethods.filter((each) => !allowed.includes(each));
  app.route({ method: others, url, onRequest: refuseMethod, handler: refuseMethod });
}

const compress = promisify(gzip);

/** Smaller bodies are not worth compressing. */
const GZIP_FROM_BYTES = 1024;

/** Sends JSON, compressed if the client accepts gzip as the client of this program does, and the body is large enough. */
async function sendJson({ headers }: FastifyRequest, reply: FastifyReply, json: string): Promise<void> {
  const body = Buffer.from(json);
  reply.header("content-type", "application/json; charset=utf-8").header("vary", "accept-encoding");
  const accepted = String(headers["accept-encoding"] ?? "").split(/ *, */);
  if (body.length < GZIP_FROM_BYTES || !accepted.includes("gzip")) return reply.send(body);
  // Level 1: on loopback, a smaller body is not worth more time.
  const compressed = await compress(body, { level: constants.Z_BEST_SPEED });
  return reply.header("content-encoding", "gzip").send(compressed);
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

const FORMS_ONLY =
  "Send the parameters in the query, or as uncompressed form data (application/x-www-form-urlencoded).";

function asHttpError(thrown: unknown, request: FastifyRequest): HttpError {
  if (thrown instanceof HttpError) return thrown;
  const status = thrown instanceof Error && "statusCode" in thrown ? thrown.statusCode : 500;
  if (status === 413) return new HttpError(413, "The body is too large.");
  if (status === 415) return new HttpError(415, FORMS_ONLY);
  if (typeof status === "number" && status >= 400 && status < 500)
    return new HttpError(status, "The request cannot be read.");
  request.log.error(thrown, "a request failed");
  return new HttpError(500, "The service failed to answer; its log says why.");
}
