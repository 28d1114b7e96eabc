/**
 * How many items a page to ask for. Requests are what a run waits for, so larger pages are tried before a pass: as large
 * as the service grants, and no larger than what is quickly sent and read again.
 */

import type { HttpResponse } from "../http/client.ts";
import { decodeBytes } from "../http/decode.ts";
import { type ListMode, listRequest } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import { observedAtOf, recordOf } from "../landing/journal.ts";
import { readList } from "../pages/list-page.ts";
import type { ExtractContext } from "./context.ts";
import { isUnreadablePage } from "./page-reader.ts";

export type PageSizeSetting = number | "auto";

/**
 * Items a page, as a run used them, by what a pass reads: documents of either shape, or IDs and times alone, whose pages
 * are much smaller, `basic`.
 */
export type PageSizesByMode = { readonly [Kind in ListMode]?: number | undefined };

export const PAGE_SIZES: readonly number[] = [100, 200, 500, 1000];
/** After decompression. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const MAX_PAGE_MS = 10_000;
/** For a size: what failed for another reason, such as 502, fails twice where it is the size after all. */
const ATTEMPTS = 2;
/** Larger sizes that are tried by a run that knows the size of the run before. */
const MAX_TRIES_AGAIN = 1;

/** Items a page for a limited run: no more pages than its items fill, and hardly more items than these. */
export function limitedPageSize(perPage: PageSizeSetting, limit: number): number {
  const [smallest = 1] = PAGE_SIZES;
  const pages = Math.ceil(limit / (perPage === "auto" ? smallest : perPage));
  return Math.ceil(limit / pages);
}

export interface FirstPage {
  /** As the service says that it applied it. */
  readonly perPage: number;
  readonly count: number;
  readonly rows: number;
  readonly decodedBytes: number;
  readonly milliseconds: number;
}

/** Asks for the first page. `patient`: as for any page; else once, for so long as a page may take. */
type AskFirst = (perPage: number, patient: boolean) => Promise<FirstPage>;

interface Chosen {
  readonly perPage: number;
  /** That of this size, if it was read; undefined: the pass asks for it. */
  readonly first: FirstPage | undefined;
}

export class PageSizeChooser {
  readonly #configured: PageSizeSetting;
  readonly #remembered: PageSizesByMode;
  readonly #used = new Map<ListMode, number>();
  /** No larger pages are granted, whatever they hold. */
  #granted = Number.POSITIVE_INFINITY;

  /** `remembered`: of the run before. */
  constructor(configured: PageSizeSetting, remembered: PageSizesByMode) {
    this.#configured = configured;
    this.#remembered = remembered;
  }

  get used(): PageSizesByMode {
    return Object.fromEntries(this.#used);
  }

  /** The pages of a pass have so many items. */
  use(kind: ListMode, perPage: number): void {
    this.#used.set(kind, perPage);
  }

  /**
   * The size for a pass. `multiple`: only sizes that it is a multiple of are tried. Never fails for a size: where pages
   * are too large even at the smallest, the pass itself finds out.
   */
  async choose(kind: ListMode, multiple: number | undefined, ask: AskFirst): Promise<Chosen> {
    const known = this.#used.get(kind) ?? this.#configured;
    if (known !== "auto") return { perPage: known, first: undefined };
    const fitting = PAGE_SIZES.filter((size) => multiple === undefined || multiple % size === 0);
    return this.#try(fitting.length === 0 ? PAGE_SIZES : fitting, this.#remembered[kind], ask);
  }

  async #try(sizes: readonly number[], remembered: number | undefined, ask: AskFirst): Promise<Chosen> {
    const [smallest = 1] = sizes;
    const wanted =
      remembered === undefined ? smallest : (sizes.findLast((size) => size <= remembered) ?? remembered);
    const begin = Math.min(this.#granted, wanted);
    const first = await this.#ask(begin, begin <= smallest, ask);
    if (first === undefined) return { perPage: Math.min(begin, smallest), first };
    if (first.perPage < begin && isHonest(first, first.perPage)) {
      // The service grants fewer items a page: what came is a page of that size.
      this.#granted = Math.max(1, first.perPage);
      return { perPage: this.#granted, first };
    }
    if (first.perPage !== begin) return { perPage: begin, first };
    if (begin > smallest && !isSmall(first)) return this.#smaller(sizes, first, ask);
    return this.#larger(sizes, first, remembered === undefined ? sizes.length : MAX_TRIES_AGAIN, ask);
  }

  /** Pages have become larger than in the run before. */
  async #smaller(sizes: readonly number[], found: FirstPage, ask: AskFirst): Promise<Chosen> {
    const fits = sizes.findLast((size) => size < found.perPage && isSmall(scaled(found, size)));
    const perPage = fits ?? sizes[0] ?? found.perPage;
    return { perPage, first: await this.#ask(perPage, perPage === sizes[0], ask) };
  }

  async #larger(sizes: readonly number[], first: FirstPage, tries: number, ask: AskFirst): Promise<Chosen> {
    let best = first;
    for (const size of sizes.filter((each) => each > first.perPage).slice(0, tries)) {
      const useful = best.count > best.rows && best.rows === best.perPage;
      if (!useful || size > this.#granted || !isSmall(scaled(best, size))) break;
      const page = await this.#ask(size, false, ask);
      if (page === undefined) break;
      if (!isHonest(page, size)) {
        this.#granted = best.perPage;
        break;
      }
      if (!isSmall(page)) break;
      best = page;
    }
    return { perPage: best.perPage, first: best };
  }

  /** Undefined: pages of that size are not to be had. */
  async #ask(perPage: number, patient: boolean, ask: AskFirst): Promise<FirstPage | undefined> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await ask(perPage, patient);
      } catch (thrown) {
        if (!mayBeOfTheSize(thrown) || (patient && !isUnreadablePage(thrown))) throw thrown;
        if (patient || isOfTheSize(thrown) || attempts === ATTEMPTS) return undefined;
      }
    }
  }
}

