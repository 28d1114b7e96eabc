/** What makes a pass clean, and two passes agree. Pure. */
import type { Pagination } from "../../api/envelope.ts";
import type { PassSnapshot } from "./pass-snapshot.ts";

/** What a page said of its place, and how many rows it had. */
export interface PageSummary {
  readonly pagination: Pagination;
  readonly rows: number;
}

type NumberedMark = readonly [page: number, mark: PageSummary];

/**
 * Why a pass is not clean; empty: its pages fit together without a gap, a repeat or a change of total. `marks`: by page,
 * from 1; `rejected`: how many listed documents are no items.
 */
export function uncleanReasons(
  marks: ReadonlyMap<number, PageSummary>,
  { distinct, duplicates }: Pick<PassSnapshot, "distinct" | "duplicates">,
  rejected: number,
): string[] {
  const pages = [...marks].sort(([a], [b]) => a - b);
  const first = pages[0]?.[1];
  if (first === undefined) return ["no page was read"];
  const { count, pages: announced } = first.pagination;
  const listed = distinct + rejected;
  const beforeLast = pages.slice(0, -1);
  const end = beforeLast.find(([, { pagination }]) => (pagination.next ?? null) === null);
  return [
    duplicates > 0 &&
      `${duplicates === 1 ? "1 row repeats" : `${duplicates} rows repeat`} an item of the same pass`,
    changeReason("the total", pages, "count"),
    changeReason("the page size", pages, "per_page"),
    pages.length !== announced &&
      count > 0 &&
      `${pages.length === 1 ? "1 page was" : `${pages.length} pages were`} read, ${announced} announced`,
    shortReason(first.rows, beforeLast),
    end !== undefined && `page ${end[0]} of ${pages.length} says that no page follows`,
    listed !== count &&
      `${countOfItems(listed)} ${listed === 1 ? "was" : "were"} listed, the service counts ${count}`,
  ].filter((reason) => reason !== false);
}

function changeReason(
  what: string,
  pages: readonly NumberedMark[],
  figure: "count" | "per_page",
): string | false {
  const [before, ...others] = pages.map(([page, { pagination }]) => ({ page, figure: pagination[figure] }));
  const changed = others.find((other) => other.figure !== before?.figure);
  return (
    changed !== undefined &&
    `${what} changed from ${before?.figure} to ${changed.figure} on page ${changed.page}`
  );
}

/** The page size is what came: some services give fewer rows than they say. */
function shortReason(first: number, beforeLast: readonly NumberedMark[]): string | false {
  const [example, ...more] = beforeLast.filter(([, { rows }]) => rows !== first);
  if (example === undefined) return false;
  const [page, { rows }] = example;
  const others = more.length > 0 ? `, and ${more.length} more before the last differ` : "";
  return `page ${page} has ${countOfItems(rows)}, the first ${first}${others}`;
}

export function countOfItems(items: number): string {
  return items === 1 ? "1 item" : `${items} items`;
}

/** A pass as it is held against another. */
export interface PassEvidence {
  /** From 1. */
  readonly pass: number;
  readonly mode: string;
  readonly pages: number;
  readonly snapshot: PassSnapshot;
  /** The service's own totals, on the first and the last page. */
  readonly countBefore: number;
  readonly countAfter: number;
  /** Why the pass is not clean. */
  readonly reasons: readonly string[];
  /** Pages of it that were read before the run was resumed. */
  readonly resumedPages: number;
  /** Items that were read within the second of their own time: see `isFresh`. */
  readonly fresh: readonly string[];
}

const EXAMPLES = 3;

/**
 * Why two passes, the earlier one first, do not make a run complete. Empty: both are clean and saw the same items, each
 * of the same time, and the service counted the same in between.
 */
export function disagreements(earlier: PassEvidence, later: PassEvidence): string[] {
  const unclean = [earlier, later].flatMap((pass) =>
    pass.reasons.map((reason) => `${passName(pass)} is not clean: ${reason}`),
  );
  const counts = [earlier.countAfter, later.countBefore];
  const different = earlier.snapshot.differences(later.snapshot);
  const between = `between ${passName(earlier)} and ${passName(later)}`;
  return [
    ...unclean,
    ...(counts[0] === counts[1] ? [] : [`the service counted ${counts[0]} items, then ${counts[1]}`]),
    ...itemsReason(different, (n) => `${n === 1 ? "1 item differs" : `${n} items differ`} ${between}`),
    // Their time names more than one version, so that the later pass may have seen another one.
    ...itemsReason(earlier.fresh, (n) => {
      return `${countOfItems(n)} ${n === 1 ? "was" : "were"} edited in the very second of ${passName(earlier)}`;
    }),
  ];
}

/** Items that one of two passes listed and the other did not, as reasons. */
export function listingDifferences(a: PassEvidence, b: PassEvidence): string[] {
  const ids = a.snapshot.differences(b.snapshot, Number.isNaN);
  const where = `in one of ${passName(a)} and ${passName(b)} alone`;
  return itemsReason(ids, (n) => `${countOfItems(n)} ${n === 1 ? "is" : "are"} listed ${where}`);
}

export function passName({ pass, mode }: PassEvidence): string {
  return `pass ${pass} (${mode})`;
}

/** What is so of some items, with examples; none: no reason. */
export function itemsReason(ids: readonly string[], say: (count: number) => string): string[] {
  if (ids.length === 0) return [];
  const examples = ids.slice(0, EXAMPLES).join(", ") + (ids.length > EXAMPLES ? ", ..." : "");
  return [`${say(ids.length)} (${examples})`];
}
