/**
 * Makes one pass over a listing. A short or empty page does not end a pass: it goes on until the service names no next
 * page and all announced pages are read.
 */
import type { Pagination } from "../../api/envelope.ts";
import { WarehouseError } from "../../common/errors.ts";
import { pluralize } from "../../common/figures.ts";
import { WorkQueue } from "../../common/threads/work-queue.ts";
import type { PassRecord } from "../../raw/extract-record.ts";
import { NO_FINGERPRINT } from "../../raw/raw-file.ts";
import type { ListMode } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import type { PageResponse } from "../landing/checkpoint.ts";
import type { ResponseSlot } from "../landing/landing.ts";
import type { ListEntry, PageResult } from "../pages/tasks.ts";
import { isFresh } from "../pages/updated-at.ts";
import type { ExtractContext } from "./context.ts";
import { PassSnapshot } from "./item-versions.ts";
import { PageReader, type PassPlan } from "./page-reader.ts";
import { type PassEvidence, uncleanReasons } from "./verdict.ts";

/** An item to request singly, with the page that listed it. */
type SingleItemEntry = ListEntry & { readonly page: number };

export interface ListingPass
  extends PassEvidence,
    Pick<PassRecord, "rows" | "perPage" | "pagesAnnounced" | "startedMs" | "endedMs"> {
  readonly mode: ListMode;
  /** Items that the plan wants, each where it was listed first. */
  readonly wanted: readonly SingleItemEntry[];
  /** IDs of the first items of a limited run, else empty. */
  readonly first: ReadonlySet<string>;
  /** Items of a full group of pages. */
  readonly itemsPerGroup: number;
  /** Listed documents that are not items: their IDs are not known. */
  readonly rejected: number;
}

/** 4 MB: decoded bytes of a group, roughly. A thread holds as much, and so does a raw file before compression. */
const GROUP_BYTES = 4 * 1024 * 1024;
const MAX_PAGES_PER_GROUP = 64;
/** Pages beyond the service's own total without a new item, before the listing counts as endless. */
const MAX_BARREN_PAGES = 10;

/** Makes a pass. Throws the errors of the service and of the disk. */
export class PassReader {
  readonly #context: ExtractContext;
  readonly #plan: PassPlan;
  readonly #snapshot: PassSnapshot;
  readonly #queue: WorkQueue;
  readonly #pages: PageReader;
  readonly #startedMs: number;
  readonly #summaries = new Map<number, Pick<PageResult, "pagination" | "rows">>();
  /** The failure of an announced page that the service does not have. */
  #missing: SourceError | undefined;
  readonly #wanted = new Map<string, SingleItemEntry>();
  readonly #fresh: string[] = [];
  readonly #unread: string[] = [];
  /** First items of a limited run. */
  readonly #first = new Set<string>();
  #resumedPages = 0;
  /** Decoded bytes of the largest page. */
  #pageBytes = 0;
  /** Bytes of all responses, as they came. */
  #bytes = 0;
  #rows = 0;
  #rejected = 0;
  /** Pages that the service's own total fills. */
  #pagesCounted = Number.POSITIVE_INFINITY;
  #barrenPages = 0;

  constructor(context: ExtractContext, plan: PassPlan) {
    this.#context = context;
    this.#plan = plan;
    this.#snapshot = new PassSnapshot(context.itemIndex);
    this.#queue = new WorkQueue(context.settings.concurrency, context.signal);
    this.#pages = new PageReader(context, plan, this.#queue.signal);
    this.#startedMs = plan.landing?.passStart?.startedMs ?? context.clock.now();
  }

