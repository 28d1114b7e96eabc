/** Whether a pass is clean, and whether two passes agree. */
import type { Pagination } from "../../api/envelope.ts";
import type { NumberedSnapshot, PassSnapshot } from "./item-versions.ts";

export interface PageSummary {
  readonly pagination: Pagination;
  readonly rows: number;
}

/**
 * Reasons why a pass is not clean; empty if its pages fit together without a gap, a repeated item or a changed total.
 * `summaries`: by page, from 1. `rejected`: number of listed documents that are not items.
 */
export function uncleanReasons(
  summaries: ReadonlyMap<number, PageSummary>,
  { distinct, duplicates }: Pick<PassSnapshot, "distinct" | "duplicates">,
  rejected: number,
): string[] {
  const pages = [...summaries]
    .sort(([a], [b]) => a - b)
    .map(([page, { pagination, rows }]) => ({ ...pagination, page, rows }));
  const [first] = pages;
  if (first === undefined) return ["no page was read"];
  const { count, pages: announced } = first;
  const listed = distinct + rejected;
  const beforeLast = pages.slice(0, -1);
  const end = beforeLast.find(({ next }) => (next ?? null) === null);
  const otherCount = pages.find((page) => page.count !== count);
  const otherSize = pages.find((page) => page.per_page !== first.per_page);
  // Compare rows, because some services send fewer rows than `per_page` says.
  const [short, ...more] = beforeLast.filter(({ rows }) => rows !== first.rows);
  const others = more.length > 0 ? `, and ${more.length} more before the last differ` : "";
  return [
    duplicates > 0 &&
      `${duplicates === 1 ? "1 row repeats" : `${duplicates} rows repeat`} an item of the same pass`,
    otherCount && `the total changed from ${count} to ${otherCount.count} on page ${otherCount.page}`,
    otherSize &&
      `the page size changed from ${first.per_page} to ${otherSize.per_page} on page ${otherSize.page}`,
    pages.length !== announced &&
      count > 0 &&
      `${pages.length === 1 ? "1 page was" : `${pages.length} pages were`} read, ${announced} announced`,
    short && `page ${short.page} has ${countOfItems(short.rows)}, the first ${first.rows}${others}`,
    end && `page ${end.page} of ${pages.length} says that no page follows`,
    listed !== count &&
      `${countOfItems(listed)} ${listed === 1 ? "was" : "were"} listed, the service counts ${count}`,
  ].filter((reason) => typeof reason === "string");
}

/** "1 item", "2 items". */
export function countOfItems(items: number): string {
  return items === 1 ? "1 item" : `${items} items`;
}

/** What certification knows of a pass. */
export interface PassEvidence extends NumberedSnapshot {
  readonly mode: string;
  readonly pages: number;
  /** The service's own total, on the first and on the last page. */
  readonly countBefore: number;
  readonly countAfter: number;
  /** Why the pass is not clean; empty if it is. */
  readonly reasons: readonly string[];
  /** Pages that were read before the run was resumed. */
  readonly resumedPages: number;
}

/**
 * Reasons why two passes, the earlier one first, do not make a run complete. Empty if both are clean and list the same
 * items with the same times, and if the service's total was the same in between.
 */
export function disagreements(earlier: PassEvidence, later: PassEvidence): string[] {
  const unclean = [earlier, later].flatMap((pass) =>
    pass.reasons.map((reason) => `${passName(pass)} is not clean: ${reason}`),
  );
  const { countAfter } = earlier;
  const { countBefore } = later;
  const different = earlier.snapshot.differences(later.snapshot);
  const between = `between ${passName(earlier)} and ${passName(later)}`;
  return [
    ...unclean,
    ...(countAfter === countBefore ? [] : [`the service counted ${countAfter} items, then ${countBefore}`]),
    ...itemsReason(different, (n) => `${n === 1 ? "1 item differs" : `${n} items differ`} ${between}`),
    // The time of a fresh item may name several versions, and the later pass may have seen another one.
    ...itemsReason(earlier.fresh, (n) => {
      return `${countOfItems(n)} ${n === 1 ? "was" : "were"} edited in the second in which ${passName(earlier)} read ${n === 1 ? "it" : "them"}`;
    }),
  ];
}

/** A reason if only one of two passes lists some items. */
export function listingDifferences(a: PassEvidence, b: PassEvidence): string[] {
  const where = `in only one of ${passName(a)} and ${passName(b)}`;
  return itemsReason(a.snapshot.listedOnce(b.snapshot), (n) => {
    return `${countOfItems(n)} ${n === 1 ? "is" : "are"} listed ${where}`;
  });
}

export function passName({ pass, mode }: PassEvidence): string {
  return `pass ${pass} (${mode})`;
}

const MAX_EXAMPLES = 3;

/** One reason with examples of the items, or none if there are no items. */
export function itemsReason(ids: readonly string[], say: (count: number) => string): string[] {
  if (ids.length === 0) return [];
  const examples = ids.slice(0, MAX_EXAMPLES).join(", ") + (ids.length > MAX_EXAMPLES ? ", ..." : "");
  return [`${say(ids.length)} (${examples})`];
}
