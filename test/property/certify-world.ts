/**
 * A listing that is edited while it is read: before each request some edits happen, as a schedule says. Every state that
 * the listing was ever in is kept, so that a verdict can be compared with what really was. Some requests may be answered
 * by a replica that lags behind.
 */
import type { PageSummary } from "../../src/extract/passes/verdict.ts";

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
  /** Which requests a lagging replica answers; null: there is none. */
  readonly replica: Replica | null;
  /** Items that were updated nine days before the run. */
  readonly early: readonly number[];
}

export interface Replica {
  /** All of one mode, each other request, or those that `chance` says, over and over again. */
  readonly answers: Mode | "turns" | "chance";
  readonly chance: readonly boolean[];
  readonly lagQuarters: number;
}

export type Mode = "dynamic" | "full";

/** A document, as the program sees it, with its version, which it does not see. */
export interface WorldDocument {
  readonly id: string;
  readonly updatedAt: string;
  readonly version: number;
  /** What the fields have that both modes give. */
  readonly common: number;
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
  readonly updated: Readonly<Record<Mode, number>>;
  readonly version: Readonly<Record<Mode, number>>;
  readonly common: number;
}

const QUARTER_MS = 250;
export const DAY_QUARTERS = 4 * 24 * 3600;

export class Killed extends Error {}