  async read(): Promise<ListingPass> {
    try {
      await this.#restore();
      const { landing } = this.#plan;
      if (!this.#summaries.has(1)) await this.#readPage(1, landing?.reserveSlot());
      await this.#readAnnounced();
      if (this.#limit === null) await this.#readFollowing();
      await this.#checkMissing();
      const pass = this.#pass();
      await this.#queue.done();
      await landing?.finish();
      return { ...pass, endedMs: this.#context.clock.now() };
    } finally {
      // Wait for the responses under way, so that a checkpoint has them.
      await this.#queue.settled();
    }
  }

  /** Restores the pages of an interrupted run. */
  async #restore(): Promise<void> {
    const { landing, perPage } = this.#plan;
    if (landing === undefined) return;
    landing.passStart = { perPage, startedMs: this.#startedMs };
    for await (const pages of landing.resumed<PageResponse>()) {
      this.#queue.signal.throwIfAborted();
      for (const page of pages) this.#take(page);
    }
    this.#resumedPages = this.#summaries.size;
    if (this.#resumedPages > 0) landing.groupSize = this.#pagesPerGroup;
  }

  get #limit(): number | null {
    return this.#context.settings.limit;
  }

  /** Pages to read, as the first page says, or as many as the items of a limited run fill. */
  get #pagesToRead(): number | undefined {
    const first = this.#summaries.get(1);
    if (first === undefined || this.#limit === null) return first?.pagination.pages;
    return Math.min(first.pagination.pages, Math.ceil(this.#limit / Math.max(1, first.rows)));
  }

  /** Number of pages from the first on, without a gap. */
  #pagesInOrder(): number {
    let pages = 0;
    while (this.#summaries.has(pages + 1)) pages += 1;
    return pages;
  }

  #paginationOf(page: number): Pagination {
    const summary = this.#summaries.get(page);
    if (summary === undefined) throw new RangeError(`page ${page} was not read`);
    return summary.pagination;
  }

  /** Reads the announced pages, unless the service announces more than its items fill. */
  async #readAnnounced(): Promise<void> {
    const pages = this.#pagesToRead ?? 0;
    for (let page = 1; page <= pages; page++) {
      if (this.#barrenPages > MAX_BARREN_PAGES || this.#missing !== undefined) break;
      if (!this.#summaries.has(page)) await this.#queuePage(page);
      // The pages of a limited run are read in their order.
      if (this.#limit !== null) await this.#queue.done();
    }
    await this.#queue.done();
  }

  /** Reads pages that were not announced, as long as each names a next one. */
  async #readFollowing(): Promise<void> {
    for (;;) {
      const pages = this.#pagesInOrder();
      const { next } = this.#paginationOf(pages);
      if ((next ?? null) === null || this.#missing !== undefined) return;
      if (this.#barrenPages > MAX_BARREN_PAGES)
        throw new WarehouseError(
          "source.protocol",
          `The ${this.#plan.mode} listing continues after page ${pages} without new items; ask the operator of the service.`,
        );
      await this.#queuePage(pages + 1);
      await this.#queue.done();
    }
  }

  /** A list that shrinks ends before an announced page. That makes the pass unclean; any other missing page is an error. */
  async #checkMissing(): Promise<void> {
    if (this.#missing === undefined) return;
    const pages = this.#pagesInOrder();
    if (this.#summaries.size > pages || (await this.#pages.firstPageNow()).pages > pages) throw this.#missing;
  }

  async #queuePage(page: number): Promise<void> {
    const slot = this.#plan.landing?.reserveSlot();
    await this.#queue.add(async () => {
      try {
        await this.#readPage(page, slot);
      } catch (thrown) {
        if (!isMissingPage(thrown)) throw thrown;
        this.#missing ??= thrown;
      }
    });
  }

  async #readPage(page: number, slot: ResponseSlot | undefined): Promise<void> {
    const response = await this.#pages.read({ page, slot }, this.#summaries.get(1)?.pagination);
    this.#take(response);
    for (const { id } of response.result.items) this.#context.gone.delete(id);
    const { landing } = this.#plan;
    if (landing === undefined || slot === undefined) return;
    landing.groupSize ??= this.#pagesPerGroup;
    this.#queue.follow(landing.add(slot, response));
  }

  get #pagesPerGroup(): number {
    const fitting = Math.max(1, Math.floor(GROUP_BYTES / Math.max(1, this.#pageBytes)));
    return this.#plan.pagesPerGroup ?? Math.min(fitting, MAX_PAGES_PER_GROUP);
  }

  #take({ page, result, records, rejects, unread }: PageResponse): void {
    const { pagination } = result;
    const { journal, itemIndex } = this.#context;
    const { pass, landing } = this.#plan;
    this.#assertInOrder(page, pagination);
    this.#summaries.set(page, { pagination, rows: result.rows });
    if (page === 1) this.#pagesCounted = Math.ceil(pagination.count / Math.max(1, result.rows));
    this.#pageBytes = Math.max(this.#pageBytes, result.decodedBytes);
    this.#rows += result.rows;
    this.#rejected += result.rejects.length;
    journal.rejects.push(...result.rejects, ...rejects);
    for (const record of records) {
      journal.requests.push(record);
      this.#bytes += record.bytes;
    }
    this.#unread.push(...unread);
    const bytesPerItem = result.decodedBytes / Math.max(1, result.rows);
    if (landing !== undefined) itemIndex.weighPage(pass, page, bytesPerItem);
    const before = this.#snapshot.distinct;
    for (const item of result.items) {
      if (this.#first.size < (this.#limit ?? 0)) this.#first.add(item.id);
      itemIndex.weigh(item.id, bytesPerItem);
      const seconds = this.#snapshot.add(item.id, item.updatedAt);
      if (records.some((record) => isFresh(seconds, record))) this.#fresh.push(item.id);
      if (this.#plan.wants(item)) this.#addWanted({ ...item, page });
    }
    if (page > this.#pagesCounted && this.#snapshot.distinct === before) this.#barrenPages += 1;
    this.#context.onProgress({
      stage: this.#plan.mode,
      done: this.#summaries.size,
      total: this.#pagesToRead,
      items: this.#snapshot.distinct,
      bytes: this.#bytes,
    });
  }

  /** An item that is listed twice counts where it was listed first. If it changed in between, nothing is reused for it. */
  #addWanted(item: SingleItemEntry): void {
    const known = this.#wanted.get(item.id) ?? item;
    const fingerprint = known.fingerprint === item.fingerprint ? item.fingerprint : NO_FINGERPRINT;
    this.#wanted.set(item.id, { ...(item.page < known.page ? item : known), fingerprint });
  }

  #assertInOrder(page: number, { current, next }: Pagination): void {
    const problem =
      current !== page
        ? `the service sent page ${current}`
        : (next ?? page + 1) !== page + 1 && `it names page ${next} as the next`;
    if (problem === false) return;
    throw new WarehouseError(
      "source.protocol",
      `Page ${page} of the ${this.#plan.mode} listing is inconsistent: ${problem}; look for a proxy or cache in between.`,
    );
  }

  #pass(): Omit<ListingPass, "endedMs"> {
    const { pass, mode, perPage, landing } = this.#plan;
    const limit = this.#limit;
    const first = this.#paginationOf(1);
    return {
      pass,
      mode,
      pages: this.#summaries.size,
      resumedPages: this.#resumedPages,
      fresh: this.#fresh,
      unread: this.#unread,
      wanted: [...this.#wanted.values()],
      first: this.#first,
      itemsPerGroup: (landing?.groupSize ?? 1) * perPage,
      rows: this.#rows,
      rejected: this.#rejected,
      snapshot: this.#snapshot,
      perPage: first.per_page,
      pagesAnnounced: first.pages,
      countBefore: first.count,
      countAfter: this.#paginationOf(this.#pagesInOrder()).count,
      reasons:
        limit === null
          ? uncleanReasons(this.#summaries, this.#snapshot, this.#rejected)
          : [`only the first ${pluralize(limit, "item")} are read`],
      startedMs: this.#startedMs,
    };
  }
}

function isMissingPage(thrown: unknown): thrown is SourceError {
  return (
    thrown instanceof SourceError &&
    thrown.code === "source.unavailable" &&
    (thrown.status === 404 || thrown.status === 410)
  );
}
