/**
 * One pass over a listing. Never ended by a short or an empty page: a pass goes on until the service says that no page
 * follows and all announced pages are read.
 */

import type { Pagination } from "../../api/envelope.ts";
import type { RejectLimits } from "../../audit/checks/rejects.ts";
import type { Clock } from "../../common/clock.ts";
import { WarehouseError } from "../../common/errors.ts";
import type { HttpClient, HttpResponse } from "../http/client.ts";
import type { ListMode } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import { ByteBudget } from "../pages/byte-budget.ts";
import { type Catalogue, Sightings } from "./pass-snapshot.ts";
import type { ListedGroup, OpenListedGroup, PageRead, ReadGroup } from "../landing/checkpoint-form.ts";
import { isFresh } from "./fresh.ts";
import type { Holdings } from "./item-versions.ts";
import type { Journal } from "../journal.ts";
import { isOpen, type KeptPass } from "../landing/resume-state.ts";
import { PageReader } from "../pages/page-reader.ts";
import type { OnProgress } from "../../common/progress.ts";
import { RequestQueue } from "../../common/threads/work-queue.ts";
import type { ListedItem, PairedFiles } from "../../run/tasks.ts";
import { type PageMark, uncleanReasons } from "./verdict.ts";
import type { Workers } from "../../run/workers.ts";

export interface SweepSettings {
  readonly columns: readonly string[];
  /** Those of the columns that only single-item requests give: all that such a request asks for. */
  readonly itemColumns: readonly string[];
  /** Requests at the same time. */
  readonly concurrency: number;
  /** How many of the items that are asked for singly may be gone, or rejected. */
  readonly singlesLimits: RejectLimits;
}

export interface SweepContext {
  readonly client: HttpClient;
  readonly workers: Workers;
  readonly journal: Journal;
  readonly catalogue: Catalogue;
  readonly holdings: Holdings;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly settings: SweepSettings;
  readonly onProgress: OnProgress;
}

export interface PassContext extends SweepContext {
  /** Items a page to ask for. */
  readonly perPage: number;
  /** The first page, where it was read already. */
  readonly firstPage: HttpResponse | undefined;
}

/** Where an item was listed. */
export interface Listed extends ListedItem {
  readonly page: number;
  readonly group: number;
}

/** What becomes of pages once they are read; without it nothing lands. */
export interface SweepStaging {
  /** As in the pass that this one is paired with; undefined: by the size of the first page. */
  readonly pagesPerGroup: number | undefined;
  /** Pages that were read before the run was taken up; undefined: none. */
  readonly kept: KeptPass | undefined;
  /** Files with other views of a group's items, which are transformed with them; undefined: they are not. */
  readonly pairedWith: (group: number) => PairedFiles | undefined;
  /** Called with items that were transformed. */
  readonly onTransformed: (contentIds: readonly string[]) => void;
  /** Called when all pages of a group are in its thread. Answers when the group is written. */
  readonly closeGroup: (group: number, read: ReadGroup) => Promise<void>;
  /** Called with what a group has so far, after each page of it; the promise is of what is done about it. */
  readonly onRead: (group: number, read: () => ReadGroup) => Promise<void>;
  /** Called for each group that was written before. */
  readonly reopenGroup: (group: number, kept: ListedGroup) => Promise<void>;
  /** Called for each group that was read in part before, with its first page. */
  readonly restoreGroup: (group: number, kept: OpenListedGroup, firstPage: number) => Promise<unknown>;
  /** Called for each item, in no particular order. */
  readonly onItem?: (item: Listed) => void;
}

export interface Sweep {
  readonly sweep: number;
  readonly mode: ListMode;
  readonly pages: number;
  /** Of these, how many were read before the run was taken up. */
  readonly keptPages: number;
  /** Items that were read within the second of their own time. */
  readonly fresh: readonly string[];
  /** Items that are listed, and that no answer gave a document of. */
  readonly unread: readonly string[];
  readonly pagesPerGroup: number;
  readonly rows: number;
  /** Listed things that are no items: their IDs are not known. */
  readonly rejected: number;
  readonly sightings: Sightings;
  readonly perPage: number;
  readonly pagesAnnounced: number;
  readonly countBefore: number;
  readonly countAfter: number;
  /** Why the pass is not clean; empty: it is. */
  readonly reasons: readonly string[];
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly endedMs: number;
}

