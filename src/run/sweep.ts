/**
 * One pass over a listing. Never ended by a short or an empty page: a pass goes on until the service says that no page
 * follows and all announced pages are read.
 */

import type { Pagination } from "../api/envelope.ts";
import type { Clock } from "../clock.ts";
import { WarehouseError } from "../errors.ts";
import type { HttpClient } from "../extract/client.ts";
import { type ListMode, listRequest } from "../extract/request.ts";
import { ByteBudget } from "./bytes.ts";
import { type Catalogue, type Holdings, Sightings } from "./catalogue.ts";
import { type Journal, observedAtOf, recordOf } from "./journal.ts";
import type { OnProgress } from "./progress.ts";
import { RequestQueue } from "./request-queue.ts";
import type { ListedItem, PageResult } from "./staging.ts";
import { type PageMark, uncleanReasons } from "./verdict.ts";
import type { Workers } from "./workers.ts";

export interface SweepSettings {
  readonly perPage: number;
  readonly columns: readonly string[];
  /** Those of the columns that only single-item requests give: all that such a request asks for. */
  readonly itemColumns: readonly string[];
  /** Requests at the same time. */
  readonly concurrency: number;
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

/** Where an item was listed. */
export interface Listed extends ListedItem {
  readonly page: number;
  readonly group: number;
}

/** What becomes of pages once they are read; without it (`basic`) nothing is staged. */
export interface SweepStaging {
  /** As in the pass that this one is paired with; undefined: by the size of the first page. */
  readonly pagesPerGroup: number | undefined;
  /** Called when all pages of a group are in its thread. Answers when the group is written. */
  readonly closeGroup: (group: number) => Promise<void>;
  /** Called for each item, in no particular order. */
  readonly onItem: (item: Listed) => void;
}

export interface Sweep {
  readonly sweep: number;
  readonly mode: ListMode;
  readonly pages: number;
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
/** Pages beyond the service's own total that may bring nothing new before no more are asked for. */
const BARREN_PAGES = 10;

export async function runSweep(
  context: SweepContext,
  sweep: number,
  mode: ListMode,
  staging: SweepStaging | undefined,
): Promise<Sweep> {
  return new Pass(context, sweep, mode, staging).run();
}

class Pass {
  readonly #context: SweepContext;
  readonly #sweep: number;
  readonly #mode: ListMode;
  readonly #staging: SweepStaging | undefined;
  readonly #sightings: Sightings;
  readonly #queue: RequestQueue;
  readonly #budget = new ByteBudget(BYTES_IN_FLIGHT);
  readonly #marks = new Map<number, PageMark>();
  readonly #closed = new Set<number>();
  #pagesPerGroup = 1;
  #pageBytes = 0;
  #bytes = 0;
  #rows = 0;
  #rejected = 0;
  /** Pages that the service's own total has room for. */
  #pagesCounted = Number.POSITIVE_INFINITY;
  #barren = 0;

  constructor(context: SweepContext, sweep: number, mode: ListMode, staging: SweepStaging | undefined) {
    this.#context = context;
    this.#sweep = sweep;
    this.#mode = mode;
    this.#staging = staging;
    this.#sightings = new Sightings(context.catalogue);
    this.#queue = new RequestQueue(context.settings.concurrency, context.signal);
  }

