/** Reads the pages of a pass, one by one; in parts where an item keeps a page from being read. */
import type { Pagination } from "../../api/envelope.ts";
import type { HttpResponse, Take, Taken } from "../http/client.ts";
import { type ListMode, listRequest, type ReadRequest } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import type { PageRead } from "../landing/checkpoint-form.ts";
import { observedAtOf, recordOf } from "../journal.ts";
import { answerOf, Bearable } from "../passes/single-item.ts";
import { maySplit, type Part, type ReadPart, readInParts, type SplitPorts } from "./read-in-parts.ts";
import type { PassContext, SweepStaging } from "../passes/listing.ts";

/** The pass that pages are read for. */
export interface PassOfPages {
  readonly sweep: number;
  readonly mode: ListMode;
  /** Undefined: documents do not land. */
  readonly staging: Pick<SweepStaging, "pairedWith" | "onTransformed"> | undefined;
  /** Ends the requests. */
  readonly signal: AbortSignal;
}

export interface PageToRead {
  readonly page: number;
  readonly group: number;
  /** Of the group. */
  readonly firstPage: number;
}

/** What a request is for. */
interface View {
  readonly mode: ListMode;
  readonly columns: readonly string[];
  readonly lands: boolean;
}

export class PageReader {
  readonly #context: PassContext;
  readonly #pass: PassOfPages;
  /** Read already; taken once. */
  #firstPage: HttpResponse | undefined;
  /** Of items that are asked for singly because their pages cannot be read. */
  #bearable: Bearable | undefined;

  constructor(context: PassContext, pass: PassOfPages) {
    this.#context = context;
    this.#pass = pass;
    this.#firstPage = context.firstPage;
  }

  /** `first`: of the first page; undefined: this is the first one. */
  async read(page: PageToRead, first: Pagination | undefined): Promise<PageRead> {
    const { perPage } = this.#context;
    try {
      const read = await this.#part(page, this.#view(), { page: page.page, perPage, offset: 0 });
      return { page: page.page, ...read, split: null };
    } catch (thrown) {
      if (this.#pass.staging === undefined || !maySplit(thrown)) throw thrown;
      const { per_page: granted } = first ?? (await this.firstPageNow());
      if (granted > perPage) throw thrown;
      const split = { page: page.page, perPage: granted, count: first?.count };
      return await readInParts(split, this.#portsOf(page), thrown);
    }
  }

  #view(): View {
    const { mode, staging } = this.#pass;
    const lands = staging !== undefined;
    return { mode, columns: lands ? this.#context.settings.columns : [], lands };
  }

  /** IDs and times alone: such a page is small, whatever its items hold. */
  #viewWithoutDocuments(): View {
    return { mode: this.#pass.mode === "dynamic" ? "dynamic" : "basic", columns: [], lands: false };
  }

  /** What the listing says of itself, by another request without documents. */
  async firstPageNow(): Promise<Pagination> {
    const place = { page: 1, group: 0, firstPage: 1 };
    const part = { page: 1, perPage: this.#context.perPage, offset: 0 };
    const { result, record } = await this.#part(place, this.#viewWithoutDocuments(), part);
    this.#context.journal.requests.add({ ...record, page: null });
    return result.answer.pagination;
  }

  #portsOf(page: PageToRead): SplitPorts {
    const { sweep, mode, signal } = this.#pass;
    const { columns } = this.#view();
    const shape = mode === "dynamic" ? "dynamic" : "full";
    return {
      read: (part) => this.#part(page, this.#view(), part),
      list: (part) => this.#part(page, this.#viewWithoutDocuments(), part),
      single: (item, total) => {
        this.#bearable ??= new Bearable(total, this.#context.settings.singlesLimits);
        const single = {
          ...item,
          shape,
          columns,
          whole: true,
          sweep,
          group: page.group,
          page: page.page,
        } as const;
        return answerOf(this.#context, single, this.#bearable, signal);
      },
      reject: ({ offset: position }, contentId, reason) => {
        return { mode, sweep, page: page.page, position, contentId, reason, document: "null" };
      },
    };
  }

  async #part({ page, group, firstPage }: PageToRead, view: View, part: Part): Promise<ReadPart> {
    const { clock, workers } = this.#context;
    const { sweep, staging } = this.#pass;
    const { mode, columns, lands } = view;
    const request = listRequest({ mode, page: part.page, perPage: part.perPage, columns, gallery: true });
    const { response, value } = await this.#ask(request, part, async (answer) => {
      const observedAt = observedAtOf(answer, clock);
      const bytes = answer.body.byteLength;
      const body = { bytes: answer.body, contentEncoding: answer.contentEncoding, observedAt };
      const pairWith = lands ? staging?.pairedWith(group) : undefined;
      const place = { sweep, group, firstPage, page, offset: part.offset };
      const { result, transformed } = await workers.page({
        kind: "page",
        mode,
        lands,
        ...place,
        pairWith,
        body,
      });
      staging?.onTransformed(transformed);
      return { result, observedAt, bytes };
    });
    const { result, observedAt, bytes } = value;
    const { next, previous } = result.answer.pagination;
    const record = {
      ...recordOf(response, { mode, sweep, page, observedAt, bytes }),
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
    return this.#context.client.readAs(request, this.#pass.signal, take);
  }
}
