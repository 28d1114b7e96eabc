/** Drift: where documents depart from the specification, counted by path and kind, with the first example. */
import { z } from "zod";

export const DRIFT_KINDS = [
  "unknown_field",
  "type",
  "unreadable",
  "rounded",
  "instant_form",
  "views_differ",
  "versions_differ",
  "single_for_list",
  "personal_dropped",
  "personal_hashed",
  "token_redacted",
  "field_type",
] as const;
type DriftKind = (typeof DRIFT_KINDS)[number];

export const driftEntry = z.strictObject({
  path: z.string(),
  kind: z.enum(DRIFT_KINDS),
  count: z.number().int().positive(),
  /** Position of the example in the order of observation. The lowest wins, whatever the order of work. */
  order: z.number().int().nonnegative(),
  contentId: z.string().nullable(),
  /** At most 200 characters; `null` if the personal-data policy forbids an example. */
  example: z.string().nullable(),
});
export type DriftEntry = Readonly<z.infer<typeof driftEntry>>;

/** Drift of a response that is kept with its document for reuse. */
export type ResponseDrift = Omit<DriftEntry, "example">;

/** Drift for texts in which the API token was replaced. `texts`: number by the name of the member. */
export function tokenDrift(texts: ReadonlyMap<string, number>): DriftEntry[] {
  return [...texts].map(([path, count]) => {
    return { path, kind: "token_redacted", count, order: 0, contentId: null, example: null };
  });
}

/** Number of items with an entry of drift. */
export interface DriftItemCount extends Pick<DriftEntry, "path" | "kind"> {
  readonly items: number;
}

const EXAMPLE_LENGTH = 200;

/** A value as an example: at most 200 characters. */
export function driftExample(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
  return text.length <= EXAMPLE_LENGTH ? text : `${text.slice(0, EXAMPLE_LENGTH - 1)}…`;
}

/** Drift of one path and kind. `items`: number of items, of which `lastItem` came last. */
interface DriftTally {
  count: number;
  order: number;
  contentId: string | null;
  example: string | null;
  items: number;
  lastItem: string | null;
}

/** A tally of drift. Tallies of several threads can be added up. */
export class Drift {
  readonly #kinds = new Map<DriftKind, Map<string, DriftTally>>();

  #at(path: string, kind: DriftKind): DriftTally {
    const paths = this.#kinds.get(kind) ?? new Map<string, DriftTally>();
    const known = paths.get(path);
    if (known !== undefined) return known;
    const tally = { count: 0, order: Infinity, contentId: null, example: null, items: 0, lastItem: null };
    this.#kinds.set(kind, paths.set(path, tally));
    return tally;
  }

  /** Counts one observation. Without `value` there is no example. */
  note(path: string, kind: DriftKind, order: number, contentId: string | null, value?: unknown): void {
    const tally = this.#at(path, kind);
    tally.count += 1;
    if (contentId !== null) countItem(tally, contentId);
    // Most observations are only counted, so no example is made of them.
    if (order < tally.order)
      Object.assign(tally, { order, contentId, example: value === undefined ? null : driftExample(value) });
  }

  /** Counts only the item; its documents were counted when they landed. All documents of an item come one after another. */
  noteItem(path: string, kind: DriftKind, contentId: string): void {
    countItem(this.#at(path, kind), contentId);
  }

  add({ path, kind, count, order, contentId, example }: DriftEntry): void {
    const tally = this.#at(path, kind);
    tally.count += count;
    if (order < tally.order) Object.assign(tally, { order, contentId, example });
  }

  /** Returns all entries and empties the tally. */
  take(): DriftEntry[] {
    const entries = this.sorted();
    this.#kinds.clear();
    return entries;
  }

  /** Sorted by path and kind. */
  sorted(): DriftEntry[] {
    const all = this.#all().filter(({ count }) => count > 0);
    return all
      .map(({ items: _items, lastItem: _lastItem, ...entry }) => entry)
      .sort((a, b) => (a.path + a.kind < b.path + b.kind ? -1 : 1));
  }

  itemCounts(): DriftItemCount[] {
    return this.#all().map(({ path, kind, items }) => ({ path, kind, items }));
  }

  #all() {
    return [...this.#kinds].flatMap(([kind, paths]) =>
      [...paths].map(([path, tally]) => ({ path, kind, ...tally })),
    );
  }
}

function countItem(tally: DriftTally, contentId: string): void {
  if (tally.lastItem === contentId) return;
  tally.items += 1;
  tally.lastItem = contentId;
}

export interface CountedDrift extends DriftEntry {
  /** `null` if not known: documents were counted, and an item has several. */
  readonly items: number | null;
}
