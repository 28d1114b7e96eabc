/**
 * One pass over a listing. Never ended by a short or an empty page: a pass goes on until the service says that no page
 * follows and all announced pages are read.
 */
import PQueue from "p-queue";
import type { Pagination } from "../api/envelope.ts";
import type { Clock } from "../clock.ts";
import { WarehouseError } from "../errors.ts";
import type { HttpClient } from "../extract/client.ts";
import { type ListMode, listRequest } from "../extract/request.ts";
import { ByteBudget } from "./bytes.ts";
import { type Catalogue, Sightings } from "./catalogue.ts";
import { type Journal, observedAtOf, recordOf } from "./journal.ts";
import type { OnProgress } from "./progress.ts";
import type { ListedItem, PageResult } from "./staging.ts";
import type { Workers } from "./workers.ts";

export interface SweepSettings {
  readonly perPage: number;
  readonly columns: readonly string[];
  readonly concurrency: number;
  /** Requests a second; undefined: as fast as they are answered. */
  readonly ratePerSecond: number | undefined;
}

export interface SweepContext {
  readonly client: HttpClient;
  readonly workers: Workers;
  readonly journal: Journal;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly settings: SweepSettings;
  readonly onProgress: OnProgress;
}

/** Where an item was listed. */
export interface Listed extends ListedItem {
  readonly page: number;
  readonly position: number;
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
/** Pages that may follow the announced ones before the listing is taken for endless. */
const PAGES_BEYOND = 10;

export async function runSweep(
  context: SweepContext,
  sweep: number,
  mode: ListMode,
  staging: SweepStaging | undefined,
): Promise<Sweep> {
  return new Pass(context, sweep, mode, staging).run();
}

interface PageMark {
  readonly pagination: Pagination;
  readonly rows: number;
}

class Pass {
  readonly #context: SweepContext;
  readonly #sweep: number;
  readonly #mode: ListMode;
  readonly #staging: SweepStaging | undefined;
  readonly #sightings: Sightings;
  readonly #budget = new ByteBudget(BYTES_IN_FLIGHT);
  readonly #marks = new Map<number, PageMark>();
  readonly #closed = new Set<number>();
  readonly #closing: Promise<void>[] = [];
  #pagesPerGroup = 1;
  #pageBytes = 0;
  #bytes = 0;
  #rows = 0;
  #rejected = 0;

  constructor(context: SweepContext, sweep: number, mode: ListMode, staging: SweepStaging | undefined) {
    this.#context = context;
    this.#sweep = sweep;
    this.#mode = mode;
    this.#staging = staging;
    this.#sightings = new Sightings(context.catalogue);
  }

  async run(): Promise<Sweep> {
    const startedMs = this.#context.clock.now();
    const first = await this.#page(1, 0);
    const fitting = clamp(Math.floor(GROUP_BYTES / Math.max(1, this.#pageBytes)), 1, PAGES_PER_GROUP);
    this.#pagesPerGroup = this.#staging?.pagesPerGroup ?? fitting;
    let known = Math.max(1, first.pages);
    await this.#range(2, known, known);
    for (
      let last = this.#mark(known);
      last.next !== null && last.next !== undefined;
      last = this.#mark(known)
    ) {
      known += 1;
      if (known > pageLimit(first)) throw this.#endless(known);
      await this.#range(known, known, known);
    }
    await this.#closeLast(known);
    return this.#result(startedMs, first, this.#mark(known));
  }

  #mark(page: number): Pagination {
    const mark = this.#marks.get(page);
    if (mark === undefined) throw new RangeError(`page ${page} was not read`);
    return mark.pagination;
  }

  #endless(page: number): WarehouseError {
    return new WarehouseError(
      "source.protocol",
      `The ${this.#mode} listing goes on beyond page ${page}, far past the pages it announced; ask the operator of the service.`,
    );
  }

  #groupOf(page: number): number {
    return Math.floor((page - 1) / this.#pagesPerGroup);
  }

  /** Reads pages `from` to `to`, both inclusive; the groups that end within them are closed on the way. */
  async #range(from: number, to: number, lastPage: number): Promise<void> {
    this.#closeGroupsOf(1, lastPage);
    const { settings, signal } = this.#context;
    const rate = settings.ratePerSecond;
    const queue = new PQueue({
      concurrency: settings.concurrency,
      ...(rate === undefined ? {} : { interval: 1000 / rate, intervalCap: 1 }),
    });
    const failure = new AbortController();
    for (let page = from; page <= to && !failure.signal.aborted; page++) {
      signal.throwIfAborted();
      await this.#budget.take(this.#pageBytes);
      await queue.onSizeLessThan(settings.concurrency);
      void queue.add(async () => this.#budgetedPage(page, failure, lastPage));
    }
    await queue.onIdle();
    failure.signal.throwIfAborted();
  }

  async #budgetedPage(page: number, failure: AbortController, lastPage: number): Promise<void> {
    const taken = this.#pageBytes;
    try {
      if (failure.signal.aborted) return;
      await this.#page(page, this.#groupOf(page));
      this.#closeGroupsOf(page, lastPage);
    } catch (error) {
      failure.abort(error);
    } finally {
      this.#budget.give(taken);
    }
  }

