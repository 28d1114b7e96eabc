/** Reads the pages of a pass, one by one; in parts where an item keeps a page from being read. */
import type { Pagination } from "../../api/envelope.ts";
import type { ExtractContext } from "../context.ts";
import type { HttpResponse, Take, Taken } from "../http/client.ts";
import { type ListMode, listRequest, type ReadRequest } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import { observedAtOf, recordOf } from "../journal.ts";
import type { PageRead } from "../landing/checkpoint-form.ts";
import type { StageLanding } from "../landing/landing.ts";
import { answerOf, FailureBudget } from "../passes/single-item.ts";
import { maySplit, type Part, type ReadPart, readInParts, type SplitPorts } from "./read-in-parts.ts";

/** The pass that pages are read for. */
export interface PassOfPages {
  readonly pass: number;
  readonly mode: ListMode;
  readonly columns: readonly string[];
  readonly perPage: number;
  /** The first page, where it was read already. */
  readonly firstPage: HttpResponse | undefined;
  /** Undefined: documents do not land. */
  readonly landing: StageLanding | undefined;
}

export interface PageToRead {
  readonly page: number;
  readonly group: number;
}

/** What a request is for. */
interface View {
  readonly mode: ListMode;
  readonly columns: readonly string[];
  readonly landing: StageLanding | undefined;
}

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

  /** `first`: of the first page; undefined: this is the first one. */
  async read(page: PageToRead, first: Pagination | undefined): Promise<PageRead> {
    const { landing, perPage } = this.#pass;
    try {
      const read = await this.#part(page, this.#pass, { page: page.page, perPage, offset: 0 });
      return { page: page.page, ...read, split: null };
    } catch (thrown) {
      if (landing === undefined || !maySplit(thrown)) throw thrown;
      const { per_page: granted } = first ?? (await this.firstPageNow());
      if (granted > perPage) throw thrown;
      const split = { page: page.page, perPage: granted, count: first?.count };
      return await readInParts(split, this.#portsOf(page, landing), thrown);
    }
  }

  /** IDs and times alone: such a page is small, whatever its items hold. */
  #viewWithoutDocuments(): View {
    return { mode: this.#pass.mode === "dynamic" ? "dynamic" : "basic", columns: [], landing: undefined };
  }

  /** What the listing says of itself, by another request without documents. */
  async firstPageNow(): Promise<Pagination> {
    const place = { page: 1, group: 0 };
    const part = { page: 1, perPage: this.#pass.perPage, offset: 0 };
    const { result, record } = await this.#part(place, this.#viewWithoutDocuments(), part);
    this.#context.journal.requests.add({ ...record, page: null });
    return result.answer.pagination;
  }

  #portsOf(page: PageToRead, landing: StageLanding): SplitPorts {
    const { pass, mode, columns } = this.#pass;
    const shape = mode === "dynamic" ? "dynamic" : "full";
    return {
      read: (part) => this.#part(page, this.#pass, part),
      list: (part) => this.#part(page, this.#viewWithoutDocuments(), part),
      single: (item, total) => {
        this.#budget ??= new FailureBudget(total, this.#context.settings.singlesLimits);
        const place = { landing, group: page.group, page: page.page };
        const single = { ...item, ...place, shape, columns, whole: true } as const;
        return answerOf(this.#context, single, this.#budget, this.#signal);
      },
      reject: ({ offset: position }, contentId, reason) => {
        return { mode, pass, page: page.page, position, contentId, reason, document: "null" };
      },
    };
  }

  async #part({ page, group }: PageToRead, view: View, part: Part): Promise<ReadPart> {
    const { clock, landing: nowhere } = this.#context;
    const { pass } = this.#pass;
    const { mode, columns, landing } = view;
    const request = listRequest({ mode, page: part.page, perPage: part.perPage, columns, gallery: true });
    const { response, value } = await this.#ask(request, part, async (answer) => {
      const observedAt = observedAtOf(answer, clock);
      const bytes = answer.body.byteLength;
      const body = { bytes: answer.body, contentEncoding: answer.contentEncoding, observedAt };
      const task = { mode, page, offset: part.offset, body };
      const result = await (landing?.page({ ...task, group }) ?? nowhere.look({ ...task, pass }));
      return { result, observedAt, bytes };
    });
    const { result, observedAt, bytes } = value;
    const { next, previous } = result.answer.pagination;
    const record = {
      ...recordOf(response, { mode, pass, page, observedAt, bytes }),
      nextPage: next ?? null,
      previousPage: previous ?? null,
    };
    return { result, record };
  }

  /** What was read of the first page already is not asked for, unless it proves to be damaged. */
  async #ask<T>(request: ReadRequest, { page }: Part, take: Take<T>): Promise<Taken<T>> {
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
