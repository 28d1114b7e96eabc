/** Reads single items after the dynamic listing, for the fields that listings do not have. */
import { hash } from "node:crypto";
import { WorkQueue } from "../../common/threads/work-queue.ts";
import type { ReusableDocument } from "../../raw/reusable.ts";
import type { ItemResponse } from "../landing/checkpoint.ts";
import type { ResponseSlot, StageLanding } from "../landing/landing.ts";
import type { ExtractContext } from "./context.ts";
import { FailureBudget, isRejected, recordItemResponse, requestItem } from "./item-requests.ts";
import type { ListingPass } from "./listing.ts";

/** Items in flight for each connection: while a thread reads one response, the next item is requested. */
const ITEMS_IN_FLIGHT = 2;

type SingleItemEntry = ListingPass["wanted"][number];

/** What became of the items. `gone` and `rejected`: IDs. */
export interface SingleItemTotals {
  readonly requested: number;
  readonly reused: number;
  readonly gone: readonly string[];
  readonly rejected: readonly string[];
}

/** Documents of the run before that may replace requests. */
export interface ReuseSource {
  /** Name of the run. */
  readonly run: string;
  /** By fingerprint, which covers the item's ID. */
  readonly documents: ReadonlyMap<string, ReusableDocument>;
  readonly rereadDays: number;
  /** Start of this run, in milliseconds since 1970 UTC. */
  readonly startedAt: number;
  /** Why nothing of the run before can be reused, as a clause; `null` if nothing is wrong. */
  readonly damage: string | null;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Whether an item must be read again. Each item is due once in `days`, at a time that its ID decides, so that the nights
 * share the requests. It is also due if the clock went back. Times are starts of runs in milliseconds since 1970 by the
 * machine's clock, because the service's clock may stand still.
 */
function isRereadDue(
  id: string,
  { readAt, now, days }: { readonly readAt: number; readonly now: number; readonly days: number },
): boolean {
  if (days === 0 || now < readAt) return true;
  const period = days * DAY_MS;
  const shift = (Buffer.from(hash("sha256", id, "buffer")).readUInt32BE() / 2 ** 32) * period;
  const turnOf = (time: number) => Math.floor((time + shift) / period);
  return turnOf(now) !== turnOf(readAt);
}

/** Reads the items that a pass wants, group by group. Throws `source.rejects` if too many are gone or rejected. */
export class SingleItemsReader {
  readonly #context: ExtractContext;
  readonly #items: readonly SingleItemEntry[];
  readonly #landing: StageLanding;
  readonly #queue: WorkQueue;
  readonly #budget: FailureBudget;
  /** The run that the reusable documents are from. */
  readonly #reusedRun: string;
  readonly #reusable = new Map<string, ReusableDocument>();
  readonly #gone: string[] = [];
  readonly #rejected: string[] = [];
  #reused = 0;
  #done = 0;
  #bytes = 0;

  constructor(context: ExtractContext, { pass, wanted }: ListingPass, reuse: ReuseSource) {
    const { landing, settings, signal } = context;
    this.#context = context;
    this.#items = wanted.toSorted((a, b) => a.page - b.page || a.position - b.position);
    this.#landing = landing.of("item", pass);
    this.#queue = new WorkQueue(ITEMS_IN_FLIGHT * settings.concurrency, signal);
    this.#reusedRun = reuse.run;
    for (const item of wanted) {
      const document = reuse.documents.get(item.fingerprint);
      if (document === undefined) continue;
      const age = { readAt: document.readAt, now: reuse.startedAt, days: reuse.rereadDays };
      if (!isRereadDue(item.id, age)) this.#reusable.set(item.id, document);
    }
    this.#budget = new FailureBudget(wanted.length, settings.singlesLimits);
  }

  async read(): Promise<SingleItemTotals> {
    try {
      const restored = await this.#restore();
      const missing = this.#items.filter(({ id }) => !restored.has(id));
      const { groupSize = 1 } = this.#landing;
      for (let i = 0; i < missing.length; i += groupSize)
        await this.#readGroup(missing.slice(i, i + groupSize));
      await this.#queue.done();
      await this.#landing.finish();
    } finally {
      // Wait for the responses under way, so that a checkpoint has them.
      await this.#queue.settled();
    }
    return {
      requested: this.#items.length - this.#reused,
      reused: this.#reused,
      gone: this.#gone,
      rejected: this.#rejected,
    };
  }

  /** Restores responses of an interrupted run. Returns the IDs of their items. */
  async #restore(): Promise<ReadonlySet<string>> {
    const wanted = new Map(this.#items.map((item) => [item.id, item]));
    const restored = new Set<string>();
    for await (const responses of this.#landing.resumed<ItemResponse>()) {
      for (const response of responses) {
        restored.add(response.id);
        recordItemResponse(this.#context, response);
        const item = wanted.get(response.id);
        if (item === undefined) continue;
        if (isRejected(response)) this.#budget.addMismatch();
        this.#count(item, response);
      }
    }
    return restored;
  }

  async #readGroup(items: readonly SingleItemEntry[]): Promise<void> {
    const group = items.map((item) => {
      return { item, slot: this.#landing.reserveSlot(), document: this.#reusable.get(item.id) };
    });
    const copies = group.flatMap(({ document, ...each }) =>
      document === undefined ? [] : { ...each, document },
    );
    for (const [rawFile, ofFile] of Map.groupBy(copies, ({ document }) => document.file)) {
      const items = ofFile.map(({ item: { id: contentId, page, position }, document: { row }, slot }) => {
        return { contentId, page, position, row, unit: slot.unit };
      });
      const [first] = ofFile;
      if (first === undefined) continue;
      await this.#landing.copy(first.slot.group, { rawFile, run: this.#reusedRun, items });
    }
    for (const { item, slot } of copies) {
      const { id, updatedAt } = item;
      const response = { id, shape: "dynamic", gone: false, updatedAt, rejects: [] } as const;
      this.#take(item, slot, { ...response, record: null });
    }
    for (const { item, slot, document } of group)
      if (document === undefined) await this.#queue.add(async () => this.#request(item, slot));
  }

  async #request(item: SingleItemEntry, slot: ResponseSlot): Promise<void> {
    const { itemColumns: columns } = this.#context.settings;
    const how = { listed: item, landing: this.#landing, shape: "dynamic", columns, whole: false } as const;
    const single = { ...item, ...how, slot };
    const response = await requestItem(this.#context, single, this.#budget, this.#queue.signal);
    recordItemResponse(this.#context, response);
    this.#take(item, slot, response);
  }

  #take(item: SingleItemEntry, slot: ResponseSlot, response: ItemResponse): void {
    this.#count(item, response);
    this.#queue.follow(this.#landing.add(slot, response));
  }

  #count(item: SingleItemEntry, response: ItemResponse): void {
    const { gone, updatedAt, record } = response;
    const { versions, onProgress } = this.#context;
    this.#done += 1;
    this.#bytes += record?.bytes ?? 0;
    if (isRejected(response)) this.#rejected.push(item.id);
    if (updatedAt !== undefined && record === null) this.#reused += 1;
    if (gone) {
      this.#gone.push(item.id);
      this.#budget.addGone();
    }
    // The response has only a few columns. If the item was edited since it was listed, the others are outdated.
    if (updatedAt !== undefined && updatedAt !== item.updatedAt) versions.invalidate("dynamic", item.id);
    const done = this.#done;
    onProgress({ stage: "items", done, total: this.#items.length, items: done, bytes: this.#bytes });
  }
}
