/**
 * A page that cannot be read, because it is too large or no JSON: its items are asked for in smaller pages at the same
 * places, so that one item costs itself and no other. An item that no request gives is named by its entry in a list
 * without documents.
 */
import type { Pagination } from "../../api/envelope.ts";
import { SourceError } from "../http/source-error.ts";
import type {
  ListedItem,
  PageRead,
  PageResult,
  Reject,
  SingleRead,
  SplitRead,
} from "../landing/checkpoint-form.ts";

/** A page of a listing with so many items a page. */
export interface Part {
  readonly page: number;
  readonly perPage: number;
  /** Items of the page that is split that come before. */
  readonly offset: number;
}

/** The page that is split. */
export interface SplitPage extends Pick<Part, "page" | "perPage"> {
  /** The service's total, as the first page has it; undefined: this is the first page. */
  readonly count: number | undefined;
}

export type ReadPart = Pick<PageRead, "result" | "record">;

export interface SplitPorts {
  /** Errors: those of the answer. */
  read(part: Part): Promise<ReadPart>;
  /** The same items without their documents. */
  list(part: Part): Promise<ReadPart>;
  /** What a request for the item alone gives. `total`: items of the listing. Throws where too many were refused. */
  single(item: ListedItem, total: number): Promise<SingleRead>;
  /** `contentId`: null where nobody can name the item. */
  reject(part: Part, contentId: string | null, reason: string): Reject;
}

const GONE =
  "its page cannot be read, and the service says that it is gone (404 or 410) when asked for it singly";

/** Whether smaller pages may tell which item is to blame. */
export function maySplit(thrown: unknown): thrown is SourceError {
  return (
    thrown instanceof SourceError && (thrown.code === "source.too_large" || thrown.code === "source.damaged")
  );
}

/**
 * Reads the items of a page that failed with `failure`. Throws it where all its parts can be read though it was too large:
 * then no item is to blame, and pages have too many. So it does where the service changes what is on a page meanwhile.
 */
export async function readInParts(
  { page, perPage, count }: SplitPage,
  ports: SplitPorts,
  failure: SourceError,
): Promise<PageRead> {
  const split = new Split(ports, failure);
  const whole = { page, perPage, offset: 0 };
  await (perPage === 1 ? split.item(whole) : split.parts(whole));
  return split.merged(whole, count);
}

class Split {
  readonly #ports: SplitPorts;
  readonly #failure: SourceError;
  readonly #results: PageResult[] = [];
  readonly #records: SplitRead["records"][number][] = [];
  readonly #rejects: Reject[] = [];
  readonly #unread: string[] = [];
  /** Whether some part could not be read. */
  #failed = false;

  constructor(ports: SplitPorts, failure: SourceError) {
    this.#ports = ports;
    this.#failure = failure;
  }

  async parts({ page, perPage, offset }: Part): Promise<void> {
    const times = smallestFactor(perPage);
    const size = perPage / times;
    for (let i = 0; i < times; i++) {
      const part = { page: (page - 1) * times + 1 + i, perPage: size, offset: offset + i * size };
      await this.#part(part);
      const last = this.#results.at(-1)?.answer.pagination;
      if (last !== undefined && part.page * size >= last.count) return;
    }
  }

  async #part(part: Part): Promise<void> {
    try {
      this.#add(part, await this.#ports.read(part));
    } catch (thrown) {
      if (!maySplit(thrown)) throw thrown;
      this.#failed = true;
      await (part.perPage === 1 ? this.item(part) : this.parts(part));
    }
  }

  /** An item whose page of its own cannot be read. */
  async item(part: Part): Promise<void> {
    this.#failed = true;
    const listed = await this.#listed(part);
    this.#add(part, listed);
    const [item] = listed.result.items;
    if (item === undefined) return;
    const { record, rejects, read, gone } = await this.#ports.single(
      item,
      listed.result.answer.pagination.count,
    );
    if (record !== null) this.#records.push(record);
    this.#rejects.push(...rejects);
    if (gone) this.#rejects.push(this.#ports.reject(part, item.id, GONE));
    if (read === null) this.#unread.push(item.id);
  }

  async #listed(part: Part): Promise<ReadPart> {
    try {
      return await this.#ports.list(part);
    } catch (thrown) {
      const before = this.#results.at(-1);
      if (!maySplit(thrown) || before === undefined) throw thrown;
      const { count } = before.answer.pagination;
      const reject = this.#ports.reject(part, null, thrown.message);
      const answer = { pagination: { current: part.page, per_page: part.perPage, count, pages: count } };
      const [record] = this.#records;
      if (record === undefined) throw thrown;
      return { result: { answer, rows: 1, items: [], rejects: [reject], decodedBytes: 0 }, record };
    }
  }

  #add({ page, perPage }: Part, { result, record }: ReadPart): void {
    const { current, per_page } = result.answer.pagination;
    if (current !== page || per_page !== perPage) throw this.#failure;
    this.#results.push(result);
    this.#records.push(record);
  }

  /** The page as one answer would have been. */
  merged(whole: Part, count: number | undefined): PageRead {
    const results = this.#results;
    const [record, ...records] = this.#records;
    if (record === undefined || (!this.#failed && this.#failure.code === "source.too_large"))
      throw this.#failure;
    const result = {
      answer: { pagination: paginationOf(whole, results, count) },
      rows: results.reduce((sum, { rows }) => sum + rows, 0),
      items: results.flatMap(({ items }) => items),
      rejects: results.flatMap(({ rejects }) => rejects),
      decodedBytes: Math.max(...results.map(({ decodedBytes }) => decodedBytes)),
    };
    const split = { records, rejects: this.#rejects, unread: this.#unread };
    return { page: whole.page, result, record, split };
  }
}

/** Where the total changed between the parts, one that differs from other pages': the pass is not clean then. */
function paginationOf(
  { page, perPage }: Part,
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