export class World {
  #items: readonly WorldItem[] = [];
  /** What there was since when, the earliest first. */
  readonly #history: { readonly quarters: number; readonly items: readonly WorldItem[] }[] = [];
  readonly #removed: WorldItem[] = [];
  #quarters = 4 * 1_000_000;
  #created = 0;
  #version = 0;
  #request = 0;
  #begun = 0;
  #left = Number.POSITIVE_INFINITY;
  readonly #schedule: Schedule;
  readonly #kills: { readonly after: number; readonly edits: readonly Edit[] }[];
  /** Each state since the run began or was resumed: IDs with the versions of the documents that are read, sorted. */
  readonly states = new Set<string>();
  /** Each version that an item ever had: its ID with the versions of the documents that are read. */
  readonly versions = new Set<string>();
  /** Milliseconds that the run asked for. */
  waited = 0;

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
    this.#kills = [...schedule.kills];
    for (let i = 0; i < schedule.items; i++) this.#add();
    this.#remember();
    this.#quarters += DAY_QUARTERS;
    for (const place of schedule.early) this.#apply({ kind: "update", place });
    this.#quarters += 9 * DAY_QUARTERS;
    this.#begin();
  }

  /** IDs of the items that were there in all states that a request of the run may have been answered from. */
  get always(): string[] {
    const since = this.#begun - (this.#schedule.replica?.lagQuarters ?? 0);
    const first = this.#history.findLastIndex(({ quarters }) => quarters <= since);
    const [one, ...others] = this.#history.slice(Math.max(0, first)).map(({ items }) => items);
    const ids = others.map((items) => new Set(items.map(({ id }) => id)));
    return (one ?? []).map(({ id }) => id).filter((id) => ids.every((each) => each.has(id)));
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
    this.#begun = this.#quarters;
    this.#remember();
  }

  #remember(): void {
    const state = this.#versions();
    this.states.add(stateOf(state));
    for (const each of state) this.versions.add(stateOf([each]));
    this.#history.push({ quarters: this.#quarters, items: this.#items });
  }

  /** The run was killed, and is resumed. */
  resume(): void {
    for (const edit of this.#kills.shift()?.edits ?? []) this.#apply(edit);
    this.#begin();
  }

  wait(milliseconds: number): void {
    this.waited += milliseconds;
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
      common: this.#version,
    };
    this.#items = [...this.#items, item];
  }

  /** Changes the items in these modes; `common`: in a field that both modes give, too. */
  #update(items: readonly WorldItem[], modes: readonly Mode[], common: boolean): void {
    const changed = new Map(
      items.map((item) => {
        this.#version += 1;
        const now = (value: number) => Object.fromEntries(modes.map((mode) => [mode, value]));
        return [
          item,
          {
            ...item,
            updated: { ...item.updated, ...now(this.#quarters) },
            version: { ...item.version, ...now(this.#version) },
            common: common ? this.#version : item.common,
          },
        ];
      }),
    );
    this.#items = this.#items.map((item) => changed.get(item) ?? item);
  }

  #apply(edit: Edit): void {
    const { times, replica } = this.#schedule;
    // Nobody can tell two edits of one second apart by a time that is not of the clock of `Date`, or of a state of before.
    this.#quarters += times === "other" || replica !== null ? 4 : 1;
    const place = "place" in edit ? edit.place % Math.max(1, this.#items.length) : 0;
    const item = this.#items[place];
    // Where the modes mean the same time, nothing changes one of them alone.
    const touched: readonly Mode[] = times === "other" ? ["dynamic"] : ["dynamic", "full"];
    if (edit.kind === "update" && item !== undefined) this.#update([item], ["dynamic", "full"], true);
    if (edit.kind === "touch" && item !== undefined) this.#update([item], touched, false);
    if (edit.kind === "bulk") {
      const some = this.#items.filter((_, i) => i % edit.nth === 0);
      this.#update(some, ["dynamic", "full"], true);
    }
    if ((edit.kind === "remove" || edit.kind === "exchange") && item !== undefined) {
      this.#removed.push(item);
      this.#items = this.#items.filter((each) => each !== item);
    }
    if (edit.kind === "restore") this.#items = [...this.#items, ...this.#removed.splice(-1)];
    if (edit.kind === "add" || edit.kind === "exchange") this.#add();
    this.#remember();
  }

  #versions(): [id: string, versions: Record<Mode, number | undefined>][] {
    return this.#items.map(({ id, version: { dynamic, full } }) => [
      id,
      {
        dynamic: this.listings.includes("dynamic") ? dynamic : undefined,
        full: this.listings.includes("full") ? full : undefined,
      },
    ]);
  }

  /** What answers the request. */
  #answering(mode: Mode): readonly WorldItem[] {
    const { replica } = this.#schedule;
    if (replica === null || !this.#isLagging(replica, mode)) return this.#items;
    const then = this.#quarters - replica.lagQuarters;
    return (this.#history.findLast(({ quarters }) => quarters <= then) ?? this.#history[0])?.items ?? [];
  }

  #isLagging({ answers, chance }: Replica, mode: Mode): boolean {
    if (answers === "turns") return this.#request % 2 === 0;
    if (answers === "chance") return chance[this.#request % chance.length] ?? false;
    return answers === mode;
  }

  /** Edits come and time passes before the next request is answered. */
  #tick(): void {
    if (this.#left === 0) throw new Killed();
    this.#left -= 1;
    for (const edit of this.#schedule.edits[this.#request] ?? []) this.#apply(edit);
    this.#quarters += this.#schedule.quartersPerRequest;
    this.#request += 1;
  }

  page(page: number, mode: Mode): Answer<{ rows: WorldDocument[]; mark: PageSummary }> {
    this.#tick();
    const { perPage, order } = this.#schedule;
    const sorted = this.#answering(mode).toSorted((a, b) => {
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
    const item = this.#answering(mode).find((each) => each.id === id);
    if (item === undefined) return this.#answer("gone");
    if (refused > 0 && item.number % refused === 0) return this.#answer("refused");
    return this.#answer(this.#document(item, mode));
  }

  /** Other times: the full one is an hour earlier and some seconds more, as if of another clock. */
  #document({ id, number, updated, version, common }: WorldItem, mode: Mode): WorldDocument {
    const lag = this.#schedule.times === "other" && mode === "full" ? 4 * (3600 + (number % 3)) : 0;
    const text = new Date((updated[mode] - lag) * QUARTER_MS).toISOString();
    const fraction = this.#schedule.times === "precision" && mode === "dynamic";
    return { id, updatedAt: fraction ? text : `${text.slice(0, 19)}Z`, version: version[mode], common };
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
