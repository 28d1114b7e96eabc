/**
 * A listing that is edited while it is read: before each request some edits happen, as a schedule says. Every state that
 * the listing was ever in is kept, so that a verdict can be compared with what really was.
 */
import type { PageMark } from "../../src/extract/passes/verdict.ts";

export type Edit =
  /** `update` changes an item in both modes, `touch` in the dynamic one alone. */
  | { readonly kind: "update" | "touch" | "remove"; readonly place: number }
  | { readonly kind: "add" }
  /** What was removed last comes back as it was. */
  | { readonly kind: "restore" }
  /** One goes and one comes, so that the total does not tell. */
  | { readonly kind: "exchange"; readonly place: number }
  /** Every nth item is updated at once. */
  | { readonly kind: "bulk"; readonly nth: number };

export interface Schedule {
  readonly items: number;
  readonly perPage: number;
  readonly order: "created" | "updated" | "id";
  /** What `updated_at` says: the same in both modes; with fractions of a second in dynamic alone; other times. */
  readonly times: "same" | "precision" | "other";
  /** Quarters of a second that pass with a request; an edit takes one, or four where the modes mean other times. */
  readonly quartersPerRequest: number;
  /** Edits before each request; none after the last. */
  readonly edits: readonly (readonly Edit[])[];
  /** Requests after which the run is killed, from its start or resume, and edits before it is resumed. */
  readonly kills: readonly { readonly after: number; readonly edits: readonly Edit[] }[];
  /** Pages that are kept together. */
  readonly pagesPerGroup: number;
  /** The service refuses every nth item singly; 0: none. */
  readonly refused: number;
  /** Items that are asked for singly after a pass, at most; or a fifth of all. */
  readonly repairLimit: number;
  /** What the pipeline reads the documents of, in this order. */
  readonly listings: readonly Mode[];
}

export type Mode = "dynamic" | "full";

/** A document, as the program sees it, with its version, which it does not see. */
export interface WorldDocument {
  readonly id: string;
  readonly updatedAt: string;
  readonly version: number;
}

export interface Answer<T> {
  readonly value: T;
  /** The `Date` of the answer; microseconds since 1970. */
  readonly observedAt: number;
}

interface WorldItem {
  readonly id: string;
  readonly number: number;
  readonly created: number;
  /** Quarters of a second. */
  readonly updated: Record<Mode, number>;
  readonly version: Record<Mode, number>;
}

const QUARTER_MS = 250;

export class Killed extends Error {}

