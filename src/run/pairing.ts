import { Drift } from "../raw/drift.ts";
import type { View } from "../raw/document.ts";
import { RawViews } from "../raw/raw-file.ts";
import type { PairedFiles } from "./tasks.ts";

/** An item of a page, on its way into the tables. */
export interface ViewedItem {
  readonly contentId: string;
  readonly view: View;
}

/** How the items of a group of pages meet their other views: in the order of the listing, however pages come. */
export class Pairing {
  readonly others: RawViews;
  /** Noted while the items were transformed. */
  readonly drift = new Drift();
  /** Items of pages that came before one that stands before them, by page. */
  readonly #early = new Map<number, readonly ViewedItem[]>();
  #next: number;

  constructor({ listed, singles }: PairedFiles, firstPage: number) {
    this.others = new RawViews([listed], singles);
    this.#next = firstPage;
  }

  /** The items of a page, and of those that waited for it; none while it waits itself. */
  *inOrder(page: number, items: readonly ViewedItem[]): Generator<ViewedItem> {
    this.#early.set(page, items);
    for (let next = this.#take(); next !== undefined; next = this.#take()) yield* next;
  }

  /** Gives the memory of the other views back: no item comes any more. */
  [Symbol.dispose](): void {
    this.others[Symbol.dispose]();
  }

  #take(): readonly ViewedItem[] | undefined {
    const items = this.#early.get(this.#next);
    if (items === undefined) return undefined;
    this.#early.delete(this.#next);
    this.#next += 1;
    return items;
  }
}
