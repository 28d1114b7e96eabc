import type { Document } from "../../../src/service/content-set.ts";
import type { ItemContext } from "../field-values.ts";
import type { Random } from "../random.ts";
import type { Kind } from "../vocabulary.ts";

/** One thing that real instances hold and that programs stumble over: a change to an item that is otherwise sane. */
export interface OddityEffect {
  /** The item is of this kind, so that the oddity can be seen. */
  readonly kind?: Kind;
  /** So odd that it stays out of the set that is made to be looked at. */
  readonly harsh?: true;
  /** Only in every so many rounds of the profile's `oddityPeriod`, the first among them; missing: in each. */
  readonly everyRounds?: number;
  /** What the item has in place of, or besides, what it had. */
  readonly set?: Partial<Document> | ((change: OddityChange) => Partial<Document>);
  /** What the item lacks; `all`: whatever may be missing. */
  readonly without?: readonly OptionalKey[] | "all";
}

type OptionalKey = Exclude<keyof Document, "id" | "slug" | "content_type" | "created_at" | "updated_at">;

export interface OddityChange {
  readonly document: Document;
  readonly context: ItemContext;
  readonly random: Random;
}
