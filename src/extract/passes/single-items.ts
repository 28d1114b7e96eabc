/** Single-item requests after the dynamic listing, for the fields that only such answers give. */
import { WorkQueue } from "../../common/threads/work-queue.ts";
import { isRereadDue, type ReusableDocument, type ReusableItems } from "../../raw/reusable.ts";
import type { ItemResponse } from "../landing/checkpoint.ts";
import { type ResponseSlot, SINGLES_PER_GROUP, type StageLanding } from "../landing/landing.ts";
import type { ExtractContext } from "./context.ts";
import type { ListingPass, SingleItemEntry } from "./listing.ts";
import { FailureBudget, isRejected, recordItemResponse, requestItem } from "./single-item.ts";

/** Items under way for each connection: while a thread reads the answer of one, the next is asked for. */
const UNDER_WAY = 2;

export interface SingleItemTotals {
  /** Items that are gone, by the service's word. */
  readonly gone: readonly string[];
  /** Items that could not be had singly: each is a reject, and its listed views count. */
  readonly rejected: readonly string[];
  readonly asked: number;
  /** Documents of earlier runs that stood in for requests. */
  readonly reused: number;
}

/** What may stand in for requests. */
export interface ReuseSource extends ReusableItems {
  readonly rereadDays: number;
  /** Start of this run, in milliseconds since 1970 UTC. */
  readonly startedAt: number;
  /** What is wrong with the run before, in a clause; null: nothing, or there is none. */
  readonly damage: string | null;
}

/**
 * Asks for the items that a pass listed and that are wanted, group by group. Errors: those of the service, and of too
 * many that are gone or rejected.
 */
export async function readSingleItems(
  context: ExtractContext,
  pass: ListingPass,
  reuse: ReuseSource,
): Promise<SingleItemTotals> {
  return new SingleItemsReader(context, pass, reuse).run(pass);
}

class SingleItemsReader {
  readonly #context: ExtractContext;
  readonly #total: number;
  readonly #landing: StageLanding<ItemResponse>;
  readonly #queue: WorkQueue;
  readonly #budget: FailureBudget;
  readonly #run: string;
  /** By ID: what stands in for a request. */
  readonly #reusable = new Map<string, ReusableDocument>();
  #reused = 0;
  readonly #gone: string[] = [];
  readonly #rejected: string[] = [];
  #done = 0;
  #bytes = 0;

  constructor(context: ExtractContext, { pass, wanted }: ListingPass, reuse: ReuseSource) {
    const { landing, settings, signal } = context;
    this.#context = context;
    this.#total = wanted.length;
    this.#landing = landing.singles("item", pass, true);
    this.#queue = new WorkQueue(UNDER_WAY * settings.concurrency, signal);
    this.#run = reuse.run;
    for (const item of wanted) {
      const document = reuse.documents.get(item.fingerprint);
      if (document === undefined) continue;
      const age = { readAt: document.readAt, now: reuse.startedAt, days: reuse.rereadDays };
      if (!isRereadDue(item.id, age)) this.#reusable.set(item.id, document);
    }
    const asked = wanted.filter(({ id }) => !this.#reusable.has(id) && !reuse.failed.has(id)).length;
    this.#budget = new FailureBudget(
      { total: asked, few: this.#reusable.size > 0, excused: reuse.failed, wanted: wanted.length },
      settings.singlesLimits,
    );
  }

  async run(pass: ListingPass): Promise<SingleItemTotals> {
    const wanted = pass.wanted.toSorted((a, b) => a.page - b.page || a.position - b.position);
    try {
      const kept = await this.#takeKept(wanted);
      const missing = wanted.filter(({ id }) => !kept.has(id));
      for (let i = 0; i < missing.length; i += SINGLES_PER_GROUP)
        await this.#group(missing.slice(i, i + SINGLES_PER_GROUP));
      await this.#queue.done();
      await this.#landing.finish();
    } finally {
      // What has come is taken before it is saved.
      await this.#queue.settled();
    }
    const reused = this.#reused;
    return { gone: this.#gone, rejected: this.#rejected, asked: this.#total - reused, reused };
  }

  /** Takes answers that were given before the run was resumed as if they were given now. Gives the IDs of their items. */
  async #takeKept(items: readonly SingleItemEntry[]): Promise<ReadonlySet<string>> {
    const listed = new Map(items.map((item) => [item.id, item]));
    const taken = new Set<string>();
    for await (const answers of this.#landing.resumed()) {
      for (const answer of answers) {
        taken.add(answer.id);
        recordItemResponse(this.#context, answer);
        const item = listed.get(answer.id);
        if (item === undefined) continue;
        if (isRejected(answer)) this.#budget.note(item.id);
        this.#count(item, answer);
      }
    }
    return taken;
  }

  async #group(items: readonly SingleItemEntry[]): Promise<void> {
    const placed = items.map((item) => ({ item, place: this.#landing.reserveSlot() }));
    await this.#reuse(placed);
    for (const { item, place } of placed)
      if (!this.#reusable.has(item.id)) await this.#queue.add(async () => this.#ask(item, place));
  }

  /** Copies what stands in for requests. */
  async #reuse(
    placed: readonly { readonly item: SingleItemEntry; readonly place: ResponseSlot }[],
  ): Promise<void> {
    const found = placed.flatMap(({ item, place }) => {
      const document = this.#reusable.get(item.id);
      return document === undefined ? [] : { item, place, document };
    });
    for (const ofFile of Map.groupBy(found, ({ document }) => document.file).values()) {
      const [{ place, document }] = ofFile as [(typeof found)[number]];
      const items = ofFile.map(({ item: { id: contentId, page, position }, document: { row }, place }) => {
        return { contentId, page, position, row, unit: place.unit };
      });
      await this.#landing.copy(place.group, { rawFile: document.file, run: this.#run, items });
    }
    for (const { item, place } of found) {
      const { id, updatedAt } = item;
      const answer = { id, shape: "dynamic", gone: false, read: { updatedAt }, rejects: [] } as const;
      this.#answered(item, place, { ...answer, record: null, isReused: true });
    }
  }

  async #ask(item: SingleItemEntry, place: ResponseSlot): Promise<void> {
    const { itemColumns: columns } = this.#context.settings;
    const how = { listed: item, landing: this.#landing, shape: "dynamic", columns, whole: false } as const;
    const single = { ...item, ...how, place };
    this.#answered(item, place, await requestItem(this.#context, single, this.#budget, this.#queue.signal));
  }

  #answered(item: SingleItemEntry, place: ResponseSlot, answer: ItemResponse): void {
    this.#count(item, answer);
    this.#queue.follow(this.#landing.add(place, answer));
  }

  #count(item: SingleItemEntry, answer: ItemResponse): void {
    const { gone, read, record, isReused } = answer;
    const { versions, onProgress } = this.#context;
    this.#done += 1;
    this.#bytes += record?.bytes ?? 0;
    if (isRejected(answer)) this.#rejected.push(item.id);
    if (isReused) this.#reused += 1;
    if (gone) {
      this.#gone.push(item.id);
      this.#budget.assertFewGone(item.id);
    }
    // Only a few columns were asked for: where the item was edited since it was listed, the rest is of before.
    if (read !== null && read.updatedAt !== item.updatedAt) versions.invalidate("dynamic", item.id);
    const done = this.#done;
    onProgress({ stage: "items", done, total: this.#total, items: done, bytes: this.#bytes });
  }
}
