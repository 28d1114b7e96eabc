/**
 * The bench service, in a process of its own: both listings of any length at next to no cost, lookups and single items.
 * Prints its address and a token. What it sends is rendered by the embedded service, when it is asked for first.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { request } from "undici";
import { createService } from "../../src/service/service.ts";
import { Pages, templateKey } from "./pages.ts";

/** As JSON in the first argument. */
export interface ServiceSettings {
  /** Folder of the content set whose documents are copied. */
  readonly template: string;
  /** Length of the listings. */
  readonly items: number;
  /** Where it listens; 0: anywhere. */
  readonly port: number;
}

const [, , argument = ""] = process.argv;
const settings: ServiceSettings = JSON.parse(argument);
const PER_PAGE = 1000;
const embedded = await createService({ data: settings.template, maxPerPage: PER_PAGE });
const [token = ""] = embedded.contentSet.tokens.keys();
const headers = { authorization: `Basic ${Buffer.from(`${token}:x`).toString("base64")}` };
const pages = new Map<string, Promise<Pages>>();
const singles = new Map<string, Promise<Buffer>>();

const server = createServer((message, response) => {
  answer(message, response).catch((thrown: unknown) => response.writeHead(500).end(String(thrown)));
});
server.listen(settings.port, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, token })}\n`);
});

async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(message.url ?? "/", embedded.url);
  const body = await bodyOf(url);
  response.writeHead(200, { "content-type": "application/json", "content-length": body.byteLength });
  response.end(body);
}

async function bodyOf(url: URL): Promise<Buffer> {
  const { pathname, searchParams } = url;
  if (pathname === "/api/v1/content") {
    const page = Number(searchParams.get("page"));
    const perPage = Number(searchParams.get("per_page"));
    for (const name of ["page", "per_page"]) searchParams.delete(name);
    return (await once(pages, searchParams.toString(), rendered)).page(page, perPage);
  }
  if (!pathname.startsWith("/api/v1/content/")) return ask(`${pathname}${url.search}`);
  const id = pathname.slice(pathname.lastIndexOf("/") + 1);
  const original = (await originals).get(templateKey(id)) ?? "";
  const single = await once(singles, `${original}${url.search}`, () =>
    ask(`/api/v1/content/${original}${url.search}`),
  );
  return Buffer.from(single.toString().replaceAll(original, id));
}

const originals = idsOf("detail=basic").then((ids) => new Map(ids.map((id) => [templateKey(id), id])));

async function idsOf(view: string): Promise<string[]> {
  return (await documents(view)).map(({ id }) => id);
}

async function rendered(view: string): Promise<Pages> {
  return new Pages(await documents(view), settings.items);
}

async function documents(view: string): Promise<{ id: string }[]> {
  const found: { id: string }[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const body = await ask(`/api/v1/content?${view}&per_page=100&page=${page}`);
    const { response, pagination } = JSON.parse(body.toString());
    found.push(...response);
    page = pagination.next;
  }
  return found;
}

async function ask(path: string): Promise<Buffer> {
  const { statusCode, body } = await request(embedded.url + path, { headers });
  const bytes = Buffer.from(await body.arrayBuffer());
  if (statusCode !== 200) throw new Error(`the embedded service answers ${statusCode}: ${bytes}`);
  return bytes;
}

function once<Value>(
  made: Map<string, Promise<Value>>,
  key: string,
  make: (key: string) => Promise<Value>,
): Promise<Value> {
  let value = made.get(key);
  if (value === undefined) {
    value = make(key);
    made.set(key, value);
  }
  return value;
}
