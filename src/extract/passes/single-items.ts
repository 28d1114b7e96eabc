/** Single-item requests after the dynamic listing, for the fields that only such answers give. */
import { rejectLimit } from "../../audit/checks/rejects.ts";
import { WarehouseError } from "../../common/errors.ts";
import type { OpenSingleGroup, ReadSingles, SingleGroup, SingleRead } from "../landing/checkpoint-form.ts";
import { isOpen } from "../landing/resume-state.ts";
import { RequestQueue } from "../../common/threads/work-queue.ts";
import { Bearable, isRejected, putOnRecord, readSingle } from "./single-item.ts";
import type { Listed, SweepContext } from "./listing.ts";

/** Which items are asked for singly. */
export type Details = "events" | "all" | "none";

/** Groups of pages whose single items are one group: a few alone would make a file of a few small documents. */
const GROUPS_TOGETHER = 4;
/** Pages, and items that they list, where it is more than one. */
const PAGES_TOGETHER = 64;
const LISTED_TOGETHER = 1000;

/** Group of the single items that a group of so many pages listed, with so many items a page. */
export function groupOfSingles(group: number, { pagesPerGroup, perPage }: PagesOfGroup): number {
  const pages = Math.min(PAGES_TOGETHER, LISTED_TOGETHER / perPage);
  return Math.floor(group / Math.min(GROUPS_TOGETHER, Math.max(1, Math.floor(pages / pagesPerGroup))));
}

export interface PagesOfGroup {
  readonly pagesPerGroup: number;
  /** Items a page that were asked for. */
  readonly perPage: number;
}

/** Collects the items of a listing that are to be asked for singly, each once however often it is listed. */
export class Wanted {
  readonly #details: Details;
  readonly #items = new Map<string, Listed>();

  constructor(details: Details) {
    this.#details = details;
  }

  note(item: Listed): void {
    if (this.#details === "none" || (this.#details === "events" && !item.event)) return;
    const known = this.#items.get(item.id);
    if (known === undefined || item.page < known.page) this.#items.set(item.id, item);
  }

  /** The listing is read anew. */
  clear(): void {
    this.#items.clear();
  }

  get count(): number {
    return this.#items.size;
  }

  has(id: string): boolean {
    return this.#items.has(id);
  }

  /** By their groups, in the order of the pages. */
  groups(pages: PagesOfGroup): [group: number, items: Listed[]][] {
    const items = [...this.#items.values()].sort((a, b) => a.page - b.page || a.position - b.position);
    return [...Map.groupBy(items, (item) => groupOfSingles(item.group, pages))];
  }
}

/** Items under way for each connection: while a thread reads the answer of one, the next is asked for. */
const UNDER_WAY = 2;

export interface DetailsRead {
  readonly asked: number;
  /** Items that are gone, by the service's word. */
  readonly gone: readonly string[];
  /** Items that could not be had singly: each is a reject, and its listed views count. */
  readonly rejected: readonly string[];
}

/** What becomes of groups of single items. */
export interface DetailsStaging {
  /** Of the pass that listed them. */
  readonly pages: PagesOfGroup;
  /** Those that were answered before the run was taken up; undefined: they are to be asked for. */
  readonly kept: (group: number) => Promise<SingleGroup | OpenSingleGroup | undefined>;
  /** Called with the answers that a group has so far, after each; the promise is of what is done about it. */
  readonly onRead: (group: number, read: () => ReadSingles) => Promise<void>;
  /** Called once all items of a group were answered. Answers when the group is written. */
  readonly closeGroup: (group: number, answers: readonly SingleRead[]) => Promise<void>;
  /** Called for each group that was written before. */
  readonly reopenGroup: (group: number, kept: SingleGroup) => void;
  /** Called for each group that was answered in part before. */
  readonly restoreGroup: (group: number, kept: OpenSingleGroup) => Promise<unknown>;
}

/** Asks for the items, group by group. */
export async function readDetails(
  context: SweepContext,
  sweep: number,
  wanted: Wanted,
  staging: DetailsStaging,
): Promise<DetailsRead> {
  const reader = new DetailsReader(context, sweep, wanted.count, staging);
  try {
    for (const [group, items] of wanted.groups(staging.pages)) await reader.read(group, items);
    return await reader.done();
  } catch (thrown) {
    // What has come is taken before it is saved.
    await reader.settled();
    throw thrown;
  }
}

class DetailsReader {
  readonly #context: SweepContext;
  readonly #sweep: number;
  readonly #total: number;
  readonly #staging: DetailsStaging;
  readonly #queue: RequestQueue;
  readonly #bearable: Bearable;
  readonly #gone: string[] = [];
  readonly #rejected: string[] = [];
  #done = 0;
  #bytes = 0;

  constructor(context: SweepContext, sweep: number, total: number, staging: DetailsStaging) {
    this.#context = context;
    this.#sweep = sweep;
    this.#total = total;
    this.#staging = staging;
    this.#queue = new RequestQueue(UNDER_WAY * context.settings.concurrency, context.signal);
    this.#bearable = new Bearable(total, context.settings.singlesLimits);
  }

  async read(group: number, items: readonly Listed[]): Promise<void> {
    const kept = await this.#staging.kept(group);
    const answers = kept === undefined ? new Map() : this.#replay(items, kept);
    if (kept !== undefined && !isOpen(kept)) {
      if (answers.size < items.length) throw doesNotFit();
      this.#staging.reopenGroup(group, kept);
      return;
    }
    if (kept !== undefined) await this.#staging.restoreGroup(group, kept);
    if (answers.size === items.length) this.#close(group, items, answers);
    else await this.#ask(group, items, answers);
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    await this.#queue.settled();
  }

  async done(): Promise<DetailsRead> {
    await this.#queue.done();
    return { asked: this.#total, gone: this.#gone, rejected: this.#rejected };
  }

  async #ask(group: number, items: readonly Listed[], answers: Answers): Promise<void> {
    const { itemColumns: columns } = this.#context.settings;
    for (const item of items.filter(({ id }) => !answers.has(id))) {
      await this.#queue.add(async () => {
        const single = {
          ...item,
          group,
          shape: "dynamic",
          sweep: this.#sweep,
          columns,
          whole: false,
        } as const;
        const answer = await readSingle(this.#context, single, this.#bearable, this.#queue.signal);
        answers.set(item.id, answer);
        this.#count(item, answer);
        if (answers.size === items.length) this.#close(group, items, answers);
        else this.#queue.follow(this.#staging.onRead(group, () => inOrder(items, answers)));
      });
    }
  }

  #close(group: number, items: readonly Listed[], answers: Answers): void {
    this.#queue.follow(this.#staging.closeGroup(group, inOrder(items, answers).answers));
  }

