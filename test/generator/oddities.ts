import type { Document } from "../../src/service/content-set.ts";
import type { OddityChange, OddityEffect } from "./oddities/effect.ts";
import { factOddities } from "./oddities/facts.ts";
import { fieldOddities } from "./oddities/fields.ts";
import { wordOddities } from "./oddities/words.ts";
import type { Profile } from "./profile.ts";

const ALL: readonly OddityEffect[] = Object.values({ ...wordOddities, ...fieldOddities, ...factOddities });
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
  return { ...base, ...rest, ...(typeof set === "function" ? set(change) : set) };
}
