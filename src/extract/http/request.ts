/** The URL of the service, and the requests of its read interface as values: made here, sent by the HTTP client. */
import { invisibleClause } from "../../common/look-alike.ts";
import { printable } from "../../common/printable.ts";
import { SourceError } from "./source-error.ts";

export type ListMode = "dynamic" | "full" | "basic";
export type RequestMode = ListMode | "item" | "destinations" | "custom_fields";

export interface ServiceRequest {
  readonly mode: RequestMode;
  /** POST is a lookup whose parameters are sent as a form; nothing is ever written. */
  readonly method: "GET" | "POST";
  /** Path below the URL of the service, from `/`, without a query. */
  readonly path: string;
  /** Query of a GET, form of a POST: names and values, not encoded. Names may repeat. */
  readonly parameters: readonly RequestParameter[];
}

type RequestParameter = [name: string, value: string];

/** Fields of an item to request. */
interface ItemView {
  readonly mode: ListMode;
  /** Columns of the dynamic set; other modes ignore them. */
  readonly columns: readonly string[];
}

/** A page of the list. Pages are numbered from 1. */
export function listRequest(
  list: ItemView & { readonly page: number; readonly perPage: number },
): ServiceRequest {
  const parameters: RequestParameter[] = [
    ...viewParameters(list),
    ["per_page", String(list.perPage)],
    ["page", String(list.page)],
  ];
  return { mode: list.mode, method: "GET", path: `${API_PREFIX}/content`, parameters };
}

/** One item by its ID. Some fields of the specification are in no other response. */
export function itemRequest(item: ItemView & { readonly id: string }): ServiceRequest {
  const path = `${API_PREFIX}/content/${pathSegment(item.id)}`;
  return { mode: "item", method: "GET", path, parameters: viewParameters(item) };
}

/** In the dynamic set, columns of the gallery are sent only for `gallery`. */
function viewParameters({ mode, columns }: ItemView): RequestParameter[] {
  if (mode !== "dynamic") return [["detail", mode]];
  return [...columns.map((name): RequestParameter => ["columns[]", name]), ["gallery", "true"]];
}

/** Throws `source.protocol` for an ID that would be another path, or that no URL can hold. */
function pathSegment(id: string): string {
  const unsendable = id === "" || id === "." || id === ".." || Buffer.from(id).toString() !== id;
  if (!unsendable) return encodeURIComponent(id);
  throw new SourceError(
    "source.protocol",
    `The service listed an item with an invalid ID: "${printable(id)}".`,
  );
}

/** Begins every path of the read interface; it names the version. */
export const API_PREFIX = "/api/v1";

/** The only origin that requests go to. */
export interface ServiceUrl {
  /** `https://content.example.com`, `http://127.0.0.1:8080` */
  readonly origin: string;
  /** Host with its port, for messages. */
  readonly host: string;
  /** Path in front of {@link API_PREFIX}, without a slash at its end: `` or `/tenants/a`. */
  readonly prefix: string;
}

/** The settings that hold the URL and the token, for messages: an option, a variable, or a setting of a file. */
export interface SettingNames {
  readonly url: string;
  readonly token: string;
}

/** For messages about a value that is no service URL. */
const SERVICE_ADDRESS = "an address such as https://content.example.com";

/**
 * Reads the URL of a service: https, or http on a loopback host, with or without a path. A text that may hold credentials
 * (`user:password@`, a query, a fragment) is refused before it is parsed, so that no message shows it.
 */
export function readServiceUrl(text: string): { readonly url: ServiceUrl } | { readonly problem: string } {
  if (/[@?#]/.test(text)) {
    const found = 'found one with "@", "?" or "#" in it: credentials go into CONTENT_API_TOKEN';
    return { problem: `expected ${SERVICE_ADDRESS}, ${found}` };
  }
  const trimmed = text.trim();
  const invisible = invisibleClause(trimmed);
  if (invisible !== null) return { problem: `expected ${SERVICE_ADDRESS}, ${invisible}` };
  const url = /^https?:\/\//i.test(trimmed) ? URL.parse(trimmed) : null;
  if (url === null) return { problem: `expected ${SERVICE_ADDRESS}, found "${printable(text)}"` };
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return { problem: `expected https (http is for this machine only), found "${printable(text)}"` };
  }
  const path = url.pathname.replace(/\/+$/, "");
  // The URL may include the path of the interface.
  const prefix = path.endsWith(API_PREFIX) ? path.slice(0, -API_PREFIX.length) : path;
  return { url: { origin: url.origin, host: url.host, prefix } };
}

export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
