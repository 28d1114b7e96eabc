import { isObject } from "../common/json.ts";
import type { HttpClient, HttpResponse } from "./http/client.ts";
import { decodeBytes } from "./http/decode.ts";
import { type ListMode, listRequest } from "./http/request.ts";
import { SourceError } from "./http/source-error.ts";
import { readList } from "./pages/list-page.ts";
import { isUnreadablePage } from "./passes/page-reader.ts";

export type Probe = Awaited<ReturnType<typeof probeService>>;

/** Where an item names its instance: all that is asked for besides its ID. */
const COLUMNS = ["id", "newsroom_id", "instance"];

/**
 * Requests a page of one item; where it cannot be read, the next one. `aliases`: names of fields at the service to those of the specification. Throws what the
 * client throws.
 */
export async function probeService(
  client: Pick<HttpClient, "readAs">,
  aliases: Readonly<Record<string, string>>,
  signal: AbortSignal,
) {
  const atService = atServiceBy(aliases);
  const columns = COLUMNS.map(atService);
  const ask = async (page: number) => {
    const request = listRequest({ mode: "dynamic", page, perPage: 1, columns, gallery: false });
    return client.readAs(request, signal, look);
  };
  const look = (answer: HttpResponse) => {
    const { pagination, documents } = readList(decodeBytes(answer));
    const [first] = Array.from(documents, ({ document }) => document);
    return {
      /** Items that the token may read. */
      items: pagination.count,
      /** As the first item names it; null where there is no item, or it names none. */
      instanceId: instanceIdIn(first, atService),
    };
  };
  const { response, value } = await ask(1).catch(async (thrown: unknown) => {
    if (isUnreadablePage(thrown)) return ask(2);
    throw thrown;
  });
  return { ...value, response };
}

/** Items of which the custom fields are looked at. */
const ITEMS_OF_PROBE = 25;

/**
 * Names of the custom fields that the first items carry; where they cannot be read together, the first one, and where it
 * cannot either, none: a run makes it a reject. Throws what the client throws else.
 */
export async function probeFieldNames(
  client: Pick<HttpClient, "readAs">,
  { perPage, signal }: { readonly perPage: number | "auto"; readonly signal: AbortSignal },
): Promise<string[]> {
  const most = perPage === "auto" ? ITEMS_OF_PROBE : Math.min(ITEMS_OF_PROBE, perPage);
  for (const size of new Set([most, 1])) {
    try {
      return (await firstOf(client, "full", size, signal)).flatMap(fieldNamesIn);
    } catch (thrown) {
      if (!isUnreadablePage(thrown)) throw thrown;
    }
  }
  return [];
}

/** Requests the ID and times of one item. Throws what the client throws. */
export async function probeBasic(client: Pick<HttpClient, "readAs">, signal: AbortSignal): Promise<void> {
  await firstOf(client, "basic", 1, signal);
}

async function firstOf(
  client: Pick<HttpClient, "readAs">,
  mode: ListMode,
  perPage: number,
  signal: AbortSignal,
): Promise<unknown[]> {
  const request = listRequest({ mode, page: 1, perPage, columns: [], gallery: false });
  const { value } = await client.readAs(request, signal, (answer) =>
    Array.from(readList(decodeBytes(answer)).documents, ({ document }) => document),
  );
  return value;
}

/** Sizes of a page with few columns; a service that refuses the first may give the second. */
const PAGE_SIZES = [1000, 100] as const;
/** What items are is not spread evenly, so that pages are: all of few, and so many of more. */
const PAGES = 10;

/** Names of destinations that items were published to. The service lists none: it finds one by its name. Throws what the client throws. */
export async function probeDestinationNames(
  client: Pick<HttpClient, "readAs">,
  aliases: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string[]> {
  const atService = atServiceBy(aliases);
  const [one, several] = [atService("publish_destination"), atService("published_urls")];
  const columns = ["id", one, several];
  const looks = await lookAtPages(client, columns, signal, (documents) =>
    documents.filter(isObject).flatMap((document) => {
      const urls: unknown = document[several];
      const sites = (Array.isArray(urls) ? urls : []).map((url) => isObject(url) && url.external_site_name);
      return [document[one], ...sites].filter((name) => typeof name === "string" && name.trim() !== "");
    }),
  );
  return [...new Set(looks.flat())] as string[];
}

function atServiceBy(aliases: Readonly<Record<string, string>>) {
  const atService = new Map(Object.entries(aliases).map(([there, here]) => [here, there]));
  return (name: string) => atService.get(name) ?? name;
}

/** Reads some pages, evenly spread. */
async function lookAtPages<Look>(
  client: Pick<HttpClient, "readAs">,
  columns: readonly string[],
  signal: AbortSignal,
  lookAt: (documents: readonly unknown[]) => Look,
): Promise<readonly Look[]> {
  const ask = async (page: number, perPage: number) => {
    const request = listRequest({ mode: "dynamic", page, perPage, columns, gallery: false });
    const { value } = await client.readAs(request, signal, (answer) => {
      const { pagination, documents } = readList(decodeBytes(answer));
      return { pagination, look: lookAt(Array.from(documents, ({ document }) => document)) };
    });
    return value;
  };
  const [large, small] = PAGE_SIZES;
  const first = await ask(1, large).catch((thrown: unknown) => {
    signal.throwIfAborted();
    if (!(thrown instanceof SourceError)) throw thrown;
    return ask(1, small);
  });
  const { per_page: perPage, pages } = first.pagination;
  const looks = [first.look];
  const wanted = Math.min(PAGES, pages);
  for (let each = 1; each < wanted; each++) {
    const { look } = await ask(1 + Math.round((each * (pages - 1)) / (wanted - 1)), perPage);
    looks.push(look);
  }
  return looks;
}

function fieldNamesIn(document: unknown): string[] {
  const fields: unknown = isObject(document) ? document.custom_fields : undefined;
  const names = (Array.isArray(fields) ? fields : []).map((field) => isObject(field) && field.name);
  return names.filter((name) => typeof name === "string");
}

function instanceIdIn(document: unknown, atService: (name: string) => string): string | null {
  if (!isObject(document)) return null;
  const field = (name: string) => Reflect.get(document, atService(name));
  const instance = field("instance");
  const ids = [field("newsroom_id"), isObject(instance) ? Reflect.get(instance, "id") : undefined];
  return ids.find((id) => typeof id === "string") ?? null;
}
