/** What makes a pass clean, and two passes agree. Pure. */
import type { Pagination } from "../../api/envelope.ts";
import type { PassSnapshot } from "./pass-snapshot.ts";

/** What a page said of its place, and how many rows it had. */
export interface PageMark {
  readonly pagination: Pagination;
  readonly rows: number;
}

/** The pages of a pass, by number from 1, and what they listed. */
export interface PassEvidence {
  readonly marks: ReadonlyMap<number, PageMark>;
  readonly snapshot: Pick<PassSnapshot, "distinct" | "duplicates">;
  /** Listed documents that are no items. */
  readonly rejected: number;
}

/** A page's number, from 1, with what it said. */
type NumberedMark = readonly [page: number, mark: PageMark];

/** Why a pass is not clean; empty: its pages fit together without a gap, a repeat or a change of total. */
export function uncleanReasons({ marks, snapshot, rejected }: PassEvidence): string[] {
  const pages = [...marks].sort(([a], [b]) => a - b);
  const first = pages[0]?.[1];
  if (first === undefined) return ["no page was read"];
  const { count, per_page, pages: announced } = first.pagination;
  const beforeLast = pages.slice(0, -1);
  const listed = snapshot.distinct + rejected;
  const { duplicates } = snapshot;
  const total = pages.find(([, { pagination }]) => pagination.count !== count);
  const size = pages.find(([, { pagination }]) => pagination.per_page !== per_page);
  // The page size is what came: some services give fewer rows than they say.
  const short = beforeLast.filter(([, { rows }]) => rows !== first.rows);
  const end = beforeLast.find(([, { pagination }]) => (pagination.next ?? null) === null);
  return [
    ...(duplicates > 0
      ? [`${duplicates === 1 ? "1 row repeats" : `${duplicates} rows repeat`} an item of the same pass`]
      : []),
    ...changeReason("the total", count, total, ({ pagination }) => pagination.count),
    ...changeReason("the page size", per_page, size, ({ pagination }) => pagination.per_page),
    ...(pages.length !== announced && count > 0
      ? [`${pagesOf(pages.length)} read, ${announced} announced`]
      : []),
    ...shortReason(first.rows, short),
    ...(end === undefined ? [] : [`page ${end[0]} of ${pages.length} says that no page follows`]),
    ...(listed === count ? [] : [`${itemsOf(listed)} listed, the service counts ${count}`]),
  ];
}

function changeReason(
  what: string,
  before: number,
  changed: NumberedMark | undefined,
  figureOf: (mark: PageMark) => number,
): string[] {
  if (changed === undefined) return [];
  const [page, mark] = changed;
  return [`${what} changed from ${before} to ${figureOf(mark)} on page ${page}`];
}

function shortReason(rows: number, short: readonly NumberedMark[]): string[] {
  const [example] = short;
  if (example === undefined) return [];
  const [page, mark] = example;
  const others = short.length > 1 ? `, and ${short.length - 1} more before the last differ` : "";
  return [`page ${page} has ${itemsCount(mark.rows)}, the first ${rows}${others}`];
}

function itemsCount(items: number): string {
  return items === 1 ? "1 item" : `${items} items`;
}

function itemsOf(items: number): string {
  return `${itemsCount(items)} ${items === 1 ? "was" : "were"}`;
}

function pagesOf(pages: number): string {
  return pages === 1 ? "1 page was" : `${pages} pages were`;
}

/** A pass as it is held against another. */
export interface ComparedPass {
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
export function disagreements(earlier: ComparedPass, later: ComparedPass): string[] {
  const unclean = [earlier, later].flatMap((pass) =>
    pass.reasons.map((reason) => `${nameOf(pass)} is not clean: ${reason}`),
  );
  const counts = [earlier.countAfter, later.countBefore];
  const different = [...earlier.snapshot.differences(later.snapshot)].sort();
  return [
    ...unclean,
    ...(counts[0] === counts[1] ? [] : [`the service counted ${counts[0]} items, then ${counts[1]}`]),
    ...itemsReason(different, "differs", `between ${nameOf(earlier)} and ${nameOf(later)}`),
    // Their time names more than one version, so that the later pass may have seen another one.
    ...itemsReason(earlier.fresh, "was edited", `in the very second of ${nameOf(earlier)}`),
  ];
}

/** Items that one of two passes listed and the other did not, as reasons. */
export function listedOnce(a: ComparedPass, b: ComparedPass): string[] {
  const ids = [...a.snapshot.listedOnce(b.snapshot)].sort();
  return itemsReason(ids, "is listed", `in one of ${nameOf(a)} and ${nameOf(b)} alone`);
}

function nameOf({ pass, mode }: ComparedPass): string {
  return `pass ${pass} (${mode})`;
}

/** `verb` in the singular. */
function itemsReason(ids: readonly string[], verb: keyof typeof PLURAL, where: string): string[] {
  if (ids.length === 0) return [];
  const examples = ids.slice(0, EXAMPLES).join(", ") + (ids.length > EXAMPLES ? ", ..." : "");
  const items = ids.length === 1 ? `1 item ${verb}` : `${ids.length} items ${PLURAL[verb]}`;
  return [`${items} ${where} (${examples})`];
}

const PLURAL = { differs: "differ", "was edited": "were edited", "is listed": "are listed" } as const;