/** Decoded bytes of the pages under way, all together. */
const BYTES_IN_FLIGHT = 64 * 1024 * 1024;
/** Decoded bytes of a group, roughly: what a thread holds, and what a raw file has before compression. */
const GROUP_BYTES = 4 * 1024 * 1024;
const PAGES_PER_GROUP = 64;
/** Groups that were read before and are under way to their threads; as many again wait. */
const GROUPS_AT_A_TIME = 16;
/** Pages beyond the service's own total that may bring nothing new before no more are asked for. */
const BARREN_PAGES = 10;

export async function runSweep(
  context: PassContext,
  sweep: number,
  mode: ListMode,
  staging: SweepStaging | undefined,
): Promise<Sweep> {
  return new Pass(context, sweep, mode, staging).run();
}

class Pass {
  readonly #context: PassContext;
  readonly #sweep: number;
  readonly #mode: ListMode;
  readonly #staging: SweepStaging | undefined;
  readonly #sightings: Sightings;
  readonly #queue: RequestQueue;
  readonly #budget = new ByteBudget(BYTES_IN_FLIGHT);
  readonly #marks = new Map<number, PageMark>();
  /** Pages that were announced, and that are not there: with why. */
  readonly #missing = new Map<number, SourceError>();
  readonly #closed = new Set<number>();
  /** Pages of groups that are not closed. */
  readonly #read = new Map<number, PageRead[]>();
  #startedMs: number;
  #pagesPerGroup = 1;
  #pageBytes = 0;
  #bytes = 0;
  readonly #fresh: string[] = [];
  readonly #unread: string[] = [];
  readonly #reader: PageReader;
  #rows = 0;
  #rejected = 0;
  /** Pages that the service's own total has room for. */
  #pagesCounted = Number.POSITIVE_INFINITY;
  #barren = 0;

  constructor(context: PassContext, sweep: number, mode: ListMode, staging: SweepStaging | undefined) {
    this.#context = context;
    this.#sweep = sweep;
    this.#mode = mode;
    this.#staging = staging;
    this.#sightings = new Sightings(context.catalogue);
    this.#queue = new RequestQueue(context.settings.concurrency, context.signal);
    this.#reader = new PageReader(context, { sweep, mode, staging, signal: this.#queue.signal });
    this.#startedMs = context.clock.now();
  }

  async run(): Promise<Sweep> {
    try {
      return await this.#readAll();
    } catch (thrown) {
      // What has come is taken before it is saved, or before the pass is made anew.
      await this.#queue.settled();
      throw thrown;
    }
  }

