/**
 * Chooses how many items a page to request. A run waits for requests, so larger pages are tried before a pass begins: as
 * large as the service grants, as long as a page is sent quickly and costs little to request again.
 */
import type { HttpResponse } from "../http/client.ts";
import { decodeBytes } from "../http/decode.ts";
import { type ListMode, listRequest } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import { observedAtOf, recordOf } from "../landing/journal.ts";
import { readList } from "../pages/list-page.ts";
import type { ExtractContext } from "./context.ts";
import { isUnreadablePage, type PassPlan } from "./page-reader.ts";

export type PageSizeSetting = number | "auto";

/** Items a page of a run, by what its passes read: documents of a shape, or only IDs and times (`basic`). */
export type PageSizesByMode = { readonly [Kind in ListMode]?: number | undefined };

export const PAGE_SIZES: readonly number[] = [100, 200, 500, 1000];
/** 4 MB after decompression. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const MAX_PAGE_MS = 10_000;
/** Attempts for a size: a failure that has another cause, such as 502, rarely comes twice. */
const MAX_ATTEMPTS = 2;
/** Larger sizes to try if the size of the run before is known. */
const MAX_LARGER_SIZES = 1;

/** Items a page for a limited run: no more pages than its items fill, and hardly more items than the limit. */
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

/** Requests the first page. `patient`: with all retries; else once, within the time that a page may take. */
type RequestFirstPage = (perPage: number, patient: boolean) => Promise<FirstPage>;

interface PageSizeChoice {
  readonly perPage: number;
  /** The first page of this size; `undefined` if the pass must request it. */
  readonly first: FirstPage | undefined;
}

export class PageSizeChooser {
  readonly #setting: PageSizeSetting;
  readonly #previous: PageSizesByMode;
  readonly #used = new Map<ListMode, number>();
  /** Largest size that the service grants, as far as is known. */
  #granted = Number.POSITIVE_INFINITY;

  /** `previous`: the sizes of the run before. */
  constructor(setting: PageSizeSetting, previous: PageSizesByMode) {
    this.#setting = setting;
    this.#previous = previous;
  }

  get used(): PageSizesByMode {
    return Object.fromEntries(this.#used);
  }

  /** Sets the size of the passes of a kind. */
  use(kind: ListMode, perPage: number): void {
    this.#used.set(kind, perPage);
  }

  /**
   * The size for a pass. `multiple`: try only sizes that it is a multiple of. If pages are too large even in the smallest
   * size, this does not fail: the pass finds out.
   */
  async choose(
    kind: ListMode,
    multiple: number | undefined,
    request: RequestFirstPage,
  ): Promise<PageSizeChoice> {
    const known = this.#used.get(kind) ?? this.#setting;
    if (known !== "auto") return { perPage: known, first: undefined };
    const fitting = PAGE_SIZES.filter((size) => multiple === undefined || multiple % size === 0);
    return this.#search(fitting.length === 0 ? PAGE_SIZES : fitting, this.#previous[kind], request);
  }

  async #search(
    sizes: readonly number[],
    previous: number | undefined,
    request: RequestFirstPage,
  ): Promise<PageSizeChoice> {
    const [smallest = 1] = sizes;
    const wanted =
      previous === undefined ? smallest : (sizes.findLast((size) => size <= previous) ?? previous);
    const begin = Math.min(this.#granted, wanted);
    const first = await this.#try(begin, begin <= smallest, request);
    if (first === undefined) return { perPage: Math.min(begin, smallest), first };
    if (first.perPage < begin && isAsRequested(first, first.perPage)) {
      this.#granted = Math.max(1, first.perPage);
      return { perPage: this.#granted, first };
    }
    if (first.perPage !== begin) return { perPage: begin, first };
    if (begin > smallest && !isSmall(first)) return this.#searchSmaller(sizes, first, request);
    const tries = previous === undefined ? sizes.length : MAX_LARGER_SIZES;
    const larger = sizes.filter((size) => size > begin).slice(0, tries);
    return this.#searchLarger(larger, first, request);
  }

  /** Pages have become larger than in the run before. */
  async #searchSmaller(
    sizes: readonly number[],
    page: FirstPage,
    request: RequestFirstPage,
  ): Promise<PageSizeChoice> {
    const fits = sizes.findLast((size) => size < page.perPage && isSmall(estimate(page, size)));
    const perPage = fits ?? sizes[0] ?? page.perPage;
    return { perPage, first: await this.#try(perPage, perPage === sizes[0], request) };
  }

  async #searchLarger(
    sizes: readonly number[],
    first: FirstPage,
    request: RequestFirstPage,
  ): Promise<PageSizeChoice> {
    let best = first;
    for (const size of sizes) {
      const hasMore = best.count > best.rows && best.rows === best.perPage;
      if (!hasMore || size > this.#granted || !isSmall(estimate(best, size))) break;
      const page = await this.#try(size, false, request);
      if (page === undefined) break;
      if (!isAsRequested(page, size)) {
        this.#granted = best.perPage;
        break;
      }
      if (!isSmall(page)) break;
      best = page;
    }
    return { perPage: best.perPage, first: best };
  }

  /** `undefined` if the service fails for pages of this size. */
  async #try(perPage: number, patient: boolean, request: RequestFirstPage): Promise<FirstPage | undefined> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await request(perPage, patient);
      } catch (thrown) {
        if (!mayDependOnSize(thrown) || (patient && !isUnreadablePage(thrown))) throw thrown;
        if (patient || dependsOnSize(thrown) || attempts === MAX_ATTEMPTS) return undefined;
      }
    }
  }
}