  async #page(page: number, group: number): Promise<Pagination> {
    const { client, settings, signal, clock } = this.#context;
    const { perPage, columns } = settings;
    const request = listRequest({ mode: this.#mode, page, perPage, columns, gallery: true });
    const { response, value } = await client.readAs(request, signal, async (answer) => {
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
    result.items.forEach((item, position) => {
      this.#sightings.add(item.id, item.updatedAt);
      this.#staging?.onItem({ ...item, page, position, group });
    });
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

  /** Closes the group of `page` once all its pages up to `lastPage` are read. */
  #closeGroupsOf(page: number, lastPage: number): void {
    const group = this.#groupOf(page);
    const first = group * this.#pagesPerGroup + 1;
    const last = first + this.#pagesPerGroup - 1;
    if (last > lastPage) return;
    for (let each = first; each <= last; each++) if (!this.#marks.has(each)) return;
    this.#close(group);
  }

  #close(group: number): void {
    if (this.#staging === undefined || this.#closed.has(group)) return;
    this.#closed.add(group);
    this.#closing.push(this.#staging.closeGroup(group));
  }

  async #closeLast(lastPage: number): Promise<void> {
    this.#close(this.#groupOf(lastPage));
    await Promise.all(this.#closing);
  }

  #tell(): void {
    const total = this.#marks.get(1)?.pagination.pages;
    this.#context.onProgress({
      stage: this.#mode === "basic" ? "full" : this.#mode,
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
      reasons: this.#reasons(first),
      startedMs,
      endedMs: this.#context.clock.now(),
    };
  }

  #reasons(first: Pagination): string[] {
    const reasons: string[] = [];
    const marks = [...this.#marks].sort(([a], [b]) => a - b);
    const { distinct, duplicates } = this.#sightings;
    if (duplicates > 0) reasons.push(`${duplicates} rows repeat an item of the same pass`);
    if (marks.some(([, { pagination }]) => pagination.count !== first.count))
      reasons.push("the total changed");
    if (marks.some(([, { pagination }]) => pagination.per_page !== first.per_page)) {
      reasons.push("the page size changed");
    }
    if (marks.length !== first.pages && first.count > 0) {
      reasons.push(`${marks.length} pages were read, ${first.pages} announced`);
    }
    const last = marks.at(-1)?.[0];
    const short = marks.filter(([page, { rows }]) => page !== last && rows !== first.per_page).length;
    if (short > 0) reasons.push(`${short} pages before the last are not full`);
    if (distinct + this.#rejected !== first.count) {
      reasons.push(`${distinct + this.#rejected} items were listed, the service counts ${first.count}`);
    }
    if (marks.some(([page, { pagination }]) => page !== last && (pagination.next ?? null) === null)) {
      reasons.push("a page before the last says that no page follows");
    }
    return reasons;
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

function pageLimit(first: Pagination): number {
  return Math.max(first.pages, Math.ceil(first.count / Math.max(1, first.per_page))) + PAGES_BEYOND;
}
