/** Requests of the read interface as values: made here, sent by the HTTP client. */
import type { DestinationName } from "../../api/destination.ts";
import { printable } from "../../common/printable.ts";
import { API_PREFIX } from "./service-url.ts";
import { SourceError } from "./source-error.ts";

export type ListMode = "dynamic" | "full" | "basic";
export type RequestMode = ListMode | "item" | "destinations" | "custom_fields";
export type LookupMethod = "GET" | "POST";

export interface ServiceRequest {
  readonly mode: RequestMode;
  /** POST is a lookup whose parameters are sent as a form; nothing is ever written. */
  readonly method: LookupMethod;
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
  /** Whether gallery-only columns of the dynamic set are included. */
  readonly gallery: boolean;
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

/** Number of the page that is requested; `null` for other requests. */
export function pageOf({ parameters }: ServiceRequest): number | null {
  const [, page = null] = parameters.find(([name]) => name === "page") ?? [];
  return page === null ? null : Number(page);
}

/** One item by its ID. Some fields of the specification are in no other response. */
export function itemRequest(item: ItemView & { readonly id: string }): ServiceRequest {
  const path = `${API_PREFIX}/content/${pathSegment(item.id)}`;
  return { mode: "item", method: "GET", path, parameters: viewParameters(item) };
}

function viewParameters(view: ItemView): RequestParameter[] {
  if (view.mode !== "dynamic") return [["detail", view.mode]];
  const columns = view.columns.map((name): RequestParameter => ["columns[]", name]);
  return view.gallery ? [...columns, ["gallery", "true"]] : columns;
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

export function destinationRequest(destination: DestinationName, method: LookupMethod): ServiceRequest {
  return {
    mode: "destinations",
    method,
    path: `${API_PREFIX}/destinations`,
    parameters: [
      ["name", destination.name],
      ["platform", destination.platform],
    ],
  };
}

/** Longest encoded list of names in one request, in bytes: many servers and proxies refuse URLs above 8 KB. */
const MAX_NAMES_BYTES = 5500;

/** Requests for the definitions of the custom fields with these names, as few as URLs of about 6 KB allow. */
export function customFieldRequests(names: Iterable<string>, method: LookupMethod): ServiceRequest[] {
  const chunks: string[][] = [];
  let left = 0;
  for (const name of new Set(names)) {
    const bytes = encode([["name[]", name]]).length + 1;
    if (bytes > left || chunks.length === 0) {
      chunks.push([]);
      left = MAX_NAMES_BYTES;
    }
    chunks.at(-1)?.push(name);
    left -= bytes;
  }
  return chunks.map((chunk) => ({
    mode: "custom_fields",
    method,
    path: `${API_PREFIX}/custom_fields_reference`,
    parameters: chunk.map((name): RequestParameter => [chunk.length === 1 ? "name" : "name[]", name]),
  }));
}

/** Path and query, as in the first line of the request. */
export function targetOf(request: ServiceRequest): string {
  if (request.method === "POST" || request.parameters.length === 0) return request.path;
  return `${request.path}?${encode(request.parameters)}`;
}

/** The form of a POST; `null` for a GET. */
export function formOf(request: ServiceRequest): string | null {
  return request.method === "POST" ? encode(request.parameters) : null;
}

function encode(parameters: readonly RequestParameter[]): string {
  return new URLSearchParams([...parameters]).toString();
}