/** Failures that a smaller page may not have. What else there is, the pass meets again. */
function mayBeOfTheSize(thrown: unknown): thrown is SourceError {
  if (!(thrown instanceof SourceError)) return false;
  const { code } = thrown;
  return code !== "source.credentials" && code !== "source.tls" && code.startsWith("source.");
}

/** Those that another attempt would have too. */
function isOfTheSize({ code }: SourceError): boolean {
  return code === "source.too_large" || code === "source.timeout" || code === "source.protocol";
}

/** Whether the service gave as many items as it says, and as were asked for. */
function isHonest({ perPage, rows, count }: FirstPage, size: number): boolean {
  return perPage === size && rows === Math.min(size, count);
}

function isSmall({ decodedBytes, milliseconds }: Pick<FirstPage, "decodedBytes" | "milliseconds">): boolean {
  return decodedBytes <= MAX_PAGE_BYTES && milliseconds <= MAX_PAGE_MS;
}

/** What a page of another size would be. */
function scaled({ rows, decodedBytes, milliseconds }: FirstPage, size: number) {
  const times = size / Math.max(1, rows);
  return { decodedBytes: decodedBytes * times, milliseconds: milliseconds * Math.min(1, times) };
}

export interface PassToSize {
  readonly pass: number;
  readonly mode: ListMode;
  readonly kind: ListMode;
  readonly columns: readonly string[];
  /** Only sizes are tried that it is a multiple of; undefined: all. */
  readonly multiple: number | undefined;
}

/**
 * The page size for a pass, with its first page if that was read. Answers that are not it are put on record, as requests
 * of no page.
 */
export async function choosePageSize(
  { client, clock, journal, signal }: ExtractContext,
  sizes: PageSizeChooser,
  { pass, mode, kind, columns, multiple }: PassToSize,
): Promise<{ readonly perPage: number; readonly firstPage: HttpResponse | undefined }> {
  const responses = new Map<FirstPage, HttpResponse>();
  const { perPage, first } = await sizes.choose(kind, multiple, async (perPage, patient) => {
    const request = listRequest({ mode, page: 1, perPage, columns, gallery: true });
    const onceWithinMs = patient ? undefined : MAX_PAGE_MS;
    const { response, value } = await client.readAs(request, signal, firstPageOf, onceWithinMs);
    responses.set(value, response);
    return value;
  });
  for (const [page, response] of responses) {
    const about = { mode, pass, bytes: response.body.byteLength, observedAt: observedAtOf(response, clock) };
    if (page !== first) journal.requests.add(recordOf(response, about));
  }
  return { perPage, firstPage: first && responses.get(first) };
}

function firstPageOf(response: HttpResponse): FirstPage {
  const decoded = decodeBytes(response);
  const { pagination, rows } = readList(decoded);
  const { per_page: perPage, count } = pagination;
  return { perPage, count, rows, decodedBytes: decoded.byteLength, milliseconds: response.milliseconds };
}
