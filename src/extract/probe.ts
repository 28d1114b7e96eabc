/** Small requests that a person waits for: does the service answer, and what does it have? */
import type { Pagination } from "../api/envelope.ts";
import { isObject } from "../common/json.ts";
import type { HttpClient, HttpResponse } from "./http/client.ts";
import { decodeBytes } from "./http/decode.ts";
import { type ListMode, listRequest } from "./http/request.ts";
import { readList } from "./pages/list-page.ts";
import { isUnreadablePage } from "./passes/page-reader.ts";

/** Name of a field at the service to its name in the specification. */
type FieldAliases = Readonly<Record<string, string>>;

/**
 * Requests a page of one item, or the next page if that one cannot be read. Returns the number of items that the token may
 * read, and the instance as the first one names it; `null` if there is none. Throws what the client throws.
 */
export async function probeService(
  client: Pick<HttpClient, "readAs">,
  aliases: FieldAliases,
  signal: AbortSignal,
) {
  const nameAtService = namesAtService(aliases);
  const columns = ["id", "newsroom_id", "instance"].map(nameAtService);
  const first = await readPage(client, { columns }, signal).catch((thrown: unknown) => {
    if (isUnreadablePage(thrown)) return readPage(client, { columns, page: 2 }, signal);
    throw thrown;
  });
  const { pagination, documents, response } = first;
  return { items: pagination.count, instanceId: instanceIdIn(documents[0], nameAtService), response };
}

/**
 * Names of the custom fields of the first 25 items, or of a smaller page; none if their page cannot be read. Throws what the client throws
 * otherwise.
 */
export async function probeFieldNames(
  client: Pick<HttpClient, "readAs">,
  perPage: number | "auto",
  signal: AbortSignal,
): Promise<string[]> {
  const most = perPage === "auto" ? 25 : Math.min(25, perPage);
  try {
    const { documents } = await readPage(client, { mode: "full", perPage: most }, signal);
    return documents.flatMap(fieldNamesIn);
  } catch (thrown) {
    if (!isUnreadablePage(thrown)) throw thrown;
    return [];
  }
}

/** Requests the ID and times of one item. Throws what the client throws. */
export async function probeBasic(client: Pick<HttpClient, "readAs">, signal: AbortSignal): Promise<void> {
  await readPage(client, { mode: "basic" }, signal);
}

const SEARCH_MS = 15_000;

/**
 * Names of destinations that items were published to, for hints: the service finds a destination only by its name. Empty
 * if the search fails or takes more than 15 seconds.
 */
export async function probeDestinationNames(
  client: Pick<HttpClient, "readAs">,
  aliases: FieldAliases,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const late = AbortSignal.timeout(SEARCH_MS);
    return await readDestinationNames(client, aliases, AbortSignal.any([signal, late]));
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

/** Pages that are read for names of destinations, spread evenly because similar items lie side by side. */
const MAX_PAGES = 10;

async function readDestinationNames(
  client: Pick<HttpClient, "readAs">,
  aliases: FieldAliases,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const nameAtService = namesAtService(aliases);
  const [one, several] = [nameAtService("publish_destination"), nameAtService("published_urls")];
  const columns = ["id", one, several];
  const first = await readPage(client, { columns, perPage: 100 }, signal);
  const { per_page: perPage, pages } = first.pagination;
  const documents = [...first.documents];
  const count = Math.min(MAX_PAGES, pages);
  for (let i = 1; i < count; i++) {
    const page = 1 + Math.round((i * (pages - 1)) / (count - 1));
    documents.push(...(await readPage(client, { columns, page, perPage }, signal)).documents);
  }
  const names = documents.filter(isObject).flatMap((document) => {
    const urls: unknown = document[several];
    const sites = (Array.isArray(urls) ? urls : []).map((url) => isObject(url) && url.external_site_name);
    return [document[one], ...sites].filter((name) => typeof name === "string");
  });
  return [...new Set(names)].filter((name) => name.trim() !== "");
}

async function readPage(
  client: Pick<HttpClient, "readAs">,
  {
    mode = "dynamic",
    page = 1,
    perPage = 1,
    columns = [],
  }: { mode?: ListMode; page?: number; perPage?: number; columns?: readonly string[] },
  signal: AbortSignal,
): Promise<{ pagination: Pagination; documents: readonly unknown[]; response: HttpResponse }> {
  const request = listRequest({ mode, page, perPage, columns, gallery: false });
  const { response, value } = await client.readAs(request, signal, (answer) => {
    const { pagination, documents } = readList(decodeBytes(answer));
    return { pagination, documents: Array.from(documents, ({ document }) => document) };
  });
  return { ...value, response };
}

function namesAtService(aliases: FieldAliases): (name: string) => string {
  const byName = new Map(Object.entries(aliases).map(([there, here]) => [here, there]));
  return (name) => byName.get(name) ?? name;
}

function fieldNamesIn(document: unknown): string[] {
  const fields: unknown = isObject(document) ? document.custom_fields : undefined;
  const names = (Array.isArray(fields) ? fields : []).map((field) => isObject(field) && field.name);
  return names.filter((name) => typeof name === "string");
}

function instanceIdIn(document: unknown, nameAtService: (name: string) => string): string | null {
  if (!isObject(document)) return null;
  const field = (name: string) => Reflect.get(document, nameAtService(name));
  const instance = field("instance");
  const ids = [field("newsroom_id"), isObject(instance) ? Reflect.get(instance, "id") : undefined];
  return ids.find((id) => typeof id === "string") ?? null;
}