  /** Takes answers that were given before as if they were given now. */
  #replay(items: readonly Listed[], kept: ReadSingles): Answers {
    const listed = new Map(items.map((item) => [item.id, item]));
    const answers: Answers = new Map();
    for (const answer of kept.answers) {
      const item = listed.get(answer.id);
      if (item === undefined) throw doesNotFit();
      answers.set(item.id, answer);
      putOnRecord(this.#context, answer);
      if (isRejected(answer)) this.#bearable.rejected += 1;
      this.#count(item, answer);
    }
    return answers;
  }

  /** A few may be deleted while they are asked for; many are no accident. */
  #bearGone(id: string): void {
    const gone = this.#gone.push(id);
    const limit = rejectLimit(this.#total, this.#context.settings.singlesLimits);
    if (gone > limit) throw tooManyGone(gone, this.#total, limit);
  }

  #count(item: Listed, answer: SingleRead): void {
    const { gone, read, record } = answer;
    const { holdings, onProgress } = this.#context;
    this.#done += 1;
    this.#bytes += record?.bytes ?? 0;
    if (isRejected(answer)) this.#rejected.push(item.id);
    if (gone) this.#bearGone(item.id);
    // Only a few columns were asked for: where the item was edited since it was listed, the rest is of before.
    else if (read !== null && read.updatedAt !== item.updatedAt) holdings.forget("dynamic", item.id);
    const done = this.#done;
    onProgress({ stage: "items", done, total: this.#total, items: done, bytes: this.#bytes });
  }
}

/** By the item's ID. */
type Answers = Map<string, SingleRead>;

function inOrder(items: readonly Listed[], answers: Answers): ReadSingles {
  return { answers: items.flatMap(({ id }) => answers.get(id) ?? []) };
}

function tooManyGone(gone: number, total: number, limit: number): WarehouseError {
  return new WarehouseError(
    "source.rejects",
    `${gone} of ${total} listed items returned 404 or 410 when asked for singly, limit: ${limit}; ask the service's ` +
      "operator, or set `maxRejects`.",
  );
}

function doesNotFit(): WarehouseError {
  return new WarehouseError(
    "internal",
    "What was staged of single items does not fit the listing; it is removed, so run again.",
  );
}
