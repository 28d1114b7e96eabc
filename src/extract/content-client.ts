/** The public client of the read interface. */
import type { z } from "zod";
import { type BasicItem, basicItem } from "../api/basic.ts";
import { customFieldDefinition } from "../api/custom-field.ts";
import { DEFAULT_PLATFORM, destination } from "../api/destination.ts";
import { DYNAMIC_COLUMN_NAMES, type DynamicItem, dynamicItem } from "../api/dynamic.ts";
import type { Pagination } from "../api/envelope.ts";
import { type FullItem, fullItem } from "../api/full.ts";
import { systemClock } from "../common/clock.ts";
import { WarehouseError } from "../common/errors.ts";
import { type Log, silentLog } from "../common/log.ts";
import { type HttpProxy, PROXY_ADDRESS, reachedBy, readProxy } from "../common/proxy.ts";
import { Secret } from "../common/secret.ts";
import { BODY_LIMITS, HttpClient, TIMEOUTS } from "./http/client.ts";
import { decodeBytes } from "./http/decode.ts";
import { firstProblem, readItem } from "./http/json-body.ts";
import { itemRequest, type ListMode, listRequest } from "./http/request.ts";
import { RetryLoop } from "./http/retry.ts";
import { RETRY_LIMITS } from "./http/retry-rules.ts";
import { readServiceUrl, type ServiceUrl } from "./http/service-url.ts";
import {
  type CustomFieldLookup,
  type DestinationLookup,
  type LookupMethodSetting,
  Lookups,
} from "./lookups.ts";
import { readList } from "./pages/list-page.ts";

/** The item of each mode. */
export interface ItemOf {
  dynamic: DynamicItem;
  full: FullItem;
  basic: BasicItem;
}

const ITEMS: { readonly [Mode in ListMode]: z.ZodType<ItemOf[Mode]> } = {
  dynamic: dynamicItem,
  full: fullItem,
  basic: basicItem,
};

export interface ClientSpec {
  /** URL of the service: https, or http on this machine. */
  readonly url: string;
  /** API token. It is sent to that host only, and is in no error. */
  readonly token: string | Secret;
  /** Connections at the same time; 4 unless given. */
  readonly connections?: number;
  /** URL of a proxy for an https URL, `http://user:password@proxy.example.com:3128`. Environment variables are ignored. */
  readonly proxy?: string;
  readonly lookupMethod?: LookupMethodSetting;
  readonly log?: Log;
}

