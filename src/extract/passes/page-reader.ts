/**
 * Reads the pages of a pass, one by one. Of one that cannot be read, because it is too large or no JSON, items are asked
 * for in smaller pages at the same places, so that one item costs itself and no other. An item that no request gives is
 * named by its entry in a list without documents, of whichever mode: then all passes list it alike.
 */
import type { Pagination } from "../../api/envelope.ts";
import type { BodyReader, HttpResponse, ReadResult } from "../http/client.ts";
import { type ListMode, listRequest, type ServiceRequest } from "../http/request.ts";
import type { RequestRecord } from "../http/request-log.ts";
import { SourceError } from "../http/source-error.ts";
import type { PageResponse } from "../landing/checkpoint.ts";
import { bodyOf, recordOf } from "../landing/journal.ts";
import type { ResponseSlot, StageLanding } from "../landing/landing.ts";
import type { PageResult, Reject } from "../pages/tasks.ts";
import type { ExtractContext } from "./context.ts";
import { all, FailureBudget, requestUnrecorded } from "./single-item.ts";

export interface PassOfPages {
  /** From 1. */
  readonly pass: number;
  readonly mode: ListMode;
  readonly columns: readonly string[];
  /** Items a page to ask for. */
  readonly perPage: number;
  /** The first page, where it was read already. */
  readonly firstPage: HttpResponse | undefined;
  /** Where its documents land; undefined: only IDs and times are read. */
  readonly landing: StageLanding<PageResponse> | undefined;
}

interface PageRequest {
  readonly page: number;
  /** Undefined: its documents do not land. */
  readonly place: ResponseSlot | undefined;
}

type View = Pick<PassOfPages, "mode" | "columns" | "landing">;

/** A page of a listing with so many items a page. */
interface SubPage {
  readonly page: number;
  readonly perPage: number;
  /** Items of the page that is split that come before. */
  readonly offset: number;
}

interface SubPageResponse {
  readonly result: PageResult;
  readonly record: RequestRecord;
}

/** A page that is read in parts, and what came of them. */
interface PageSplit {
  readonly at: PageRequest;
  /** Why it cannot be read as one. */
  readonly failure: SourceError;
  readonly results: PageResult[];
  readonly records: RequestRecord[];
  /** Of items that are listed. */
  readonly rejects: Reject[];
  /** Of items that nobody can name. */
  readonly nameless: Reject[];
  readonly unread: string[];
  /** Whether some part could not be read. */
  failed: boolean;
}

const GONE =
  "its page cannot be read, and the service says that it is gone (404 or 410) when asked for it singly";

export class PageReader {
  readonly #context: ExtractContext;
  readonly #pass: PassOfPages;
  /** Ends the requests. */
  readonly #signal: AbortSignal;
  /** Read already; taken once. */
  #firstPage: HttpResponse | undefined;
  /** Of items that are asked for singly because their pages cannot be read. */
  #budget: FailureBudget | undefined;

  constructor(context: ExtractContext, pass: PassOfPages, signal: AbortSignal) {
    this.#context = context;
    this.#pass = pass;
    this.#signal = signal;
    this.#firstPage = pass.firstPage;
  }

