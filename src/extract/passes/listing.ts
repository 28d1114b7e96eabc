/**
 * One pass over a listing. Never ended by a short or an empty page: a pass goes on until the service says that no page
 * follows and all announced pages are read.
 */

import type { Pagination } from "../../api/envelope.ts";
import { WarehouseError } from "../../common/errors.ts";
import { WorkQueue } from "../../common/threads/work-queue.ts";
import type { PassRecord } from "../../raw/extract-record.ts";
import { NO_FINGERPRINT } from "../../raw/fingerprint.ts";
import type { ListMode } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import type { PageResponse } from "../landing/checkpoint.ts";
import type { ResponseSlot } from "../landing/landing.ts";
import type { ListEntry } from "../pages/tasks.ts";
import { isFresh } from "../pages/updated-at.ts";
import { ByteBudget } from "./byte-budget.ts";
import type { ExtractContext } from "./context.ts";
import type { LandedPass } from "./item-versions.ts";
import { PageReader, type PassOfPages } from "./page-reader.ts";
import { PassSnapshot } from "./pass-snapshot.ts";
import { countOfItems, type PageSummary, type PassEvidence, uncleanReasons } from "./verdict.ts";

export interface PassPlan extends PassOfPages {
  /** As in the pass of the other listing, so that their groups have the same items; undefined: by the first page. */
  readonly pagesPerGroup: number | undefined;
  /** Which of the items are given back. */
  readonly wants: (item: ListEntry) => boolean;
}

export interface SingleItemEntry extends ListEntry {
  readonly page: number;
}

export interface ListingPass extends PassEvidence, LandedPass {
  readonly mode: ListMode;
  /** Items that were wanted, each where it was listed first. */
  readonly wanted: readonly SingleItemEntry[];
  /** Of a limited run: IDs of the first items, in their order; else empty. */
  readonly first: readonly string[];
  /** Items of a group of pages, if each is full. */
  readonly itemsPerGroup: number;
  readonly rows: number;
  /** Listed documents that are no items: their IDs are not known. */
  readonly rejected: number;
  /** As the service says. */
  readonly perPage: number;
  readonly pagesAnnounced: number;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly endedMs: number;
}

/** Decoded bytes of the pages under way, all together. */
const BYTES_IN_FLIGHT = 64 * 1024 * 1024;
/** Decoded bytes of a group, roughly: what a thread holds, and what a raw file has before compression. */
const GROUP_BYTES = 4 * 1024 * 1024;
const PAGES_PER_GROUP = 64;
/** Pages beyond the service's own total that may bring nothing new before no more are asked for. */
const BARREN_PAGES = 10;

/** Makes a pass. Errors: those of the service, and of the disk. */
export async function readPass(context: ExtractContext, request: PassPlan): Promise<ListingPass> {
  return new PassReader(context, request).run();
}

class PassReader {
  readonly #context: ExtractContext;
  readonly #request: PassPlan;
  readonly #snapshot: PassSnapshot;
  readonly #queue: WorkQueue;
  readonly #budget = new ByteBudget(BYTES_IN_FLIGHT);
  readonly #marks = new Map<number, PageSummary>();
  /** Pages that were announced, and that are not there: with why. */
  readonly #missing = new Map<number, SourceError>();
  readonly #startedMs: number;
  /** Pages that were read before the run was resumed. */
  #resumedPages = 0;
  #pageBytes = 0;
  #bytes = 0;
  readonly #fresh: string[] = [];
  readonly #unread: string[] = [];
  readonly #wanted = new Map<string, SingleItemEntry>();
  readonly #reader: PageReader;
  #rows = 0;
  #rejected = 0;
  /** Of a limited run: the items of each page. */
  readonly #idsByPage = new Map<number, readonly string[]>();
  /** Pages that the service's own total has room for. */
  #pagesCounted = Number.POSITIVE_INFINITY;
  #barren = 0;

  constructor(context: ExtractContext, request: PassPlan) {
    this.#context = context;
    this.#request = request;
    this.#snapshot = new PassSnapshot(context.itemIndex);
    this.#queue = new WorkQueue(context.settings.concurrency, context.signal);
    this.#reader = new PageReader(context, request, this.#queue.signal);
    this.#startedMs = request.landing?.passStart?.startedMs ?? context.clock.now();
  }