export class World {
  #items: WorldItem[] = [];
  readonly #removed: WorldItem[] = [];
  #quarters = 4 * 1_000_000;
  #created = 0;
  #version = 0;
  #request = 0;
  #left = Number.POSITIVE_INFINITY;
  readonly #schedule: Schedule;
  readonly #kills: { readonly after: number; readonly edits: readonly Edit[] }[];
  /** Each state since the run began or was resumed: IDs with the versions of the documents that are read, sorted. */
  readonly states = new Set<string>();

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#kills = [...schedule.kills];
    for (let i = 0; i < schedule.items; i++) this.#add();
    this.#quarters += 400;
    this.#begin();
  }

  get listings(): readonly Mode[] {
    return this.#schedule.listings;
  }

  get pagesPerGroup(): number {
    return this.#schedule.pagesPerGroup;
  }

  get repairLimit(): number {
    return this.#schedule.repairLimit;
  }

  #begin(): void {
    this.#left = this.#kills[0]?.after ?? Number.POSITIVE_INFINITY;
    this.states.clear();
    this.states.add(this.#state());
  }

  /** The run was killed, and is resumed. */
  resume(): void {
    for (const edit of this.#kills.shift()?.edits ?? []) this.#apply(edit);
    this.#begin();
  }

  wait(milliseconds: number): void {
    this.#quarters += Math.ceil(milliseconds / QUARTER_MS);
  }

  #add(): void {
    this.#created += 1;
    this.#version += 1;
    const number = this.#created;
    const id = `item-${String((number * 7919) % 1009).padStart(4, "0")}-${number}`;
    const item = {
      id,
      number,
      created: number,
      updated: { dynamic: this.#quarters, full: this.#quarters },
      version: { dynamic: this.#version, full: this.#version },
    };
    this.#items.push(item);
  }

  #update(item: WorldItem, modes: readonly Mode[]): void {
    this.#version += 1;
    for (const mode of modes) {
      item.updated[mode] = this.#quarters;
      item.version[mode] = this.#version;
    }
  }

  #apply(edit: Edit): void {
    // Nobody can tell two edits of one second apart by a time that is not of the clock of `Date`.
    this.#quarters += this.#schedule.times === "other" ? 4 : 1;
    const place = "place" in edit ? edit.place % Math.max(1, this.#items.length) : 0;
    const item = this.#items[place];
    // Where the modes mean the same time, nothing changes one of them alone.
    const touched: readonly Mode[] = this.#schedule.times === "other" ? ["dynamic"] : ["dynamic", "full"];
    if (edit.kind === "update" && item !== undefined) this.#update(item, ["dynamic", "full"]);
    if (edit.kind === "touch" && item !== undefined) this.#update(item, touched);
    if (edit.kind === "bulk") {
      for (const [i, each] of this.#items.entries())
        if (i % edit.nth === 0) this.#update(each, ["dynamic", "full"]);
    }
    if ((edit.kind === "remove" || edit.kind === "exchange") && item !== undefined)
      this.#removed.push(...this.#items.splice(place, 1));
    if (edit.kind === "restore") this.#items.push(...this.#removed.splice(-1));
    if (edit.kind === "add" || edit.kind === "exchange") this.#add();
    this.states.add(this.#state());
  }

  #state(): string {
    return stateOf(
      this.#items.map(({ id, version }) => {
        const read = ({ dynamic, full }: Record<Mode, number>) => ({
          dynamic: this.listings.includes("dynamic") ? dynamic : undefined,
          full: this.listings.includes("full") ? full : undefined,
        });
        return [id, read(version)];
      }),
    );
  }

  /** Edits come and time passes before the next request is answered. */
  #tick(): void {
    if (this.#left === 0) throw new Killed();
    this.#left -= 1;
    for (const edit of this.#schedule.edits[this.#request] ?? []) this.#apply(edit);
    this.#quarters += this.#schedule.quartersPerRequest;
    this.#request += 1;
  }

  page(page: number, mode: Mode): Answer<{ rows: WorldDocument[]; mark: PageMark }> {
    this.#tick();
    const { perPage, order } = this.#schedule;
    const sorted = this.#items.toSorted((a, b) => {
      if (order === "created") return a.created - b.created;
      if (order === "updated") return b.updated.dynamic - a.updated.dynamic || a.created - b.created;
      return a.id < b.id ? -1 : 1;
    });
    const rows = sorted.slice((page - 1) * perPage, page * perPage).map((item) => this.#document(item, mode));
    const count = sorted.length;
    const pages = Math.ceil(count / perPage);
    const next = page < pages ? page + 1 : null;
    const mark = { rows: rows.length, pagination: { current: page, next, per_page: perPage, count, pages } };
    return this.#answer({ rows, mark });
  }

  single(id: string, mode: Mode): Answer<WorldDocument | "refused" | "gone"> {
    this.#tick();
    const { refused } = this.#schedule;
    const item = this.#items.find((each) => each.id === id);
    if (item === undefined) return this.#answer("gone");
    if (refused > 0 && item.number % refused === 0) return this.#answer("refused");
    return this.#answer(this.#document(item, mode));
  }

  /** Other times: the full one is an hour earlier and some seconds more, as if of another clock. */
  #document({ id, number, updated, version }: WorldItem, mode: Mode): WorldDocument {
    const lag = this.#schedule.times === "other" && mode === "full" ? 4 * (3600 + (number % 3)) : 0;
    const text = new Date((updated[mode] - lag) * QUARTER_MS).toISOString();
    const fraction = this.#schedule.times === "precision" && mode === "dynamic";
    return { id, updatedAt: fraction ? text : `${text.slice(0, 19)}Z`, version: version[mode] };
  }

  #answer<T>(value: T): Answer<T> {
    return { value, observedAt: Math.floor(this.#quarters / 4) * 1_000_000 };
  }
}

export function stateOf(
  items: Iterable<readonly [string, Readonly<Record<Mode, number | undefined>>]>,
): string {
  return [...items]
    .map(([id, { dynamic, full }]) => `${id} ${dynamic} ${full}`)
    .sort()
    .join("\n");
}