/** Whether a smaller page may not fail like this. */
function mayDependOnSize(thrown: unknown): thrown is SourceError {
  if (!(thrown instanceof SourceError)) return false;
  const { code } = thrown;
  return code !== "source.credentials" && code !== "source.tls" && code.startsWith("source.");
}

/** Whether another attempt with the same size would fail too. */
function dependsOnSize({ code }: SourceError): boolean {
  return code === "source.too_large" || code === "source.timeout" || code === "source.protocol";
}

/** Whether the service sent as many items as it says, and as were requested. */
function isAsRequested({ perPage, rows, count }: FirstPage, size: number): boolean {
  return perPage === size && rows === Math.min(size, count);
}

function isSmall({ decodedBytes, milliseconds }: Pick<FirstPage, "decodedBytes" | "milliseconds">): boolean {
  return decodedBytes <= MAX_PAGE_BYTES && milliseconds <= MAX_PAGE_MS;
}

/** Bytes and time of a page of another size. */
function estimate({ rows, decodedBytes, milliseconds }: FirstPage, size: number) {
  const times = size / Math.max(1, rows);
  return { decodedBytes: decodedBytes * times, milliseconds: milliseconds * Math.min(1, times) };
}

/**
 * The page size for a pass, with its first page if that was read. Other responses are recorded as requests of no page.
 * `kind`: `basic` if the pass reads only IDs and times. `multiple`: as in {@link PageSizeChooser.choose}.
 */
export async function choosePageSize(
  { client, clock, journal, signal }: ExtractContext,
  sizes: PageSizeChooser,
  {
    pass,
    mode,
    columns,
    kind,
    multiple,
  }: Pick<PassPlan, "pass" | "mode" | "columns"> & {
    readonly kind: ListMode;
    readonly multiple: number | undefined;
  },
): Promise<Pick<PassPlan, "perPage" | "firstPage">> {
  const responses = new Map<FirstPage, HttpResponse>();
  const { perPage, first } = await sizes.choose(kind, multiple, async (perPage, patient) => {
    const request = listRequest({ mode, page: 1, perPage, columns, gallery: true });
    const onceWithinMs = patient ? undefined : MAX_PAGE_MS;
    const { response, value } = await client.readAs(request, signal, readFirstPage, onceWithinMs);
    responses.set(value, response);
    return value;
  });
  for (const [page, response] of responses) {
    const about = { mode, pass, bytes: response.body.byteLength, observedAt: observedAtOf(response, clock) };
    if (page !== first) journal.requests.add(recordOf(response, about));
  }
  return { perPage, firstPage: first && responses.get(first) };
}

function readFirstPage(response: HttpResponse): FirstPage {
  const decoded = decodeBytes(response);
  const { pagination, rows } = readList(decoded);
  const { per_page: perPage, count } = pagination;
  return { perPage, count, rows, decodedBytes: decoded.byteLength, milliseconds: response.milliseconds };
}