  /**
   * `first`: of the first page; undefined: this is the first one. Throws the failure of a page that was too large though
   * all its parts can be read: then no item is to blame, and pages have too many. So it does where the service changes
   * what is on a page meanwhile.
   */
  async read(at: PageRequest, first: Pagination | undefined): Promise<PageResponse> {
    const { perPage } = this.#pass;
    const { page } = at;
    try {
      const { result, record } = await this.#part(at, this.#pass, { page, perPage, offset: 0 });
      return { page, result, records: [record], rejects: [], unread: [] };
    } catch (failure) {
      if (!isUnreadablePage(failure)) throw failure;
      const granted = first?.per_page ?? (await this.#granted());
      if (granted > perPage) throw failure;
      const came = { results: [], records: [], rejects: [], nameless: [], unread: [], failed: false };
      const split: PageSplit = { at, failure, ...came };
      const whole = { page, perPage: granted, offset: 0 };
      await (granted === 1 ? this.#item(split, whole, failure) : this.#parts(split, whole));
      return merged(split, whole, first?.count);
    }
  }

  /** What the listing says of itself, by another request without documents. */
  async firstPageNow(): Promise<Pagination> {
    const part = { page: 1, perPage: this.#pass.perPage, offset: 0 };
    const { result, record } = await this.#withoutDocuments({ page: 1, place: undefined }, part);
    this.#context.journal.requests.add({ ...record, page: null, position: null });
    return result.answer.pagination;
  }

  /** As many items a page as were asked for, where the first page cannot be read. */
  async #granted(): Promise<number> {
    try {
      return (await this.firstPageNow()).per_page;
    } catch (thrown) {
      if (!isUnreadablePage(thrown)) throw thrown;
      return this.#pass.perPage;
    }
  }

  /** IDs and times alone: such a page is small, whatever its items hold. Where one mode cannot be read, the other may be. */
  async #withoutDocuments(at: PageRequest, part: SubPage): Promise<SubPageResponse> {
    const view = (mode: ListMode): View => ({ mode, columns: [], landing: undefined });
    const isDynamic = this.#pass.mode === "dynamic";
    try {
      return await this.#part(at, view(isDynamic ? "dynamic" : "basic"), part);
    } catch (thrown) {
      if (!isUnreadablePage(thrown)) throw thrown;
      return this.#part(at, view(isDynamic ? "basic" : "dynamic"), part);
    }
  }

  async #parts(split: PageSplit, { page, perPage, offset }: SubPage): Promise<void> {
    const times = smallestFactor(perPage);
    const size = perPage / times;
    for (let i = 0; i < times; i++) {
      const part = { page: (page - 1) * times + 1 + i, perPage: size, offset: offset + i * size };
      try {
        add(split, part, await this.#part(split.at, this.#pass, part));
      } catch (thrown) {
        if (!isUnreadablePage(thrown)) throw thrown;
        split.failed = true;
        await (size === 1 ? this.#item(split, part, thrown) : this.#parts(split, part));
      }
      const last = split.results.at(-1)?.answer.pagination;
      if (last !== undefined && part.page * size >= last.count) return;
    }
  }

  /** An item whose page of its own cannot be read. */
  async #item(split: PageSplit, part: SubPage, failure: SourceError): Promise<void> {
    split.failed = true;
    const { at } = split;
    const listed = await this.#listed(split, part, failure);
    const [item] = listed?.result.items ?? [];
    const { mode, columns, landing } = this.#pass;
    const { place } = at;
    if (item === undefined || landing === undefined || place === undefined) return;
    const shape = mode === "dynamic" ? "dynamic" : "full";
    const single = {
      ...item,
      page: at.page,
      place,
      listed: item,
      landing,
      shape,
      columns,
      whole: true,
    } as const;
    const answer = await requestUnrecorded(this.#context, single, this.#failures(split), this.#signal);
    if (answer.record !== null) split.records.push(answer.record);
    split.rejects.push(...answer.rejects);
    if (answer.gone) split.rejects.push(this.#reject(at, part, item.id, GONE));
    if (answer.read === null) split.unread.push(item.id);
  }

  /** Undefined: nobody can name the item. */
  async #listed(split: PageSplit, part: SubPage, failure: SourceError): Promise<SubPageResponse | undefined> {
    try {
      const listed = await this.#withoutDocuments(split.at, part);
      add(split, part, listed);
      return listed;
    } catch (thrown) {
      if (!isUnreadablePage(thrown)) throw thrown;
      this.#failures(split).reject("", failure);
      split.nameless.push(this.#reject(split.at, part, null, failure.message));
      return undefined;
    }
  }

  #failures({ results }: PageSplit): FailureBudget {
    const count = results.at(-1)?.answer.pagination.count ?? this.#pass.perPage;
    this.#budget ??= new FailureBudget(all(count), this.#context.settings.singlesLimits);
    return this.#budget;
  }

  /** `contentId`: null where nobody can name the item. */
  #reject({ page }: PageRequest, { offset }: SubPage, contentId: string | null, reason: string): Reject {
    const { mode, pass } = this.#pass;
    return { mode, pass, page, position: offset, contentId, reason, document: "null" };
  }

  async #part({ page, place }: PageRequest, view: View, part: SubPage): Promise<SubPageResponse> {
    const { clock, landing: nowhere } = this.#context;
    const { pass } = this.#pass;
    const { mode, columns, landing } = view;
    const request = listRequest({ mode, page: part.page, perPage: part.perPage, columns, gallery: true });
    const { response, value } = await this.#ask(request, part, async (answer) => {
      const bytes = answer.body.byteLength;
      const body = bodyOf(answer, clock);
      const task = { mode, page, offset: part.offset, body };
      const result = await (landing !== undefined && place !== undefined
        ? landing.page(place, task)
        : nowhere.look({ ...task, pass }));
      return { result, observedAt: body.observedAt, bytes };
    });
    const { result, observedAt, bytes } = value;
    const { next: nextPage = null, previous: previousPage = null } = result.answer.pagination;
    const position = part.offset;
    const about = { mode, pass, page, position, nextPage, previousPage, observedAt, bytes };
    return { result, record: recordOf(response, about) };
  }

  /** What was read of the first page already is not asked for, unless it proves to be damaged. */
  async #ask<T>(request: ServiceRequest, { page }: SubPage, take: BodyReader<T>): Promise<ReadResult<T>> {
    const first = page === 1 ? this.#firstPage : undefined;
    if (first !== undefined) {
      this.#firstPage = undefined;
      try {
        return { response: first, value: await take(first) };
      } catch (thrown) {
        if (!(thrown instanceof SourceError)) throw thrown;
      }
    }
    return this.#context.client.readAs(request, this.#signal, take);
  }
}

