/** Where answers depart from the specification, counted by path and kind, with the first example. */
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
export type DriftKind = (typeof DRIFT_KINDS)[number];

/** Form of an entry where it is written down. */
export const driftEntry = z.strictObject({
  path: z.string(),
  kind: z.enum(DRIFT_KINDS),
  count: z.number().int().positive(),
  /** Order of the observation that gave the example: the lowest wins, so that the order of work does not show. */
  order: z.number().int().nonnegative(),
  contentId: z.string().nullable(),
  /** Cut to 200 characters; null where the policy forbids one. */
  example: z.string().nullable(),
});
export type DriftEntry = Readonly<z.infer<typeof driftEntry>>;

/** What a reused document keeps of the drift of its answer. */
export const responseDrift = driftEntry.omit({ example: true });
export type ResponseDrift = Readonly<z.infer<typeof responseDrift>>;

/** An entry on its way: its count still grows. */
type Counted = { -readonly [Field in keyof DriftEntry]: DriftEntry[Field] };

/** Texts in which the token was replaced, by the name of their member: nothing of them is an example. */
export function tokenDrift(texts: ReadonlyMap<string, number>): DriftEntry[] {
  return [...texts].map(([path, count]) => {
    return { path, kind: "token_redacted", count, order: 0, contentId: null, example: null };
  });
}

/** In how many items something was found. */
export interface DriftItemCount extends Pick<DriftEntry, "path" | "kind"> {
  readonly items: number;
}

const EXAMPLE_LENGTH = 200;

/** Text of a value as an entry has it: cut to 200 characters. */
export function driftExample(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
  return text.length <= EXAMPLE_LENGTH ? text : `${text.slice(0, EXAMPLE_LENGTH - 1)}…`;
}

/** A tally; two of them added give what one would have given. */
export class Drift {
  readonly #entries = new Map<DriftKind, Map<string, Counted>>();

  /** `value` absent: no example is kept. */
  note(path: string, kind: DriftKind, order: number, contentId: string | null, value?: unknown): void {
    const known = this.#entries.get(kind)?.get(path);
    // Most observations are only counted: their text is not made.
    if (known !== undefined && order >= known.order) known.count += 1;
    else
      this.add({
        path,
        kind,
        count: 1,
        order,
        contentId,
        example: value === undefined ? null : driftExample(value),
      });
  }

  add(entry: DriftEntry): void {
    let paths = this.#entries.get(entry.kind);
    if (paths === undefined) {
      paths = new Map();
      this.#entries.set(entry.kind, paths);
    }
    const known = paths.get(entry.path);
    if (known === undefined) {
      paths.set(entry.path, { ...entry });
    } else if (entry.order < known.order) {
      paths.set(entry.path, { ...entry, count: known.count + entry.count });
    } else {
      known.count += entry.count;
    }
  }

  /** All entries so far, and starts anew. */
  take(): DriftEntry[] {
    const entries = this.#all();
    this.#entries.clear();
    return entries;
  }

  /** Sorted by path and kind. */
  sorted(): DriftEntry[] {
    return this.#all()
      .map((entry) => ({ ...entry }))
      .sort((a, b) => (a.path + a.kind < b.path + b.kind ? -1 : 1));
  }

  #all(): DriftEntry[] {
    return [...this.#entries.values()].flatMap((paths) => [...paths.values()]);
  }
}

/** A tally of items that come one after another, each with all its documents: it counts them too. */
export class ItemDrift extends Drift {
  readonly #items = new Map<DriftKind, Map<string, { items: number; last: string }>>();

  override note(
    path: string,
    kind: DriftKind,
    order: number,
    contentId: string | null,
    value?: unknown,
  ): void {
    super.note(path, kind, order, contentId, value);
    if (contentId !== null) this.noteItem(path, kind, contentId);
  }

  /** Counts the item alone, for what was counted when its documents landed. */
  noteItem(path: string, kind: DriftKind, contentId: string): void {
    let paths = this.#items.get(kind);
    if (paths === undefined) {
      paths = new Map();
      this.#items.set(kind, paths);
    }
    const known = paths.get(path);
    if (known === undefined) paths.set(path, { items: 1, last: contentId });
    else if (known.last !== contentId) {
      known.items += 1;
      known.last = contentId;
    }
  }

  /** All items so far, and starts anew. */
  takeItems(): DriftItemCount[] {
    const found = [...this.#items].flatMap(([kind, paths]) =>
      [...paths].map(([path, { items }]): DriftItemCount => ({ path, kind, items })),
    );
    this.#items.clear();
    return found;
  }
}

export interface CountedDrift extends DriftEntry {
  /** Null: not known, because it was counted when documents landed, of which one item has several. */
  readonly items: number | null;
}

/** Entries with their items. Those of `landed` count documents; of these, unknown fields were looked for again. */
export function addItemCounts(
  entries: readonly DriftEntry[],
  counts: readonly DriftItemCount[],
  landed: readonly DriftEntry[],
): CountedDrift[] {
  const keyOf = ({ path, kind }: Pick<DriftEntry, "path" | "kind">) => `${kind} ${path}`;
  const items = new Map<string, number>();
  for (const each of counts) items.set(keyOf(each), (items.get(keyOf(each)) ?? 0) + each.items);
  const unknown = new Set(landed.filter(({ kind }) => kind !== "unknown_field").map(keyOf));
  return entries.map((entry) => {
    const key = keyOf(entry);
    return { ...entry, items: unknown.has(key) ? null : (items.get(key) ?? null) };
  });
}
