/**
 * How many items a page to ask for. Requests are what a run waits for, so larger pages are tried before a pass: as large
 * as the service grants, and no larger than what is quickly sent and read again.
 */
import { SourceError } from "../http/source-error.ts";

/** What a pass reads: pages of documents of either shape, or of IDs and times alone, which are much smaller. */
export type PageKind = "dynamic" | "full" | "basic";

export type PerPage = number | "auto";

/** Items a page by kind, as a run used them. */
export type UsedSizes = { readonly [Kind in PageKind]?: number | undefined };

export const PAGE_SIZES: readonly number[] = [100, 200, 500, 1000];
/** After decompression. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
export const MAX_PAGE_MS = 10_000;
/** For a size: what failed for another reason, such as 502, fails twice where it is the size after all. */
const ATTEMPTS = 2;
/** Larger sizes that are tried by a run that knows the size of the run before. */
const MAX_TRIES_AGAIN = 1;

/** A first page, before anybody looks at its documents. */
export interface FirstPage {
  /** As the service says that it applied it. */
  readonly perPage: number;
  readonly count: number;
  readonly rows: number;
  readonly decodedBytes: number;
  readonly milliseconds: number;
}

/** Asks for the first page. `patient`: as for any page; else once, for so long as a page may take. */
export type AskFirst<First extends FirstPage> = (perPage: number, patient: boolean) => Promise<First>;

export interface Chosen<First extends FirstPage> {
  readonly perPage: number;
  /** That of this size, if it was read; undefined: the pass asks for it. */
  readonly first: First | undefined;
}

export class PageSizes {
  readonly #configured: PerPage;
  readonly #remembered: UsedSizes;
  readonly #used = new Map<PageKind, number>();
  /** No larger pages are granted, whatever they hold. */
  #granted = Number.POSITIVE_INFINITY;

  /** `remembered`: of the run before. */
  constructor(configured: PerPage, remembered: UsedSizes) {
    this.#configured = configured;
    this.#remembered = remembered;
  }

  get used(): UsedSizes {
    return Object.fromEntries(this.#used);
  }

  /** The pages of a pass have so many items. */
  use(kind: PageKind, perPage: number): void {
    this.#used.set(kind, perPage);
  }

  /**
   * The size for a pass. `multiple`: only sizes that it is a multiple of are tried. Never fails for a size: where pages
   * are too large even at the smallest, the pass itself finds out.
   */
  async choose<First extends FirstPage>(
    kind: PageKind,
    multiple: number | undefined,
    ask: AskFirst<First>,
  ): Promise<Chosen<First>> {
    const known = this.#used.get(kind);
    if (this.#configured !== "auto") return { perPage: known ?? this.#configured, first: undefined };
    if (known !== undefined) return { perPage: known, first: undefined };
    const fitting = PAGE_SIZES.filter((size) => multiple === undefined || multiple % size === 0);
    return this.#try(fitting.length === 0 ? PAGE_SIZES : fitting, this.#remembered[kind], ask);
  }

  async #try<First extends FirstPage>(
    sizes: readonly number[],
    remembered: number | undefined,
    ask: AskFirst<First>,
  ): Promise<Chosen<First>> {
    const [smallest = 1] = sizes;
    const wanted =
      remembered === undefined ? smallest : (sizes.findLast((size) => size <= remembered) ?? remembered);
    const begin = Math.min(this.#granted, wanted);
    const first = await this.#ask(begin, begin <= smallest, ask);
    if (first === undefined) return { perPage: Math.min(begin, smallest), first };
    if (first.perPage < begin && isHonest(first, first.perPage)) return this.#clamped(first);
    if (first.perPage !== begin) return { perPage: begin, first };
    if (begin > smallest && !isSmall(first)) return this.#smaller(sizes, first, ask);
    return this.#larger(sizes, first, remembered === undefined ? sizes.length : MAX_TRIES_AGAIN, ask);
  }

  /** The service grants fewer items a page: what came is a page of that size. */
  #clamped<First extends FirstPage>(first: First): Chosen<First> {
    const perPage = Math.max(1, first.perPage);
    this.#granted = perPage;
    return { perPage, first };
  }

  /** Pages have become larger than in the run before. */
  async #smaller<First extends FirstPage>(
    sizes: readonly number[],
    found: First,
    ask: AskFirst<First>,
  ): Promise<Chosen<First>> {
    const fits = sizes.findLast((size) => size < found.perPage && isSmall(scaled(found, size)));
    const perPage = fits ?? sizes[0] ?? found.perPage;
    return { perPage, first: await this.#ask(perPage, perPage === sizes[0], ask) };
  }

  async #larger<First extends FirstPage>(
    sizes: readonly number[],
    first: First,
    tries: number,
    ask: AskFirst<First>,
  ): Promise<Chosen<First>> {
    let best = first;
    for (const size of sizes.filter((each) => each > first.perPage).slice(0, tries)) {
      const useful = best.count > best.rows && best.rows === best.perPage;
      if (!useful || size > this.#granted || !isSmall(scaled(best, size))) break;
      const page = await this.#ask(size, false, ask);
      if (page === undefined || !isHonest(page, size)) {
        this.#granted = best.perPage;
        break;
      }
      if (!isSmall(page)) break;
      best = page;
    }
    return { perPage: best.perPage, first: best };
  }

  /** Undefined: pages of that size are not to be had. */
  async #ask<First extends FirstPage>(
    perPage: number,
    patient: boolean,
    ask: AskFirst<First>,
  ): Promise<First | undefined> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await ask(perPage, patient);
      } catch (thrown) {
        if (!mayBeOfTheSize(thrown) || (patient && thrown.code !== "source.too_large")) throw thrown;
        if (isOfTheSize(thrown) || attempts === ATTEMPTS) return undefined;
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
