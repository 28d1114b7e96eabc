import type { Pagination } from "../api/envelope.ts";
import type { ContentSet } from "./loaded-set.ts";
import { type Actor, canView } from "./permissions.ts";
import type { PageRequest, SortField } from "./query.ts";

/** Which documents a page has, and where it stands in the list. */
export interface Page {
  readonly positions: readonly number[];
  readonly pagination: Pagination;
}

/** Finds pages of a content set, which does not change: an order once made is kept. */
export class Listing {
  readonly #set: ContentSet;
  readonly #orders = new Map<string, readonly number[]>();
  readonly #hidden = new Map<string, ReadonlySet<number>>();

  constructor(set: ContentSet) {
    this.#set = set;
  }

  page({ page, perPage, sortField, descending }: PageRequest, actor: Actor): Page {
    const order = this.#order(sortField, descending, actor);
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
    const { outline } = this.#set;
    const position = outline.find(idOrSlug);
    if (position === undefined || !canView(actor, outline.restricted.get(position))) return undefined;
    return position;
  }

  #order(field: SortField, descending: boolean, actor: Actor): readonly number[] {
    const hidden = this.#hiddenFrom(actor);
    const key = `${field} ${descending} ${hidden.size === 0 ? "" : actor.id}`;
    const known = this.#orders.get(key);
    if (known !== undefined) return known;
    const order = this.#sorted(field, descending).filter((position) => !hidden.has(position));
    this.#orders.set(key, order);
    return order;
  }

  #hiddenFrom(actor: Actor): ReadonlySet<number> {
    const known = this.#hidden.get(actor.id);
    if (known !== undefined) return known;
    const hidden = new Set<number>();
    for (const [position, restriction] of this.#set.outline.restricted) {
      if (!canView(actor, restriction)) hidden.add(position);
    }
    this.#hidden.set(actor.id, hidden);
    return hidden;
  }

  /** Documents stand in creation order, which also decides where instants are equal. */
  #sorted(field: SortField, descending: boolean): number[] {
    const { createdAt, updatedAt, count } = this.#set.outline;
    const order = Array.from({ length: count }, (_, position) => position);
    const keys = field === "updated_at" ? updatedAt : createdAt;
    const [before, after] = descending ? [1, -1] : [-1, 1];
    return order.sort((a, b) => {
      const [left = "", right = ""] = [keys[a], keys[b]];
      return left < right ? before : left > right ? after : 0;
    });
  }
}
