import { isObject } from "../common/objects.ts";
import type { HttpClient, HttpResponse } from "./http/client.ts";
import { listRequest } from "./http/request.ts";
import { decodeBytes } from "./pages/decode.ts";
import { readList } from "./pages/envelope.ts";

export interface Probe {
  /** Items that the token may read. */
  readonly items: number;
  /** As the first item names it; null where there is no item, or it names none. */
  readonly instanceId: string | null;
  readonly response: HttpResponse;
}

/** Where an item names its instance: all that is asked for besides its ID. */
const COLUMNS = ["id", "newsroom_id", "instance"];

/**
 * Requests a page of one item. `aliases`: names of fields at the service to those of the specification. Throws what the
 * client throws.
 */
export async function probeService(
  client: Pick<HttpClient, "readAs">,
  aliases: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Probe> {
  const atService = new Map(Object.entries(aliases).map(([there, here]) => [here, there]));
  const columns = COLUMNS.map((name) => atService.get(name) ?? name);
  const request = listRequest({ mode: "dynamic", page: 1, perPage: 1, columns, gallery: false });
  const { response, value } = await client.readAs(request, signal, (answer) => {
    const { pagination, documents } = readList(decodeBytes(answer));
    const [first] = Array.from(documents, ({ document }) => document);
    return { items: pagination.count, instanceId: instanceIdIn(first, atService) };
  });
  return { ...value, response };
}

/** Items of which the custom fields are looked at. */
const ITEMS_OF_PROBE = 25;

/** Names of the custom fields that the first items carry. Throws what the client throws. */
export async function probeFieldNames(
  client: Pick<HttpClient, "readAs">,
  signal: AbortSignal,
): Promise<string[]> {
  const request = listRequest({
    mode: "full",
    page: 1,
    perPage: ITEMS_OF_PROBE,
    columns: [],
    gallery: false,
  });
  const { value } = await client.readAs(request, signal, (answer) =>
    Array.from(readList(decodeBytes(answer)).documents, ({ document }) => document).flatMap(fieldNamesIn),
  );
  return value;
}

function fieldNamesIn(document: unknown): string[] {
  const fields: unknown = isObject(document) ? document.custom_fields : undefined;
  const names = (Array.isArray(fields) ? fields : []).map((field) => isObject(field) && field.name);
  return names.filter((name) => typeof name === "string");
}

function instanceIdIn(document: unknown, atService: ReadonlyMap<string, string>): string | null {
  if (!isObject(document)) return null;
  const field = (name: string) => Reflect.get(document, atService.get(name) ?? name);
  const instance = field("instance");
  const ids = [field("newsroom_id"), isObject(instance) ? Reflect.get(instance, "id") : undefined];
  return ids.find((id) => typeof id === "string") ?? null;
}
