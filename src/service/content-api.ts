/** Answers of the read interface, as JSON texts. */
import { z } from "zod";
import { customFieldDefinition } from "../api/custom-field.ts";
import type { ContentSet } from "./assemble-set.ts";
import { type Actor, actorOf, canView } from "./permissions.ts";
import { type PageRequest, parseNames, type ViewRequest } from "./query.ts";
import { viewOf } from "./views/item-views.ts";
import { renderView, viewItem } from "./views/view.ts";

/** Items that are rendered in one go. Between two batches of a large page, other connections are served. */
const BATCH_ITEMS = 100;

/** Fields of a definition that the contract declares, in its order. */
const shownDefinition = z.object(customFieldDefinition.shape);

export type ContentApi = ReturnType<typeof contentApi>;

export function contentApi(set: ContentSet) {
  const listing = new ItemList(set);
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
    /** `undefined`: the user sees no such item. */
    item: async (address: string, request: ViewRequest, actor: Actor) => {
      const position = listing.find(address, actor);
      const [document] = position === undefined ? [] : await set.documents.read([position]);
      return document && renderView(viewOf(request, true), viewItem(document, set, actor));
    },
    /** Destinations by name, compared exactly, and by platform if one is given. Throws 400 without a name. */
    destinations: (parameters: URLSearchParams) => {
      const names = new Set(parseNames(parameters));
      const platform = parameters.get("platform");
      const named = set.destinations.filter(({ identification }) => names.has(identification));
      return named.filter((each) => platform === null || each.platform === platform);
    },
    /** Definitions by name, with their mappings. Several may share a name. Throws 400 without a name. */
    customFields: (parameters: URLSearchParams) => {
      const names = new Set(parseNames(parameters));
      const found = set.fields.all.filter(({ definition }) => names.has(definition.name));
      return found.map(({ definition }) => shownDefinition.parse(definition));
    },
  };
}

/** Finds items of a content set, which does not change. Orders are cached. */
class ItemList {
  readonly #set: ContentSet;
  /** Positions by sort field, direction and user. */
  readonly #orders = new Map<string, readonly number[]>();

  constructor(set: ContentSet) {
    this.#set = set;
  }

  /** Positions of the documents of a page, and its pagination. */
  page({ page, perPage, sortField, descending }: PageRequest, actor: Actor) {
    const key = `${sortField} ${descending} ${actor.id}`;
    const order = this.#orders.get(key) ?? this.#visibleInOrder(sortField, descending, actor);
    this.#orders.set(key, order);
    const count = order.length;
    const pages = Math.ceil(count / perPage);
    return {
      positions: order.slice((page - 1) * perPage, page * perPage),
      pagination: {
        previous: page > 1 ? page - 1 : null,
        next: page < pages ? page + 1 : null,
        current: page,
        per_page: perPage,
        count,
        pages,
      },
    };
  }

  /** Position of the item with this ID or slug, if the user may see it. */
  find(idOrSlug: string, actor: Actor): number | undefined {
    const position = this.#set.outline.find(idOrSlug);
    return position !== undefined && this.#isVisible(position, actor) ? position : undefined;
  }

  #isVisible(position: number, actor: Actor): boolean {
    return canView(actor, this.#set.outline.restricted.get(position));
  }

  /** Positions in order. Documents are in creation order, which also decides between equal instants. */
  #visibleInOrder(field: PageRequest["sortField"], descending: boolean, actor: Actor): number[] {
    const { createdAt, updatedAt } = this.#set.outline;
    const keys = field === "updated_at" ? updatedAt : createdAt;
    const [before, after] = descending ? [1, -1] : [-1, 1];
    const visible = [...keys.keys()].filter((position) => this.#isVisible(position, actor));
    return visible.sort((a, b) => {
      const [left = "", right = ""] = [keys[a], keys[b]];
      return left < right ? before : left > right ? after : 0;
    });
  }
}
