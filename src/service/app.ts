/** The routes of the read interface, and what they answer. */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { z } from "zod";
import { customFieldDefinition } from "../api/custom-field.ts";
import { type Document, sortableInstant } from "./content-set.ts";
import { badRequest, HttpError } from "./http-error.ts";
import type { ContentSet } from "./load.ts";
import { type Actor, admission, canView, strangerOf } from "./permissions.ts";
import { parseNames, parsePage } from "./query.ts";
import { renderView, viewItem, viewOf } from "./views/item-views.ts";

interface AppConfig {
  readonly set: ContentSet;
  readonly maxPerPage: number;
  /** Requests a second for each token. */
  readonly rateLimit: number | undefined;
  /** Delay of every response. */
  readonly latencyMs: number;
  /** Takes what was thrown where the service failed to answer. */
  readonly onFailure: (thrown: unknown) => void;
  readonly now: () => number;
}

/** A request that a route answers. */
interface RouteRequest {
  readonly query: URLSearchParams;
  /** The query, and the form if one was sent. */
  readonly parameters: URLSearchParams;
  /** Last segment of the path, decoded. */
  readonly id: string;
  readonly actor: Actor;
  readonly host: string | undefined;
}

interface Route {
  readonly methods: readonly ("GET" | "POST")[];
  /** Needs no credentials. */
  readonly isOpen?: true;
  /** Returns JSON text. */
  readonly answer: (request: RouteRequest) => string;
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Longest time in which a request must arrive, with its body. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than clients keep a connection: one that the service closes may be in use again. */
const KEEP_ALIVE_MS = 72_000;
/** Longest path in characters. Slugs are as long as titles. */
const PATH_LIMIT = 8192;
/** Largest form in bytes. */
const FORM_LIMIT = 2 ** 20;

/** Builds the service; it does not listen yet. */
export function buildServer(config: AppConfig): Server {
  const { set, latencyMs, now, onFailure } = config;
  const routes = routesOf(config);
  const actorOf = admission(set, config.rateLimit, now);
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    async (request, response) => {
      const { status, headers, body } = await replyTo(request, routes, actorOf).catch((thrown: unknown) => {
        if (thrown instanceof HttpError) return refusal(thrown);
        if (request.errored !== null) return refusal(badRequest("The request did not arrive."));
        onFailure(thrown);
        return refusal(new HttpError(500, "The service failed to answer; its log says why."));
      });
      await holdBack(response, latencyMs);
      response.writeHead(status, {
        ...headers,
        "content-type": "application/json; charset=utf-8",
        "content-length": body.length,
        date: new Date(now()).toUTCString(),
        // A kept connection would keep the service from closing.
        ...(!server.listening && { connection: "close" }),
      });
      response.end(body);
    },
  );
  return server;
}

/** A type in `Accept` that JSON is of. Weights are not read. */
const JSON_TYPE = /^\s*$|application\/(json|\*)|\*\/\*/i;

async function replyTo(
  request: IncomingMessage,
  routes: ReadonlyMap<string, Route>,
  actorOf: ReturnType<typeof admission>,
): Promise<Reply> {
  const { url = "", method = "", headers } = request;
  if (headers.accept && !JSON_TYPE.test(headers.accept))
    throw new HttpError(406, "This service answers in JSON only: accept application/json.");
  const [, path = "", search = ""] = /^([^?]*)\??(.*)$/s.exec(url) ?? [];
  const segments = segmentsOf(path);
  const id = segments.at(-1) ?? "";
  const route = routes.get(segments.join("/")) ?? routes.get([...segments.slice(0, -1), ANY_ID].join("/"));
  if (route === undefined)
    throw new HttpError(404, "There is nothing at this address; /openapi.json describes what there is.");
  const allowed: readonly string[] = ["HEAD", ...route.methods];
  if (!allowed.includes(method)) {
    const sentence = "This interface is for reading; the address does not answer this method.";
    throw new HttpError(405, sentence, { allow: allowed.join(", ") });
  }
  const actor = route.isOpen ? strangerOf("") : actorOf(headers.authorization);
  const query = new URLSearchParams(search);
  const parameters = new URLSearchParams([...query, ...(await readForm(request))]);
  return jsonReply(headers, route.answer({ query, parameters, id, actor, host: headers.host }));
}

/** Decoded segments of a path. An ID with a slash in it is one segment. */
function segmentsOf(path: string): string[] {
  if (path.length > PATH_LIMIT) throw new HttpError(414, "The address is too long.");
  try {
    return path.replace(/\/$/, "").split("/").map(decodeURIComponent);
  } catch {
    throw badRequest("The address cannot be decoded.");
  }
}

