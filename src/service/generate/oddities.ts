import type { Document } from "../content-set.ts";
import type { FieldContext } from "./field-values.ts";
import { factOddities } from "./oddities/facts.ts";
import { fieldOddities } from "./oddities/fields.ts";
import { wordOddities } from "./oddities/words.ts";
import type { Profile } from "./profile.ts";
import type { Random } from "./random.ts";
import type { Kind } from "./vocabulary.ts";

/** One thing that real instances hold and that programs stumble over: a change to an item that is otherwise sane. */
export interface OddityEffect {
  /** The item is of this kind, so that the oddity can be seen. */
  readonly kind?: Kind;
  /** So odd that it stays out of the set that is made to be looked at. */
  readonly harsh?: true;
  /** Only in every so many rounds of the profile's `oddityPeriod`, the first among them; missing: in each. */
  readonly everyRounds?: number;
  /** What the item has in place of, or besides, what it had. */
  readonly set?: (change: OddityChange) => Partial<Document>;
  /** What the item lacks; `all`: whatever may be missing. */
  readonly without?: readonly OptionalKey[] | "all";
}

type OptionalKey = Exclude<keyof Document, "id" | "slug" | "content_type" | "created_at" | "updated_at">;

export interface OddityChange {
  readonly document: Document;
  readonly context: FieldContext;
  readonly random: Random;
}

const byName = { ...wordOddities, ...fieldOddities, ...factOddities };
export type OddityName = keyof typeof byName;
export const oddities: Readonly<Record<OddityName, OddityEffect>> = byName;

const ALL = Object.values(oddities);
const MILD = ALL.filter(({ harsh }) => harsh === undefined);

/** The oddity of the item at a position, if it has one: they are spread evenly over each round of positions. */
export function oddityAt({ oddityPeriod, mildOddities }: Profile, index: number): OddityEffect | undefined {
  const effects = mildOddities ? MILD : ALL;
  const position = index % oddityPeriod;
  const ordinal = Math.ceil((position * effects.length) / oddityPeriod);
  if (Math.floor((ordinal * oddityPeriod) / effects.length) !== position) return undefined;
  const effect = effects[ordinal];
  const round = Math.floor(index / oddityPeriod);
  return round % (effect?.everyRounds ?? 1) === 0 ? effect : undefined;
}

/** The item as the oddity leaves it. */
export function withOddity({ set, without = [] }: OddityEffect, change: OddityChange): Document {
  const { id, slug, content_type, created_at, updated_at, ...rest } = change.document;
  const base = { id, slug, content_type, created_at, updated_at };
  if (without === "all") return base;
  for (const key of without) delete rest[key];
  return { ...base, ...rest, ...set?.(change) };
}
