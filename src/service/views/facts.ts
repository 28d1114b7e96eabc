import type { Document, Task } from "../content-set.ts";
import { JsonText } from "../json-text.ts";
import type { UserViews } from "../loaded-set.ts";
import type { Item } from "./view.ts";

/** Facts that more than one view shows. */

export function preferredTitle({ document: { title } }: Item): string | undefined {
  return title || undefined;
}

export function nextTask({ tasks }: Document): Task | undefined {
  return tasks?.find(({ completed }) => !completed);
}

export function userOf({ set }: Item, id: string | null | undefined): UserViews | undefined {
  return typeof id === "string" ? set.users.get(id) : undefined;
}

/** The campaigns of the item that the content set describes. */
export function campaignsOf({ document, set }: Item): JsonText | undefined {
  if (document.campaigns === undefined) return undefined;
  return JsonText.list(document.campaigns.flatMap((id) => set.campaigns.get(id) ?? []));
}

/** The first URL that the item was published at. */
export function firstPublishedUrl({ published_urls }: Document): string | undefined {
  const first = published_urls?.find(({ published_url }) => published_url !== null);
  return first?.published_url ?? undefined;
}

/** Addresses of an item in the instance's own pages. */
export const addressOf = {
  canonical: (item: Item) => `${origin(item)}/content/${item.document.slug}`,
  factory: (item: Item) => `${origin(item)}/factory/content/${item.document.slug}`,
  service: (item: Item) => `${origin(item)}/c/${item.document.id}`,
  discussion: (item: Item) => `${origin(item)}/content/${item.document.slug}/discussion`,
};

function origin({ set }: Item): string {
  return `https://${set.instance.subdomain}.example`;
}
