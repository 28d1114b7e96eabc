/** What makes a pass clean, and two passes agree. Pure. */
import type { Pagination } from "../api/envelope.ts";
import type { Sightings } from "./catalogue.ts";

/** What a page said of its place, and how many rows it had. */
export interface PageMark {
  readonly pagination: Pagination;
  readonly rows: number;
}

/** The pages of a pass, by number from 1, and what they listed. */
export interface PassEvidence {
  readonly marks: ReadonlyMap<number, PageMark>;
  readonly sightings: Pick<Sightings, "distinct" | "duplicates">;
  /** Listed things that are no items. */
  readonly rejected: number;
}

/** Why a pass is not clean; empty: its pages fit together without a gap, a repeat or a change of total. */
export function uncleanReasons({ marks, sightings, rejected }: PassEvidence): string[] {
  const pages = [...marks].sort(([a], [b]) => a - b).map(([, mark]) => mark);
  const first = pages[0];
  if (first === undefined) return ["no page was read"];
  const { count, per_page, pages: announced } = first.pagination;
  const beforeLast = pages.slice(0, -1);
  // The page size is what came: some services give fewer rows than they say.
  const short = beforeLast.filter(({ rows }) => rows !== first.rows).length;
  const listed = sightings.distinct + rejected;
  const reasons: readonly (readonly [boolean, string])[] = [
    [sightings.duplicates > 0, `${rowsOf(sightings.duplicates)} an item of the same pass`],
    [pages.some(({ pagination }) => pagination.count !== count), "the total changed between its pages"],
    [
      pages.some(({ pagination }) => pagination.per_page !== per_page),
      "the page size changed between its pages",
    ],
    [pages.length !== announced && count > 0, `${pagesOf(pages.length)} read, ${announced} announced`],
    [short > 0, `${short} of the pages before the last differ from the first in their number of items`],
    [
      beforeLast.some(({ pagination }) => (pagination.next ?? null) === null),
      "a page before the last says that no page follows",
    ],
    [
      listed !== count,
      `${listed === 1 ? "1 item was" : `${listed} items were`} listed, the service counts ${count}`,
    ],
  ];
  return reasons.filter(([holds]) => holds).map(([, reason]) => reason);
}

function rowsOf(duplicates: number): string {
  return duplicates === 1 ? "1 row repeats" : `${duplicates} rows repeat`;
}

function pagesOf(pages: number): string {
  return pages === 1 ? "1 page was" : `${pages} pages were`;
}

/** A pass as it is held against another. */
export interface ComparedPass {
  /** From 1. */
  readonly sweep: number;
  readonly mode: string;
  readonly sightings: Sightings;
  /** The service's own totals, on the first and the last page. */
  readonly countBefore: number;
  readonly countAfter: number;
  /** Why the pass is not clean. */
  readonly reasons: readonly string[];
  /** Pages of it that were read before the run was taken up. */
  readonly keptPages: number;
}

const EXAMPLES = 3;

/**
 * Why two passes, the earlier one first, do not make a run complete. Empty: both are clean and saw the same items, each
 * of the same time, and the service counted the same in between.
 */
export function disagreements(earlier: ComparedPass, later: ComparedPass): string[] {
  const reasons = [earlier, later].flatMap(({ sweep, mode, reasons }) =>
    reasons.map((reason) => `pass ${sweep} (${mode}) is not clean: ${reason}`),
  );
  if (earlier.countAfter !== later.countBefore) {
    reasons.push(`the service counted ${earlier.countAfter} items, then ${later.countBefore}`);
  }
  const different = [...earlier.sightings.differences(later.sightings)].sort();
  if (different.length > 0) {
    const examples = different.slice(0, EXAMPLES).join(", ") + (different.length > EXAMPLES ? ", ..." : "");
    const what = different.length === 1 ? "1 item differs" : `${different.length} items differ`;
    reasons.push(`${what} between the two passes (${examples})`);
  }
  return reasons;
}
