import type { DestinationName } from "../../api/destination.ts";
import { printable } from "../../common/printable.ts";
import { API_PREFIX } from "./service-url.ts";
import { SourceError } from "./source-error.ts";

export type ListMode = "dynamic" | "full" | "basic";
export type RequestMode = ListMode | "item" | "destinations" | "custom_fields";
export type LookupMethod = "GET" | "POST";

/** One request of the read interface, as a value: made by the functions below, sent by the HTTP client. */
export interface ReadRequest {
  readonly mode: RequestMode;
  /** POST is a lookup whose parameters go as a form; nothing is ever written. */
  readonly method: LookupMethod;
  /** Below the address of the service, from `/`, without a query. */
  readonly path: string;
  /** Query of a GET, form of a POST. */
  readonly parameters: readonly Parameter[];
}

/** Name and value, neither encoded. Names may repeat. */
type Parameter = [name: string, value: string];

/** What is shown of an item. */
interface View {
  readonly mode: ListMode;
  /** Of the dynamic set; without effect in the other modes, so not sent there. */
  readonly columns: readonly string[];
  /** The gallery-only fields; of the dynamic set too. */
  readonly gallery: boolean;
}

export interface ListRequest extends View {
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
}

export function listRequest(list: ListRequest): ReadRequest {
  return {
    mode: list.mode,
    method: "GET",
    path: `${API_PREFIX}/content`,
    parameters: [...viewParameters(list), ["per_page", String(list.perPage)], ["page", String(list.page)]],
  };
}

/** Page of the list; null: it is for none. */
export function pageOf({ parameters }: ReadRequest): number | null {
  const [, page = null] = parameters.find(([name]) => name === "page") ?? [];
  return page === null ? null : Number(page);
}

/** One item by its ID: the only request that gives the fields that the specification marks so. */
export function itemRequest(item: View & { readonly id: string }): ReadRequest {
  const path = `${API_PREFIX}/content/${pathSegment(item.id)}`;
  return { mode: "item", method: "GET", path, parameters: viewParameters(item) };
}

function viewParameters(view: View): Parameter[] {
  if (view.mode !== "dynamic") return [["detail", view.mode]];
  const columns = view.columns.map((name): Parameter => ["columns[]", name]);
  return view.gallery ? [...columns, ["gallery", "true"]] : columns;
}

/** An ID that would name another path, or that no address can hold, is none that the service can have meant. */
function pathSegment(id: string): string {
  const unsendable = id === "" || id === "." || id === ".." || Buffer.from(id).toString() !== id;
  if (!unsendable) return encodeURIComponent(id);
  throw new SourceError(
    "source.protocol",
    `The service listed an item whose ID is no ID: "${printable(id)}".`,
  );
}

export function destinationRequest(destination: DestinationName, method: LookupMethod): ReadRequest {
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

/** Longest encoded list of names in one request: addresses above 8 KB are refused by many servers and proxies. */
const NAMES_BYTES = 5500;

/** Definitions of the custom fields of these names: as few requests as addresses of about 6 KB allow. */
export function customFieldRequests(names: Iterable<string>, method: LookupMethod): ReadRequest[] {
  return chunks([...new Set(names)]).map((chunk) => ({
    mode: "custom_fields",
    method,
    path: `${API_PREFIX}/custom_fields_reference`,
    parameters: chunk.map((name): Parameter => [chunk.length === 1 ? "name" : "name[]", name]),
  }));
}

function chunks(names: readonly string[]): string[][] {
  const all: string[][] = [];
  let room = 0;
  for (const name of names) {
    const bytes = encode([["name[]", name]]).length + 1;
    if (bytes > room || all.length === 0) {
      all.push([]);
      room = NAMES_BYTES;
    }
    all.at(-1)?.push(name);
    room -= bytes;
  }
  return all;
}

/** Path and query, as they stand in the first line of the request. */
export function targetOf(request: ReadRequest): string {
  if (request.method === "POST" || request.parameters.length === 0) return request.path;
  return `${request.path}?${encode(request.parameters)}`;
}

/** The form of a POST; `null` for a GET. */
export function formOf(request: ReadRequest): string | null {
  return request.method === "POST" ? encode(request.parameters) : null;
}

function encode(parameters: readonly Parameter[]): string {
  return new URLSearchParams([...parameters]).toString();
}