  async #readAll(): Promise<Sweep> {
    const staging = this.#staging;
    const kept = staging?.kept;
    if (staging === undefined || kept === undefined) await this.#begin();
    else await this.#replay(kept, staging);
    const first = this.#mark(1);
    await this.#readAnnounced(first.pages);
    await this.#readFollowing();
    await this.#checkMissing();
    const last = this.#lastMark();
    this.#close(this.#groupOf(this.#pagesInOrder()));
    await this.#queue.done();
    return this.#result(first, last, kept);
  }

  /** The size of the first page says how many make a group. */
  async #begin(): Promise<void> {
    await this.#page(1, 0);
    const fitting = clamp(Math.floor(GROUP_BYTES / Math.max(1, this.#pageBytes)), 1, PAGES_PER_GROUP);
    this.#pagesPerGroup = this.#staging?.pagesPerGroup ?? fitting;
    this.#noteRead(1);
  }

  /**
   * Takes the pages that were read before as if they were answered now. A few groups at a time are under way: to read
   * them takes less than to pair them, and all would wait in memory.
   */
  async #replay(kept: KeptPass, { reopenGroup, restoreGroup }: SweepStaging): Promise<void> {
    const taking = new RequestQueue(GROUPS_AT_A_TIME, this.#queue.signal);
    this.#startedMs = kept.startedMs;
    this.#pagesPerGroup = kept.pagesPerGroup;
    try {
      for (const { group, read: readKept } of kept.groups) {
        const reading = readKept();
        taking.follow(reading);
        const read = await reading;
        for (const page of read.pages) this.#take(page, group);
        if (isOpen(read)) this.#read.set(group, [...read.pages]);
        else this.#closed.add(group);
        await taking.add(async () => {
          taking.signal.throwIfAborted();
          if (isOpen(read)) await restoreGroup(group, read, this.#firstPageOf(group));
          else await reopenGroup(group, read);
        });
      }
      await taking.done();
    } finally {
      await taking.settled();
    }
    for (const group of this.#read.keys()) this.#closeGroupOf(this.#firstPageOf(group));
  }

  /** Pages from the first on, without a gap. */
  #pagesInOrder(): number {
    let pages = 0;
    while (this.#marks.has(pages + 1)) pages += 1;
    return pages;
  }

  #lastMark(): Pagination {
    return this.#mark(this.#pagesInOrder());
  }

  #mark(page: number): Pagination {
    const mark = this.#marks.get(page);
    if (mark === undefined) throw new RangeError(`page ${page} was not read`);
    return mark.pagination;
  }

  /** Reads the pages that are still to be read, unless more are announced than the items can fill. */
  async #readAnnounced(pages: number): Promise<void> {
    for (let page = 1; page <= pages && this.#barren <= BARREN_PAGES && this.#missing.size === 0; page++)
      if (!this.#marks.has(page)) await this.#queuePage(page);
    await this.#queue.done();
  }

  /** Reads pages that nobody announced, for as long as each names a next one. */
  async #readFollowing(): Promise<void> {
    for (let last = this.#lastMark(); hasNext(last); last = this.#lastMark()) {
      const pages = this.#pagesInOrder();
      if (this.#missing.has(pages + 1)) return;
      if (this.#barren > BARREN_PAGES) throw this.#endless(pages);
      await this.#queuePage(pages + 1);
      await this.#queue.done();
    }
  }

  /** A list that shrinks while it is read ends before a page that it announced, and the pass is not clean. */
  async #checkMissing(): Promise<void> {
    const [missing] = this.#missing.values();
    if (missing === undefined) return;
    const pages = this.#pagesInOrder();
    if (this.#marks.size > pages || (await this.#reader.firstPageNow()).pages > pages) throw missing;
  }

  #endless(page: number): WarehouseError {
    return new WarehouseError(
      "source.protocol",
      `The ${this.#mode} listing goes on beyond page ${page} and brings nothing new; ask the operator of the service.`,
    );
  }

  #groupOf(page: number): number {
    return Math.floor((page - 1) / this.#pagesPerGroup);
  }

  #firstPageOf(group: number): number {
    return group * this.#pagesPerGroup + 1;
  }

  /** Queues a page as soon as the pages under way leave room for it. */
  async #queuePage(page: number): Promise<void> {
    const bytes = this.#pageBytes;
    await this.#budget.take(bytes);
    await this.#queue.add(async () => {
      try {
        await this.#page(page, this.#groupOf(page));
        this.#noteRead(page);
      } catch (thrown) {
        if (!isMissingPage(thrown)) throw thrown;
        this.#missing.set(page, thrown);
      } finally {
        this.#budget.give(bytes);
      }
    });
  }

  async #page(page: number, group: number): Promise<void> {
    const first = this.#marks.get(1)?.pagination;
    const read = await this.#reader.read({ page, group, firstPage: this.#firstPageOf(group) }, first);
    this.#take(read, group);
    if (this.#staging === undefined) return;
    const known = this.#read.get(group) ?? [];
    known.push(read);
    this.#read.set(group, known);
  }

  /** Another page of the group was read. */
  #noteRead(page: number): void {
    const group = this.#groupOf(page);
    this.#closeGroupOf(page);
    if (this.#staging === undefined || this.#closed.has(group)) return;
    this.#queue.follow(this.#staging.onRead(group, () => this.#readGroup(group)));
  }

  #take({ page, result, record, split }: PageRead, group: number): void {
    const { pagination } = result.answer;
    this.#checkPosition(page, pagination);
    this.#marks.set(page, { pagination, rows: result.rows });
    this.#pageBytes = Math.max(this.#pageBytes, result.decodedBytes);
    this.#rows += result.rows;
    this.#rejected += result.rejects.length;
    if (page === 1) this.#pagesCounted = Math.ceil(pagination.count / Math.max(1, result.rows));
    this.#context.journal.rejects.push(...result.rejects);
    const records = [record, ...(split?.records ?? [])];
    for (const each of records) this.#context.journal.requests.add(each);
    this.#context.journal.rejects.push(...(split?.rejects ?? []));
    this.#unread.push(...(split?.unread ?? []));
    const known = this.#sightings.distinct;
    const bytesPerRow = result.decodedBytes / Math.max(1, result.rows);
    for (const item of result.items) {
      this.#context.catalogue.weigh(item.id, bytesPerRow);
      const seconds = this.#sightings.add(item.id, item.updatedAt);
      if (records.some((each) => isFresh(seconds, each))) this.#fresh.push(item.id);
      this.#staging?.onItem?.({ ...item, page, group });
    }
    if (page > this.#pagesCounted && this.#sightings.distinct === known) this.#barren += 1;
    this.#bytes += records.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#tell();
  }

  /** The page must be the one that was asked for, and the next one the one after it. */
  #checkPosition(page: number, pagination: Pagination): void {
    const { current, next } = pagination;
    if (current !== page) throw this.#outOfOrder(page, `it answered with page ${current}`);
    if (next !== null && next !== undefined && next !== page + 1) {
      throw this.#outOfOrder(page, `it names page ${next} as the next`);
    }
  }

  #outOfOrder(page: number, what: string): WarehouseError {
    return new WarehouseError(
      "source.protocol",
      `Page ${page} of the ${this.#mode} listing is out of order: ${what}; a proxy or cache may stand in between.`,
    );
  }

  /** Closes the group of `page` once all its pages are read. */
  #closeGroupOf(page: number): void {
    const group = this.#groupOf(page);
    const first = this.#firstPageOf(group);
    for (let each = first; each < first + this.#pagesPerGroup; each++) if (!this.#marks.has(each)) return;
    this.#close(group);
  }

  #close(group: number): void {
    if (this.#staging === undefined || this.#closed.has(group)) return;
    this.#closed.add(group);
    const read = this.#readGroup(group);
    this.#read.delete(group);
    this.#queue.follow(this.#staging.closeGroup(group, read));
  }

  #readGroup(group: number): ReadGroup {
    return {
      startedMs: this.#startedMs,
      perPage: this.#context.perPage,
      pagesPerGroup: this.#pagesPerGroup,
      pages: (this.#read.get(group) ?? []).toSorted((a, b) => a.page - b.page),
    };
  }

  #tell(): void {
    const total = this.#marks.get(1)?.pagination.pages;
    this.#context.onProgress({
      stage: this.#mode,
      done: this.#marks.size,
      total,
      items: this.#sightings.distinct,
      bytes: this.#bytes,
    });
  }

  #result(first: Pagination, last: Pagination, kept: KeptPass | undefined): Sweep {
    return {
      sweep: this.#sweep,
      mode: this.#mode,
      pages: this.#marks.size,
      keptPages: kept?.pages ?? 0,
      fresh: this.#fresh,
      unread: this.#unread,
      pagesPerGroup: this.#pagesPerGroup,
      rows: this.#rows,
      rejected: this.#rejected,
      sightings: this.#sightings,
      perPage: first.per_page,
      pagesAnnounced: first.pages,
      countBefore: first.count,
      countAfter: last.count,
      reasons: uncleanReasons({ marks: this.#marks, sightings: this.#sightings, rejected: this.#rejected }),
      startedMs: this.#startedMs,
      endedMs: kept?.endedMs ?? this.#context.clock.now(),
    };
  }
}

/** Whether the service has no such page, by its status. */
function isMissingPage(thrown: unknown): thrown is SourceError {
  return (
    thrown instanceof SourceError &&
    thrown.code === "source.unavailable" &&
    (thrown.status === 404 || thrown.status === 410)
  );
}

/** Whether an answer was larger than what is read at once. */
export function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof WarehouseError && thrown.code === "source.too_large";
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

function hasNext({ next }: Pagination): boolean {
  return next !== null && next !== undefined;
}