const FORMS_ONLY =
  "Send the parameters in the query, or as uncompressed form data (application/x-www-form-urlencoded).";

/** Reads the form of a lookup; no other bodies are accepted. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  const { headers } = request;
  const length = headers["content-length"] ?? "0";
  if (length === "0" && headers["transfer-encoding"] === undefined) return new URLSearchParams();
  const isForm = /^application\/x-www-form-urlencoded *(;|$)/i.test(headers["content-type"] ?? "");
  if (!isForm || (headers["content-encoding"] ?? "identity") !== "identity")
    throw new HttpError(415, FORMS_ONLY);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > FORM_LIMIT) throw new HttpError(413, "The body is too large.", { connection: "close" });
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

/** Fields of a definition that the contract declares, in its order. */
const shownDefinition = z.object(customFieldDefinition.shape);

/** In place of a segment that is an ID. */
const ANY_ID = ":id";

/** The routes, by their paths. */
function routesOf({ set, maxPerPage }: AppConfig): ReadonlyMap<string, Route> {
  const orderOf = listing(set);
  const description = readFileSync(new URL("openapi.json", import.meta.url), "utf8")
    .trim()
    .slice(1);
  return new Map<string, Route>([
    [
      "/api/v1/content",
      {
        methods: ["GET"],
        answer: ({ query, actor }) => {
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
        },
      },
    ],
    [
      `/api/v1/content/${ANY_ID}`,
      {
        methods: ["GET"],
        answer: ({ query, actor, id }) => {
          const view = viewOf(query, true);
          const document = set.find(id);
          if (document === undefined || !canView(actor, document))
            throw new HttpError(404, "There is no content item with this ID or slug.");
          return `{"response":${renderView(view, viewItem(document, set, actor))}}`;
        },
      },
    ],
    [
      "/api/v1/destinations",
      {
        methods: ["GET", "POST"],
        // Names are compared exactly, and so is the platform if one is given.
        answer: ({ parameters }) => {
          const names = new Set(parseNames(parameters));
          const wanted = parameters.get("platform");
          const isFound = ({ identification, platform }: ContentSet["destinations"][number]) =>
            names.has(identification) && (wanted === null || platform === wanted);
          return JSON.stringify(set.destinations.filter(isFound));
        },
      },
    ],
    [
      "/api/v1/custom_fields_reference",
      {
        methods: ["GET", "POST"],
        answer: ({ parameters }) => {
          const names = new Set(parseNames(parameters));
          const found = set.fields.all.filter(({ definition }) => names.has(definition.name));
          return JSON.stringify(found.map(({ definition }) => shownDefinition.parse(definition)));
        },
      },
    ],
    [
      "/openapi.json",
      {
        methods: ["GET"],
        isOpen: true,
        // The file is written by a test from the contract; the URL of the request is added here.
        answer: ({ host }) => {
          const url = host === undefined ? "/" : `http://${host}`;
          return `{"servers":${JSON.stringify([{ url }])},${description}`;
        },
      },
    ],
  ]);
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
async function holdBack(response: ServerResponse, latencyMs: number): Promise<void> {
  if (latencyMs === 0 || response.destroyed) return;
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once("close", leave);
  await delay(latencyMs, undefined, { signal: gone.signal }).catch(() => {});
  response.off("close", leave);
}

const compress = promisify(gzip);

/** Smaller bodies are not worth compressing. */
const GZIP_FROM_BYTES = 1024;

/** Compresses JSON if the client accepts gzip as the client of this program does, and the body is large enough. */
async function jsonReply(headers: IncomingMessage["headers"], json: string): Promise<Reply> {
  const body = Buffer.from(json);
  const plain = { status: 200, headers: { vary: "accept-encoding" }, body };
  const accepted = String(headers["accept-encoding"] ?? "").split(/ *, */);
  if (body.length < GZIP_FROM_BYTES || !accepted.includes("gzip")) return plain;
  // Level 1: on loopback, a smaller body is not worth more time.
  const compressed = await compress(body, { level: constants.Z_BEST_SPEED });
  return { ...plain, headers: { ...plain.headers, "content-encoding": "gzip" }, body: compressed };
}

function refusal({ status, headers, message }: HttpError): Reply {
  return { status, headers, body: Buffer.from(JSON.stringify({ error: message })) };
}