  async run(): Promise<Sweep> {
    const startedMs = this.#context.clock.now();
    const first = await this.#page(1, 0);
    this.#pagesCounted = Math.ceil(first.count / Math.max(1, this.#rows));
    const fitting = clamp(Math.floor(GROUP_BYTES / Math.max(1, this.#pageBytes)), 1, PAGES_PER_GROUP);
    this.#pagesPerGroup = this.#staging?.pagesPerGroup ?? fitting;
    this.#closeGroupOf(1);
    await this.#readAnnounced(first.pages);
    await this.#readFollowing();
    const last = this.#lastMark();
    this.#close(this.#groupOf(this.#marks.size));
    await this.#queue.done();
    return this.#result(startedMs, first, last);
  }

  /** Pages are read in order and without a gap, so the last one's number is how many there are. */
  #lastMark(): Pagination {
    const mark = this.#marks.get(this.#marks.size);
    if (mark === undefined) throw new RangeError("a pass has at least one page");
    return mark.pagination;
  }

  /** Reads the pages from the second on, unless more are announced than the items can fill. */
  async #readAnnounced(pages: number): Promise<void> {
    for (let page = 2; page <= pages && this.#barren <= BARREN_PAGES; page++) await this.#queuePage(page);
    await this.#queue.done();
  }

  /** Reads pages that nobody announced, for as long as each names a next one. */
  async #readFollowing(): Promise<void> {
    for (let last = this.#lastMark(); hasNext(last); last = this.#lastMark()) {
      if (this.#barren > BARREN_PAGES) throw this.#endless(this.#marks.size);
      await this.#queuePage(this.#marks.size + 1);
      await this.#queue.done();
    }
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

  /** Queues a page as soon as the pages under way leave room for it. */
  async #queuePage(page: number): Promise<void> {
    const bytes = this.#pageBytes;
    await this.#budget.take(bytes);
    await this.#queue.add(async () => {
      try {
        await this.#page(page, this.#groupOf(page));
        this.#closeGroupOf(page);
      } finally {
        this.#budget.give(bytes);
      }
    });
  }

  async #page(page: number, group: number): Promise<Pagination> {
    const { client, settings, clock } = this.#context;
    const { perPage, columns } = settings;
    const request = listRequest({ mode: this.#mode, page, perPage, columns, gallery: true });
    const { response, value } = await client.readAs(request, this.#queue.signal, async (answer) => {
      const observedAt = observedAtOf(answer, clock);
      const bytes = answer.body.byteLength;
      const result = await this.#context.workers.page({
        kind: "page",
        mode: this.#mode,
        sweep: this.#sweep,
        group,
        page,
        body: { bytes: answer.body, contentEncoding: answer.contentEncoding, observedAt },
      });
      return { result, observedAt, bytes };
    });
    const { result, observedAt, bytes } = value;
    const record = recordOf(response, { mode: this.#mode, sweep: this.#sweep, page, observedAt, bytes });
    this.#take(page, group, result);
    const { next, previous } = result.answer.pagination;
    this.#context.journal.requests.push({
      ...record,
      nextPage: next ?? null,
      previousPage: previous ?? null,
    });
    this.#bytes += record.bytes;
    this.#tell();
    return result.answer.pagination;
  }

  #take(page: number, group: number, result: PageResult): void {
    const { pagination } = result.answer;
    this.#checkPosition(page, pagination);
    this.#marks.set(page, { pagination, rows: result.rows });
    this.#pageBytes = Math.max(this.#pageBytes, result.decodedBytes);
    this.#rows += result.rows;
    this.#rejected += result.rejects.length;
    this.#context.journal.rejects.push(...result.rejects);
    const known = this.#sightings.distinct;
    const bytesPerRow = result.decodedBytes / Math.max(1, result.rows);
    for (const item of result.items) {
      this.#context.catalogue.weigh(item.id, bytesPerRow);
      this.#sightings.add(item.id, item.updatedAt);
      this.#staging?.onItem({ ...item, page, group });
    }
    if (page > this.#pagesCounted && this.#sightings.distinct === known) this.#barren += 1;
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
    const first = group * this.#pagesPerGroup + 1;
    for (let each = first; each < first + this.#pagesPerGroup; each++) if (!this.#marks.has(each)) return;
    this.#close(group);
  }

  #close(group: number): void {
    if (this.#staging === undefined || this.#closed.has(group)) return;
    this.#closed.add(group);
    this.#queue.follow(this.#staging.closeGroup(group));
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

  #result(startedMs: number, first: Pagination, last: Pagination): Sweep {
    return {
      sweep: this.#sweep,
      mode: this.#mode,
      pages: this.#marks.size,
      pagesPerGroup: this.#pagesPerGroup,
      rows: this.#rows,
      rejected: this.#rejected,
      sightings: this.#sightings,
      perPage: first.per_page,
      pagesAnnounced: first.pages,
      countBefore: first.count,
      countAfter: last.count,
      reasons: uncleanReasons({ marks: this.#marks, sightings: this.#sightings, rejected: this.#rejected }),
      startedMs,
      endedMs: this.#context.clock.now(),
    };
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

function hasNext({ next }: Pagination): boolean {
  return next !== null && next !== undefined;
}
