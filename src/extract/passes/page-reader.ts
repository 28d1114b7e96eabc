/**
 * Reads the pages of a pass. If a page is too large or damaged, its items are requested in ever smaller pages, so that one
 * bad item costs no other. The ID of an item that no request returns is taken from a page without documents, of either
 * mode, so that all passes list the same items.
 */
import type { Pagination } from "../../api/envelope.ts";
import type { HttpResponse } from "../http/client.ts";
import { type ListMode, listRequest, type ServiceRequest } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import type { PageResponse } from "../landing/checkpoint.ts";
import { bodyOf, type RequestRecord, recordOf } from "../landing/journal.ts";
import type { ResponseSlot, StageLanding } from "../landing/landing.ts";
import type { ListEntry, PageResult, Reject } from "../pages/tasks.ts";
import type { ExtractContext } from "./context.ts";
import { FailureBudget, requestItem } from "./item-requests.ts";

export interface PassPlan {
  /** From 1. */
  readonly pass: number;
  readonly mode: ListMode;
  readonly columns: readonly string[];
  /** Items a page to request. */
  readonly perPage: number;
  /** The response with the first page, if there is one already. */
  readonly firstPage: HttpResponse | undefined;
  /** Where the documents land; `undefined` if only IDs and times are read. */
  readonly landing: StageLanding | undefined;
  /** As in the pass of the other listing, so that their groups hold the same items; `undefined`: by the first page. */
  readonly pagesPerGroup: number | undefined;
  /** Which items are requested singly after the pass. */
  readonly wants: (item: ListEntry) => boolean;
}

type PageSource = Pick<PassPlan, "mode" | "columns" | "landing">;

interface ListPageRequest {
  readonly page: number;
  /** `undefined` if the documents do not land. */
  readonly slot: ResponseSlot | undefined;
}

/** A smaller page that is a part of the page to read. */
interface SubPage {
  readonly page: number;
  readonly perPage: number;
  /** Items of the whole page that come before it. */
  readonly offset: number;
}

interface SubPageResponse {
  readonly result: PageResult;
  readonly record: RequestRecord;
}

/** A page that is read in parts. */
interface PageSplit {
  readonly request: ListPageRequest;
  /** Why the page cannot be read as one. */
  readonly failure: SourceError;
  readonly results: PageResult[];
  readonly records: RequestRecord[];
  /** Rejects of items whose ID is known. */
  readonly rejects: Reject[];
  /** Rejects of items whose ID nobody knows. */
  readonly nameless: Reject[];
  /** IDs of items without a document. */
  readonly unread: string[];
}

const GONE = "its page cannot be read, and a single request for the item returned 404 or 410";

export class PageReader {
  readonly #context: ExtractContext;
  readonly #plan: PassPlan;
  readonly #signal: AbortSignal;
  /** Used once. */
  #firstPage: HttpResponse | undefined;
  /** Of items that are requested singly because their pages cannot be read. */
  #budget: FailureBudget | undefined;

  constructor(context: ExtractContext, plan: PassPlan, signal: AbortSignal) {
    this.#context = context;
    this.#plan = plan;
    this.#signal = signal;
    this.#firstPage = plan.firstPage;
  }

  /**
   * Reads a page, in parts if it is too large or damaged. `first`: pagination of the first page; `undefined` if this is the
   * first page. Throws the page's failure if no part can be read and the service's count is unknown.
   */
  async read(request: ListPageRequest, first: Pagination | undefined): Promise<PageResponse> {
    const { page } = request;
    const whole = { page, perPage: this.#plan.perPage, offset: 0 };
    try {
      const { result, record } = await this.#request(request, this.#plan, whole);
      return { page, result, records: [record], rejects: [], unread: [] };
    } catch (failure) {
      if (!isUnreadablePage(failure)) throw failure;
      const perPage = first?.per_page ?? (await this.#grantedPerPage());
      const split = { request, failure, results: [], records: [], rejects: [], nameless: [], unread: [] };
      await this.#readParts(split, { ...whole, perPage }, failure);
      return joined(split, { ...whole, perPage }, first?.count);
    }
  }

  /** Requests the pagination of the first page again, without documents. */
  async firstPageNow(): Promise<Pagination> {
    const part = { page: 1, perPage: this.#plan.perPage, offset: 0 };
    const { result, record } = await this.#requestIds({ page: 1, slot: undefined }, part);
    this.#context.journal.requests.push({ ...record, page: null, position: null });
    return result.pagination;
  }

  /** The page size that the service grants, if the first page cannot be read. */
  async #grantedPerPage(): Promise<number> {
    try {
      return (await this.firstPageNow()).per_page;
    } catch (thrown) {
      if (!isUnreadablePage(thrown)) throw thrown;
      return this.#plan.perPage;
    }
  }

  /** Requests IDs and times only, in another mode if the first cannot be read. */
  async #requestIds(request: ListPageRequest, part: SubPage): Promise<SubPageResponse> {
    const source = (mode: ListMode): PageSource => ({ mode, columns: [], landing: undefined });
    const isDynamic = this.#plan.mode === "dynamic";
    try {
      return await this.#request(request, source(isDynamic ? "dynamic" : "basic"), part);
    } catch (thrown) {
      if (!isUnreadablePage(thrown)) throw thrown;
      return this.#request(request, source(isDynamic ? "basic" : "dynamic"), part);
    }
  }

  /** Reads a page that cannot be read as one in smaller pages, and its item singly if it has only one. */
  async #readParts(split: PageSplit, whole: SubPage, failure: SourceError): Promise<void> {
    const { page, perPage, offset } = whole;
    if (perPage === 1) return this.#readSingly(split, whole, failure);
    // The smallest factor of the page size.
    let parts = 2;
    while (perPage % parts !== 0) parts += 1;
    const size = perPage / parts;
    for (let i = 0; i < parts; i++) {
      const part = { page: (page - 1) * parts + 1 + i, perPage: size, offset: offset + i * size };
      try {
        add(split, part, await this.#request(split.request, this.#plan, part));
      } catch (thrown) {
        if (!isUnreadablePage(thrown)) throw thrown;
        await this.#readParts(split, part, thrown);
      }
      const last = split.results.at(-1)?.pagination;
      if (last !== undefined && part.page * size >= last.count) return;
    }
  }

  async #readSingly(split: PageSplit, part: SubPage, failure: SourceError): Promise<void> {
    const { page, slot } = split.request;
    const item = await this.#nameItem(split, part, failure);
    const { mode, columns, landing } = this.#plan;
    if (item === undefined || landing === undefined || slot === undefined) return;
    const shape = mode === "dynamic" ? "dynamic" : "full";
    const single = { ...item, page, slot, listed: item, landing, shape, columns, whole: true } as const;
    const response = await requestItem(this.#context, single, this.#failureBudget(split), this.#signal);
    if (response.record !== null) split.records.push(response.record);
    split.rejects.push(...response.rejects);
    if (response.gone) split.rejects.push(this.#reject(page, part, item.id, GONE));
    if (response.updatedAt === undefined) split.unread.push(item.id);
  }

  /** Finds out which item stands there. If no request tells, the item is a reject without an ID. */
  async #nameItem(split: PageSplit, part: SubPage, failure: SourceError): Promise<ListEntry | undefined> {
    try {
      const response = await this.#requestIds(split.request, part);
      add(split, part, response);
      return response.result.items[0];
    } catch (thrown) {
      if (!isUnreadablePage(thrown)) throw thrown;
      this.#failureBudget(split).addFailure(failure);
      split.nameless.push(this.#reject(split.request.page, part, null, failure.message));
      return undefined;
    }
  }

  #failureBudget({ results }: PageSplit): FailureBudget {
    const count = results.at(-1)?.pagination.count ?? this.#plan.perPage;
    this.#budget ??= new FailureBudget(count, this.#context.settings.singlesLimits);
    return this.#budget;
  }

  #reject(page: number, { offset }: SubPage, contentId: string | null, reason: string): Reject {
    const { mode, pass } = this.#plan;
    return { mode, pass, page, position: offset, contentId, reason, document: "null" };
  }