export interface ViewSpec<Mode extends ListMode> {
  readonly mode: Mode;
  /** Columns of the dynamic set; all of the specification unless given. */
  readonly columns?: readonly string[];
  /** Whether gallery-only fields are included; true unless given. */
  readonly gallery?: boolean;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

export interface PageSpec<Mode extends ListMode> extends ViewSpec<Mode> {
  /** From 1. */
  readonly page: number;
  /** Items a page, 100 unless given. The service may send fewer, and says so in `pagination.per_page`. */
  readonly perPage?: number;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pagination: Pagination;
}

/**
 * The read interface of a content service. Every response is checked against the specification; unknown fields are kept.
 * Requests that fail for a passing reason are retried. If the service asks for fewer requests, the client slows down for
 * as long as it does: pass a `signal` to limit the wait.
 *
 *     const client = createClient({ url: "https://content.example.com", token });
 *     const { items, pagination } = await client.listPage({ mode: "full", page: 1 });
 *     await client.close();
 *
 * Every method throws a `WarehouseError` that says what to do.
 */
export interface ContentClient {
  listPage<Mode extends ListMode>(page: PageSpec<Mode>): Promise<Page<ItemOf[Mode]>>;
  /** One item with the fields that only single-item requests give; `null` if no item has the ID (any more). */
  item<Mode extends ListMode>(id: string, view: ViewSpec<Mode>): Promise<ItemOf[Mode] | null>;
  /** Destinations by name and platform (`External` unless given), compared exactly. */
  destinations(names: readonly DestinationSpec[], signal?: AbortSignal): Promise<DestinationLookup>;
  /** Custom field definitions with their mappings, by name, compared exactly. */
  customFields(names: Iterable<string>, signal?: AbortSignal): Promise<CustomFieldLookup>;
  close(): Promise<void>;
}

export interface DestinationSpec {
  readonly name: string;
  readonly platform?: string;
}

export function createClient(spec: ClientSpec): ContentClient {
  const http = openHttp(spec);
  const lookups = new Lookups(http, spec.lookupMethod ?? "auto");
  return {
    async listPage({ signal = AbortSignal.any([]), ...page }) {
      const { mode, perPage = 100, page: number } = page;
      const request = listRequest({ ...viewOf(page), page: number, perPage });
      const { value } = await http.readAs(request, signal, (response) => {
        const { pagination, documents } = readList(decodeBytes(response));
        return { pagination, documents: Array.from(documents, ({ document }) => document) };
      });
      const items = value.documents.map((document, i) => checked(ITEMS[mode], document, `item ${i}`));
      return { items, pagination: value.pagination };
    },
    async item(id, { signal = AbortSignal.any([]), ...view }) {
      const { value } = await http.readAs(itemRequest({ ...viewOf(view), id }), signal, (response) =>
        response.status === 200 ? readItem(decodeBytes(response).toString()) : null,
      );
      return value === null ? null : checked(ITEMS[view.mode], value, "the item");
    },
    async destinations(names, signal = AbortSignal.any([])) {
      const specs = names.map(({ name, platform = DEFAULT_PLATFORM }) => ({ name, platform }));
      const found = await lookups.destinations(specs, signal);
      for (const each of found.destinations) checked(destination, each, "a destination");
      return found;
    },
    async customFields(names, signal = AbortSignal.any([])) {
      const found = await lookups.customFields(names, signal);
      for (const each of found.definitions) checked(customFieldDefinition, each, "a definition");
      return found;
    },
    close: () => http.close(),
  };
}

function openHttp({ connections = 4, log = silentLog, ...spec }: ClientSpec): HttpClient {
  const read = readServiceUrl(spec.url);
  if ("problem" in read)
    throw new WarehouseError("config.invalid", `The URL of the service: ${read.problem}.`);
  const { url } = read;
  const proxy = proxyOf(spec.proxy, url);
  const settingNames = { url: "`url` of createClient", token: "`token` of createClient" };
  const retry = new RetryLoop({
    connections,
    maxPerSecond: null,
    startPerSecond: null,
    outageMinutes: 0,
    isKnown: false,
    host: reachedBy(url.host, proxy),
    settingNames,
    limits: RETRY_LIMITS,
    deadline: null,
    clock: systemClock,
    random: Math.random,
    log,
  });
  return new HttpClient({
    url,
    token: typeof spec.token === "string" ? new Secret(spec.token) : spec.token,
    settingNames,
    proxy,
    connections,
    timeouts: TIMEOUTS,
    bodyLimits: BODY_LIMITS,
    clock: systemClock,
    log,
    retry,
    lookup: null,
    onAttempt: () => {},
  });
}

function proxyOf(text: string | undefined, { origin }: ServiceUrl): HttpProxy | null {
  if (text === undefined) return null;
  const proxy = readProxy(text, "`proxy` of createClient");
  if (proxy === null) throw new WarehouseError("config.invalid", `\`proxy\`: expected ${PROXY_ADDRESS}.`);
  if (origin.startsWith("https:")) return proxy;
  const sentence = "`proxy`: an http:// URL is reached without a proxy; leave it out.";
  throw new WarehouseError("config.invalid", sentence);
}

function viewOf({
  mode,
  columns = DYNAMIC_COLUMN_NAMES,
  gallery = true,
}: Omit<ViewSpec<ListMode>, "signal">) {
  return { mode, columns, gallery };
}

/** The value as its schema has it. Throws `contract.drift` if it does not fit. */
function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new WarehouseError(
    "contract.drift",
    `The service sent ${what} that does not match the specification${firstProblem(result.error)}; a newer version of content-warehouse may know it.`,
  );
}
