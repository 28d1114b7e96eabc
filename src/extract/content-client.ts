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
import { fitting } from "./http/answer-form.ts";
import { BODY_LIMITS, HttpClient, TIMEOUTS } from "./http/client.ts";
import { decodeBytes } from "./http/decode.ts";
import { readItem } from "./http/json-body.ts";
import { itemRequest, type ListMode, listRequest } from "./http/request.ts";
import { RetryLoop } from "./http/retry.ts";
import { RETRY_LIMITS } from "./http/retry-rules.ts";
import { readServiceUrl, type ServiceUrl } from "./http/service-url.ts";
import {
  type CustomFieldLookup,
  createLookups,
  type DestinationLookup,
  type LookupMethodSetting,
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
  /** Address of the service: https, or http on this machine. */
  readonly url: string;
  /** API token. It goes to that host only, and into no error. */
  readonly token: string | Secret;
  /** Connections at the same time; 4 unless given. */
  readonly connections?: number;
  /** Address of a proxy, `http://user:password@proxy.example.com:3128`, for an https address; variables are not looked at. */
  readonly proxy?: string;
  readonly lookupMethod?: LookupMethodSetting;
  readonly log?: Log;
}

export interface ViewSpec<Mode extends ListMode> {
  readonly mode: Mode;
  /** Of the dynamic set; all of the specification unless given. */
  readonly columns?: readonly string[];
  /** The gallery-only fields too; true unless given. */
  readonly gallery?: boolean;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

export interface PageSpec<Mode extends ListMode> extends ViewSpec<Mode> {
  /** From 1. */
  readonly page: number;
  /** Items a page, 100 unless given; the service may give fewer, and says so in `pagination.per_page`. */
  readonly perPage?: number;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pagination: Pagination;
}

/**
 * The read interface of a content service. Every answer is checked against the specification; fields that it does not
 * know are kept. Requests that fail for a passing reason are made again. A service that asks for fewer requests gets fewer, for as
 * long as it does: pass a `signal` to wait no longer.
 *
 *     const client = createClient({ url: "https://content.example.com", token });
 *     const { items, pagination } = await client.listPage({ mode: "full", page: 1 });
 *     await client.close();
 *
 * Every method throws a `WarehouseError` that says what to do.
 */
export interface ContentClient {
  listPage<Mode extends ListMode>(page: PageSpec<Mode>): Promise<Page<ItemOf[Mode]>>;
  /** One item with the fields that only single-item requests give; `null` where there is none of that ID (any more). */
  item<Mode extends ListMode>(id: string, view: ViewSpec<Mode>): Promise<ItemOf[Mode] | null>;
  /** Destinations by name and platform (`External` unless given), compared exactly. */
  destinations(wanted: readonly DestinationSpec[], signal?: AbortSignal): Promise<DestinationLookup>;
  /** Custom field definitions with their mappings, by name, compared exactly. */
  customFields(names: Iterable<string>, signal?: AbortSignal): Promise<CustomFieldLookup>;
  close(): Promise<void>;
}

export interface DestinationSpec {
  readonly name: string;
  readonly platform?: string;
}

export function createClient(spec: ClientSpec): ContentClient {
  const log = spec.log ?? silentLog;
  const { connections = 4 } = spec;
  const url = serviceUrl(spec.url);
  const proxy = proxyOf(spec, url);
  const settingNames = { url: "`url` of createClient", token: "`token` of createClient" };
  const http = new HttpClient({
    url,
    token: typeof spec.token === "string" ? new Secret(spec.token) : spec.token,
    settingNames,
    proxy,
    connections,
    timeouts: TIMEOUTS,
    bodyLimits: BODY_LIMITS,
    clock: systemClock,
    log,
    retry: new RetryLoop({
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
    }),
    lookup: null,
    onAttempt: () => {},
  });
  const lookups = createLookups(http, spec.lookupMethod ?? "auto");
  return {
    async listPage({ signal = AbortSignal.any([]), ...page }) {
      const { mode, perPage = 100, page: number } = page;
      const request = listRequest({ ...viewOf(page), page: number, perPage });
      const { value } = await http.readAs(request, signal, (response) => {
        const { pagination, documents } = readList(decodeBytes(response));
        return { pagination, documents: Array.from(documents, ({ document }) => document) };
      });
      const items = value.documents.map((document, i) => fitting(ITEMS[mode], document, misfit(`item ${i}`)));
      return { items, pagination: value.pagination };
    },
    async item(id, { signal = AbortSignal.any([]), ...view }) {
      const { value } = await http.readAs(itemRequest({ ...viewOf(view), id }), signal, (response) =>
        response.status === 200 ? readItem(decodeBytes(response).toString()) : null,
      );
      return value === null ? null : fitting(ITEMS[view.mode], value, misfit("the item"));
    },
    async destinations(wanted, signal = AbortSignal.any([])) {
      const named = wanted.map(({ name, platform = DEFAULT_PLATFORM }) => ({ name, platform }));
      const found = await lookups.destinations(named, signal);
      for (const each of found.destinations) fitting(destination, each, misfit("a destination"));
      return found;
    },
    async customFields(names, signal = AbortSignal.any([])) {
      const found = await lookups.customFields(names, signal);
      for (const each of found.definitions) fitting(customFieldDefinition, each, misfit("a definition"));
      return found;
    },
    close: () => http.close(),
  };
}

function serviceUrl(text: string): ServiceUrl {
  const result = readServiceUrl(text);
  if ("url" in result) return result.url;
  throw new WarehouseError("config.invalid", `The address of the service: ${result.problem}.`);
}

function proxyOf({ proxy: text }: ClientSpec, { origin }: ServiceUrl): HttpProxy | null {
  if (text === undefined) return null;
  const proxy = readProxy(text, "`proxy` of createClient");
  if (proxy === null) throw new WarehouseError("config.invalid", `\`proxy\`: expected ${PROXY_ADDRESS}.`);
  if (origin.startsWith("https:")) return proxy;
  throw new WarehouseError(
    "config.invalid",
    "`proxy`: an http:// address is reached directly; leave it out.",
  );
}

function viewOf({
  mode,
  columns = DYNAMIC_COLUMN_NAMES,
  gallery = true,
}: Omit<ViewSpec<ListMode>, "signal">) {
  return { mode, columns, gallery };
}

function misfit(what: string): string {
  return `The service sent ${what} in a form that its specification does not have`;
}
