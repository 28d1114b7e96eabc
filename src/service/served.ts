/** What a service serves, wherever it is kept: of each request, JSON texts. */

import { Listing, type PageOfList } from "./listing.ts";
import type { ContentSet } from "./loaded-set.ts";
import { lookUpCustomFields, lookUpDestinations } from "./lookups.ts";
import { type Actor, actorOf } from "./permissions.ts";
import type { PageRequest, ViewRequest } from "./query.ts";
import { BASIC_VIEW, FULL_VIEW } from "./views/detail.ts";
import { dynamicView } from "./views/dynamic.ts";
import { itemOf, renderView, type ViewColumn } from "./views/view.ts";

export interface ServedContent {
  /** Who may ask: the user of each token. */
  readonly actors: ReadonlyMap<string, Actor>;
  readonly page: (view: ViewRequest, wanted: PageRequest, actor: Actor) => Promise<ServedPage>;
  /** Undefined: there is no such item for the user. */
  readonly item: (address: string, view: ViewRequest, actor: Actor) => Promise<string | undefined>;
  /** Answers of the lookups. Throws 400 where the parameters name nothing. */
  readonly destinations: (parameters: URLSearchParams) => readonly object[];
  readonly customFields: (parameters: URLSearchParams) => readonly object[];
  /** Called once, when nobody asks any more. */
  readonly close: () => Promise<void>;
}

export interface ServedPage extends Pick<PageOfList, "pagination"> {
  readonly items: readonly string[];
}

/** Items that are made in one go: other connections are served between two batches of a large page. */
const BATCH_ITEMS = 100;

/** Closes the set when it is closed. */
export function servedSet(set: ContentSet): ServedContent {
  const listing = new Listing(set);
  return {
    actors: new Map([...set.tokens].map(([token, user]) => [token, actorOf(set, user)])),
    page: async (request, wanted, actor) => {
      const view = viewOf(request, false);
      const { positions, pagination } = listing.page(wanted, actor);
      const items: string[] = [];
      for (let start = 0; start < positions.length; start += BATCH_ITEMS) {
        const batch = await set.documents.read(positions.slice(start, start + BATCH_ITEMS));
        for (const document of batch) items.push(renderView(view, itemOf(document, set, actor)));
      }
      return { items, pagination };
    },
    item: async (address, request, actor) => {
      const position = listing.find(address, actor);
      const [document] = position === undefined ? [] : await set.documents.read([position]);
      return document && renderView(viewOf(request, true), itemOf(document, set, actor));
    },
    destinations: (parameters) => lookUpDestinations(set, parameters),
    customFields: (parameters) => lookUpCustomFields(set, parameters),
    close: () => set.close(),
  };
}

function viewOf(request: ViewRequest, singleItem: boolean): readonly ViewColumn[] {
  if (request.detail === "basic") return BASIC_VIEW;
  return request.detail === "full" ? FULL_VIEW : dynamicView(request, singleItem);
}
