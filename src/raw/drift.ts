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
export type DriftKind = (typeof DRIFT_KINDS)[number];

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

/** A tally of drift. Tallies of several threads can be added up. */
export class Drift {
  readonly #entries = new Map<
    DriftKind,
    Map<string, { -readonly [Field in keyof DriftEntry]: DriftEntry[Field] }>
  >();

  /** Counts one observation. Without `value` there is no example. */
  note(path: string, kind: DriftKind, order: number, contentId: string | null, value?: unknown): void {
    const known = this.#entries.get(kind)?.get(path);
    // Most observations are only counted, so no example is made of them.
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

  /** Returns all entries and empties the tally. */
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

export interface CountedDrift extends DriftEntry {
  /** `null` if not known: documents were counted, and an item has several. */
  readonly items: number | null;
}
