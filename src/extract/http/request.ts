/** Requests of the read interface as values: made here, sent by the HTTP client. */
import { printable } from "../../common/printable.ts";
import { API_PREFIX } from "./service-url.ts";
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
