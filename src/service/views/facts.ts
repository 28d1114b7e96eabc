import type { UserViews } from "../assemble-set.ts";
import type { Document, DocumentTask } from "../content-set.ts";
import { JsonText } from "../json-text.ts";
import type { ViewItem } from "./view.ts";

/** Facts that more than one view shows. */

export function preferredTitle({ document: { title } }: ViewItem): string | undefined {
  return title || undefined;
}

export function nextTask({ tasks }: Document): DocumentTask | undefined {
  return tasks?.find(({ completed }) => !completed);
}

export function userOf({ set }: ViewItem, id: string | null | undefined): UserViews | undefined {
  return typeof id === "string" ? set.users.get(id) : undefined;
}

/** The campaigns of the item that the content set describes. */
export function campaignsOf({ document, set }: ViewItem): JsonText | undefined {
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
  canonical: (item: ViewItem) => `${origin(item)}/content/${item.document.slug}`,
  factory: (item: ViewItem) => `${origin(item)}/factory/content/${item.document.slug}`,
  service: (item: ViewItem) => `${origin(item)}/c/${item.document.id}`,
  discussion: (item: ViewItem) => `${origin(item)}/content/${item.document.slug}/discussion`,
};

function origin({ set }: ViewItem): string {
  return `https://${set.instance.subdomain}.example`;
}