  async run(): Promise<ListingPass> {
    try {
      return await this.#readAll();
    } finally {
      // What has come is taken before it is saved, or before the pass is made anew.
      await this.#queue.settled();
    }
  }

  async #readAll(): Promise<ListingPass> {
    const { landing, perPage } = this.#request;
    if (landing !== undefined) {
      landing.passStart = { perPage, startedMs: this.#startedMs };
      for await (const pages of landing.resumed()) {
        this.#queue.signal.throwIfAborted();
        for (const page of pages) this.#take(page);
      }
    }
    this.#resumedPages = this.#marks.size;
    if (landing !== undefined && this.#resumedPages > 0) landing.groupSize = this.#pagesPerGroup;
    if (!this.#marks.has(1)) await this.#page(1, landing?.reserveSlot());
    const first = this.#mark(1);
    await this.#readAnnounced(this.#pagesToRead ?? 0);
    if (this.#limit === null) await this.#readFollowing();
    await this.#checkMissing();
    const last = this.#lastMark();
    await this.#queue.done();
    await landing?.finish();
    return this.#result(first, last);
  }

  get #limit(): number | null {
    return this.#context.settings.limit;
  }

  /** As many as the first items fill; what came on the first page is the page size. */
  get #pagesWanted(): number {
    const rows = this.#marks.get(1)?.rows ?? 0;
    return this.#limit === null ? Number.POSITIVE_INFINITY : Math.ceil(this.#limit / Math.max(1, rows));
  }

  /** As the first page says; undefined: it was not read yet. */
  get #pagesToRead(): number | undefined {
    const announced = this.#marks.get(1)?.pagination.pages;
    return announced && Math.min(announced, this.#pagesWanted);
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
    for (let last = this.#lastMark(); (last.next ?? null) !== null; last = this.#lastMark()) {
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
      `The ${this.#request.mode} listing goes on beyond page ${page} and brings nothing new; ask the operator of the service.`,
    );
  }

  /** Queues a page as soon as the pages under way leave room for it. */
  async #queuePage(page: number): Promise<void> {
    const bytes = this.#pageBytes;
    await this.#budget.take(bytes);
    const place = this.#request.landing?.reserveSlot();
    await this.#queue.add(async () => {
      try {
        await this.#page(page, place);
      } catch (thrown) {
        if (!isMissingPage(thrown)) throw thrown;
        this.#missing.set(page, thrown);
      } finally {
        this.#budget.give(bytes);
      }
    });
  }

  async #page(page: number, place: ResponseSlot | undefined): Promise<void> {
    const first = this.#marks.get(1)?.pagination;
    const read = await this.#reader.read({ page, place }, first);
    this.#take(read);
    const { landing } = this.#request;
    if (landing === undefined || place === undefined) return;
    landing.groupSize ??= this.#pagesPerGroup;
    this.#queue.follow(landing.add(place, read));
  }

  get #pagesPerGroup(): number {
    const fitting = Math.max(1, Math.floor(GROUP_BYTES / Math.max(1, this.#pageBytes)));
    return this.#request.pagesPerGroup ?? Math.min(fitting, PAGES_PER_GROUP);
  }

  #take({ page, result, records, rejects, unread }: PageResponse): void {
    const { pagination } = result.answer;
    this.#checkPosition(page, pagination);
    this.#marks.set(page, { pagination, rows: result.rows });
    this.#pageBytes = Math.max(this.#pageBytes, result.decodedBytes);
    this.#rows += result.rows;
    this.#rejected += result.rejects.length;
    if (page === 1) this.#pagesCounted = Math.ceil(pagination.count / Math.max(1, result.rows));
    this.#context.journal.rejects.push(...result.rejects);
    for (const each of records) this.#context.journal.requests.add(each);
    this.#context.journal.rejects.push(...rejects);
    this.#unread.push(...unread);
    const known = this.#snapshot.distinct;
    const bytesPerRow = result.decodedBytes / Math.max(1, result.rows);
    const { pass, landing } = this.#request;
    if (landing !== undefined) this.#context.itemIndex.weighPage(pass, page, bytesPerRow);
    if (this.#limit !== null)
      this.#idsByPage.set(
        page,
        result.items.map(({ id }) => id),
      );
    for (const item of result.items) {
      this.#context.itemIndex.weigh(item.id, bytesPerRow);
      const seconds = this.#snapshot.add(item.id, item.updatedAt);
      if (records.some((each) => isFresh(seconds, each))) this.#fresh.push(item.id);
      this.#note({ ...item, page });
    }
    if (page > this.#pagesCounted && this.#snapshot.distinct === known) this.#barren += 1;
    this.#bytes += records.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#context.onProgress({
      stage: this.#request.mode,
      done: this.#marks.size,
      total: this.#pagesToRead,
      items: this.#snapshot.distinct,
      bytes: this.#bytes,
    });
  }

  /** However often an item is listed, it counts where it stands first; one that changed meanwhile is asked for. */
  #note(item: SingleItemEntry): void {
    if (!this.#request.wants(item)) return;
    const known = this.#wanted.get(item.id) ?? item;
    const fingerprint = known.fingerprint === item.fingerprint ? item.fingerprint : NO_FINGERPRINT;
    this.#wanted.set(item.id, { ...(item.page < known.page ? item : known), fingerprint });
  }

  /** The page must be the one that was asked for, and the next one the one after it. */
  #checkPosition(page: number, pagination: Pagination): void {
    const { current, next } = pagination;
    if (current !== page) throw this.#outOfOrder(page, `it answered with page ${current}`);
    if ((next ?? page + 1) !== page + 1) throw this.#outOfOrder(page, `it names page ${next} as the next`);
  }

  #outOfOrder(page: number, what: string): WarehouseError {
    return new WarehouseError(
      "source.protocol",
      `Page ${page} of the ${this.#request.mode} listing is out of order: ${what}; a proxy or cache may stand in between.`,
    );
  }

  #reasons(): readonly string[] {
    if (this.#limit !== null) return [`only the first ${countOfItems(this.#limit)} are read`];
    return uncleanReasons(this.#marks, this.#snapshot, this.#rejected);
  }

  #result(first: Pagination, last: Pagination): ListingPass {
    const { pass, mode, perPage, landing } = this.#request;
    const pages = [...this.#idsByPage].sort(([a], [b]) => a - b);
    const ids = new Set(pages.flatMap(([, idsOfPage]) => idsOfPage));
    return {
      pass,
      mode,
      pages: this.#marks.size,
      resumedPages: this.#resumedPages,
      fresh: this.#fresh,
      unread: this.#unread,
      wanted: [...this.#wanted.values()],
      first: [...ids].slice(0, this.#limit ?? 0),
      itemsPerGroup: (landing?.groupSize ?? 1) * perPage,
      rows: this.#rows,
      rejected: this.#rejected,
      snapshot: this.#snapshot,
      perPage: first.per_page,
      pagesAnnounced: first.pages,
      countBefore: first.count,
      countAfter: last.count,
      reasons: this.#reasons(),
      startedMs: this.#startedMs,
      endedMs: this.#context.clock.now(),
    };
  }
}

/** A pass as it is certified. `sorted`: the numbers of all items in the order of their IDs. */
export function passRecord(pass: ListingPass, sorted: Uint32Array): PassRecord {
  return {
    pass: pass.pass,
    mode: pass.mode,
    pages: pass.pages,
    perPage: pass.perPage,
    pagesAnnounced: pass.pagesAnnounced,
    rows: pass.rows,
    distinctItems: pass.snapshot.distinct,
    duplicates: pass.snapshot.duplicates,
    countBefore: pass.countBefore,
    countAfter: pass.countAfter,
    digest: pass.snapshot.digest(sorted),
    clean: pass.reasons.length === 0,
    reason: pass.reasons.length === 0 ? null : pass.reasons.join("; "),
    startedMs: pass.startedMs,
    endedMs: pass.endedMs,
  };
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
