/** What the service answers with: the JSON texts of a content set. */

import { z } from "zod";
import { customFieldDefinition } from "../api/custom-field.ts";
import type { ContentSet } from "./assemble-set.ts";
import { Listing } from "./listing.ts";
import { type Actor, actorOf } from "./permissions.ts";
import { type PageRequest, parseNames, type ViewRequest } from "./query.ts";
import { BASIC_VIEW, FULL_VIEW } from "./views/detail.ts";
import { dynamicView } from "./views/dynamic.ts";
import { renderView, type ViewColumn, viewItem } from "./views/view.ts";

/** Items that are made in one go: other connections are served between two batches of a large page. */
const BATCH_ITEMS = 100;

/** The fields of a definition that the contract declares, in its order. */
const shownDefinition = z.object(customFieldDefinition.shape);

export type ContentApi = ReturnType<typeof contentApi>;

export function contentApi(set: ContentSet) {
  const listing = new Listing(set);
  return {
    /** The user of each token. */
    actors: new Map([...set.tokens].map(([token, user]) => [token, actorOf(set, user)])),
    page: async (request: ViewRequest, wanted: PageRequest, actor: Actor) => {
      const view = viewOf(request, false);
      const { positions, pagination } = listing.page(wanted, actor);
      const items: string[] = [];
      for (let start = 0; start < positions.length; start += BATCH_ITEMS) {
        const batch = await set.documents.read(positions.slice(start, start + BATCH_ITEMS));
        for (const document of batch) items.push(renderView(view, viewItem(document, set, actor)));
      }
      return { items, pagination };
    },
    /** `undefined`: there is no such item for the user. */
    item: async (address: string, request: ViewRequest, actor: Actor) => {
      const position = listing.find(address, actor);
      const [document] = position === undefined ? [] : await set.documents.read([position]);
      return document && renderView(viewOf(request, true), viewItem(document, set, actor));
    },
    /**
     * Destinations with this name, on this platform where the request names one. Names are compared exactly. Throws 400 if
     * the parameters name nothing; so does `customFields`.
     */
    destinations: (parameters: URLSearchParams) => {
      const names = new Set(parseNames(parameters));
      const platform = parameters.get("platform");
      const named = set.destinations.filter(({ identification }) => names.has(identification));
      return named.filter((each) => platform === null || each.platform === platform);
    },
    /** Every definition with one of these names, with its mappings. Several may share a name. */
    customFields: (parameters: URLSearchParams) => {
      const names = new Set(parseNames(parameters));
      const found = set.fields.all.filter(({ definition }) => names.has(definition.name));
      return found.map(({ definition }) => shownDefinition.parse(definition));
    },
  };
}

function viewOf(request: ViewRequest, singleItem: boolean): readonly ViewColumn[] {
  if (request.detail === "basic") return BASIC_VIEW;
  return request.detail === "full" ? FULL_VIEW : dynamicView(request, singleItem);
}