/** Whether smaller pages may tell which item is to blame. */
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
  const { current, per_page } = result.answer.pagination;
  if (current !== part.page || per_page !== part.perPage) throw failure;
  results.push(result);
  records.push(record);
}

/** The page as one answer would have been. `known`: the service's total, as the first page has it. */
function merged(
  { results, records, rejects, unread, failure, failed, nameless }: PageSplit,
  whole: SubPage,
  known: number | undefined,
): PageResponse {
  const isUnknown = results.length === 0 && known === undefined;
  if (isUnknown || (!failed && failure.code === "source.too_large")) throw failure;
  const result = {
    answer: { pagination: paginationOf(whole, results, known) },
    rows: results.reduce((sum, { rows }) => sum + rows, nameless.length),
    items: results.flatMap(({ items }) => items),
    rejects: [...results.flatMap(({ rejects }) => rejects), ...nameless],
    decodedBytes: Math.max(0, ...results.map(({ decodedBytes }) => decodedBytes)),
  };
  return { page: whole.page, result, records, rejects, unread };
}

/** Where the total changed between the parts, one that differs from other pages': the pass is not clean then. */
function paginationOf(
  { page, perPage }: SubPage,
  results: readonly PageResult[],
  known: number | undefined,
): Pagination {
  const counts = results.map(({ answer }) => answer.pagination.count);
  const others = known ?? counts.at(-1) ?? 0;
  const count = counts.find((each) => each !== others) ?? others;
  const pages = Math.ceil(count / perPage);
  return { current: page, per_page: perPage, count, pages, next: page < pages ? page + 1 : null };
}

function smallestFactor(number: number): number {
  let factor = 2;
  while (number % factor !== 0) factor += 1;
  return factor;
}