  async #request(
    { page, slot }: ListPageRequest,
    { mode, columns, landing }: PageSource,
    part: SubPage,
  ): Promise<SubPageResponse> {
    const { landing: threads } = this.#context;
    const { pass } = this.#plan;
    const request = listRequest({ mode, page: part.page, perPage: part.perPage, columns });
    const { response, value: result } = await this.#read(request, part, async (received) => {
      const task = { mode, page, offset: part.offset, body: bodyOf(received) };
      const lands = landing !== undefined && slot !== undefined;
      return lands ? landing.page(slot, task) : threads.look({ ...task, pass });
    });
    const { next: nextPage = null, previous: previousPage = null } = result.pagination;
    const about = { mode, pass, page, position: part.offset, nextPage, previousPage };
    return { result, record: recordOf(response, about) };
  }

  /** Uses the first page that was read already, unless it proves to be damaged. */
  async #read<T>(
    request: ServiceRequest,
    { page }: SubPage,
    read: (response: HttpResponse) => Promise<T>,
  ): Promise<{ readonly response: HttpResponse; readonly value: T }> {
    const first = page === 1 ? this.#firstPage : undefined;
    if (first !== undefined) {
      this.#firstPage = undefined;
      try {
        return { response: first, value: await read(first) };
      } catch (thrown) {
        if (!(thrown instanceof SourceError)) throw thrown;
      }
    }
    return this.#context.client.readAs(request, this.#signal, read);
  }
}

/** Whether the page is too large or damaged, so that smaller pages may tell which item is to blame. */
export function isUnreadablePage(thrown: unknown): thrown is SourceError {
  return (
    thrown instanceof SourceError && (thrown.code === "source.too_large" || thrown.code === "source.damaged")
  );
}

function add(
  { results, records, failure }: PageSplit,
  part: SubPage,
  { result, record }: SubPageResponse,
): void {
  const { current, per_page } = result.pagination;
  if (current !== part.page || per_page !== part.perPage) throw failure;
  results.push(result);
  records.push(record);
}

/** Joins the parts to the page that one response would have given. `total`: the service's count on the first page. */
function joined(
  { results, records, rejects, unread, failure, nameless }: PageSplit,
  whole: SubPage,
  total: number | undefined,
): PageResponse {
  if (results.length === 0 && total === undefined) throw failure;
  const result = {
    pagination: paginationOf(whole, results, total),
    rows: results.reduce((sum, { rows }) => sum + rows, nameless.length),
    items: results.flatMap(({ items }) => items),
    rejects: [...results.flatMap((part) => part.rejects), ...nameless],
    decodedBytes: Math.max(0, ...results.map(({ decodedBytes }) => decodedBytes)),
  };
  return { page: whole.page, result, records, rejects, unread };
}

/** If the total changed between the parts, the page gets the changed one, so that the pass is not clean. */
function paginationOf(
  { page, perPage }: SubPage,
  results: readonly PageResult[],
  total: number | undefined,
): Pagination {
  const counts = results.map(({ pagination }) => pagination.count);
  const before = total ?? counts.at(-1) ?? 0;
  const count = counts.find((each) => each !== before) ?? before;
  const pages = Math.ceil(count / perPage);
  return { current: page, per_page: perPage, count, pages, next: page < pages ? page + 1 : null };
}
