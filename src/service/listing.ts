import type { ContentSet } from "./assemble-set.ts";
import { type Actor, canView } from "./permissions.ts";
import type { PageRequest } from "./query.ts";

/** Finds pages of a content set, which does not change: an order once made is kept. */
export class Listing {
  readonly #set: ContentSet;
  /** By sort field, direction and user. */
  readonly #orders = new Map<string, readonly number[]>();

  constructor(set: ContentSet) {
    this.#set = set;
  }

  /** Which documents a page has, and where it stands in the list. */
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

  /** Position of the item with this ID or slug, where the user may see it. */
  find(idOrSlug: string, actor: Actor): number | undefined {
    const position = this.#set.outline.find(idOrSlug);
    return position !== undefined && this.#isVisible(position, actor) ? position : undefined;
  }

  #isVisible(position: number, actor: Actor): boolean {
    return canView(actor, this.#set.outline.restricted.get(position));
  }

  /** Documents stand in creation order, which also decides where instants are equal. */
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
