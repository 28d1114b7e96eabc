/**
 * Chooses how many items a page to request. A run waits for requests, so larger pages are tried before a pass begins: as
 * large as the service grants, as long as a page is sent quickly and costs little to request again.
 */
import type { Extraction } from "../../raw/extract-record.ts";
import type { HttpResponse } from "../http/client.ts";
import { decodeBytes } from "../http/decode.ts";
import { type ListMode, listRequest } from "../http/request.ts";
import { SourceError } from "../http/source-error.ts";
import { recordOf } from "../landing/journal.ts";
import { readList } from "../pages/list-page.ts";
import type { ExtractContext } from "./context.ts";
import { isUnreadablePage, type PassPlan } from "./page-reader.ts";

/** Items a page of a run, by what its passes read: documents of a shape, or only IDs and times (`basic`). */
type PageSizes = Extraction["reading"]["pageSizes"];

const SMALLEST = 100;
const PAGE_SIZES: readonly number[] = [SMALLEST, 200, 500, 1000];
/** 4 MB after decompression. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const MAX_PAGE_MS = 10_000;

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

export class PageSizeChooser {
  readonly #setting: number | "auto";
  readonly #previous: PageSizes;
  readonly #used = new Map<ListMode, number>();
  /** Largest size that the service grants, as far as is known. */
  #granted = Number.POSITIVE_INFINITY;

  /**
   * `previous`: the sizes of the run before. `limit`: items of a limited run, which reads no more pages than its items fill,
   * and hardly more items.
   */
  constructor(setting: number | "auto", previous: PageSizes, limit: number | null) {
    const pages = Math.ceil((limit ?? 0) / (setting === "auto" ? SMALLEST : setting));
    this.#setting = limit === null ? setting : Math.ceil(limit / pages);
    this.#previous = previous;
  }

  get used(): PageSizes {
    return Object.fromEntries(this.#used);
  }

  /**
   * The size for a pass. `resumed`: the size that it began with. If pages are too large even in the smallest size, this does
   * not fail: the pass reads them in parts.
   */
  async choose(
    kind: ListMode,
    resumed: number | undefined,
    request: RequestFirstPage,
  ): Promise<{ readonly perPage: number; readonly first: FirstPage | undefined }> {
    const known = resumed ?? this.#used.get(kind) ?? this.#setting;
    const choice =
      known === "auto"
        ? await this.#search(this.#previous[kind] ?? SMALLEST, request)
        : { perPage: known, first: undefined };
    this.#used.set(kind, choice.perPage);
    return choice;
  }

  /**
   * The page size for a pass, with its first page if that was read. Other responses are recorded as requests of no page.
   * `kind`: `basic` if the pass reads only IDs and times. `resumed`: as in {@link choose}.
   */
  async chooseFor(
    { client, journal, signal }: ExtractContext,
    {
      kind,
      resumed,
      pass,
      mode,
      columns,
    }: Pick<PassPlan, "pass" | "mode" | "columns"> & {
      readonly kind: ListMode;
      readonly resumed: number | undefined;
    },
  ): Promise<Pick<PassPlan, "perPage" | "firstPage">> {
    const responses = new Map<FirstPage, HttpResponse>();
    const { perPage, first } = await this.choose(kind, resumed, async (perPage, patient) => {
      const request = listRequest({ mode, page: 1, perPage, columns });
      const onceWithinMs = patient ? undefined : MAX_PAGE_MS;
      const { response, value } = await client.readAs(request, signal, readFirstPage, onceWithinMs);
      responses.set(value, response);
      return value;
    });
    for (const [page, response] of responses)
      if (page !== first) journal.requests.push(recordOf(response, { mode, pass }));
    return { perPage, firstPage: first && responses.get(first) };
  }

  /** Begins with the size of the run before. If that is too large by now, the smallest size is taken. */
  async #search(previous: number, request: RequestFirstPage) {
    const begin = Math.min(this.#granted, previous);
    let best = await this.#try(begin, request);
    if (best === undefined || (begin > SMALLEST && !isSmall(best)))
      return { perPage: Math.min(begin, SMALLEST), first: undefined };
    if (best.perPage < begin && isAsRequested(best, best.perPage)) {
      this.#granted = Math.max(1, best.perPage);
      return { perPage: this.#granted, first: best };
    }
    if (best.perPage !== begin) return { perPage: begin, first: best };
    for (const size of PAGE_SIZES.filter((each) => each > begin)) {
      const hasMore = best.count > best.rows && best.rows === best.perPage;
      // A larger page is taken to have more bytes, and to take no more time.
      const times = size / Math.max(1, best.rows);
      const estimate = {
        decodedBytes: best.decodedBytes * times,
        milliseconds: best.milliseconds * Math.min(1, times),
      };
      if (!hasMore || size > this.#granted || !isSmall(estimate)) break;
      const page = await this.#try(size, request);
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
  async #try(perPage: number, request: RequestFirstPage): Promise<FirstPage | undefined> {
    const patient = perPage <= SMALLEST;
    try {
      return await request(perPage, patient);
    } catch (thrown) {
      const mayDependOnSize = thrown instanceof SourceError && !/credentials|tls/.test(thrown.code);
      if (patient ? isUnreadablePage(thrown) : mayDependOnSize) return undefined;
      throw thrown;
    }
  }
}

/** Whether the service sent as many items as it says, and as were requested. */
function isAsRequested({ perPage, rows, count }: FirstPage, size: number): boolean {
  return perPage === size && rows === Math.min(size, count);
}

function isSmall({ decodedBytes, milliseconds }: Pick<FirstPage, "decodedBytes" | "milliseconds">): boolean {
  return decodedBytes <= MAX_PAGE_BYTES && milliseconds <= MAX_PAGE_MS;
}

function readFirstPage(response: HttpResponse): FirstPage {
  const decoded = decodeBytes(response);
  const { pagination, rows } = readList(decoded);
  const { per_page: perPage, count } = pagination;
  return { perPage, count, rows, decodedBytes: decoded.byteLength, milliseconds: response.milliseconds };
}
