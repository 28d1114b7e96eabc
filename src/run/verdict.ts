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
  const different = [...earlier.sightings.differences(later.sightings)].sort();
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
  const ids = [...a.sightings.listedOnce(b.sightings)].sort();
  return itemsReason(ids, "is listed", `in one of ${nameOf(a)} and ${nameOf(b)} alone`);
}

function nameOf({ sweep, mode }: ComparedPass): string {
  return `pass ${sweep} (${mode})`;
}

/** `verb` in the singular. */
function itemsReason(ids: readonly string[], verb: keyof typeof PLURAL, where: string): string[] {
  if (ids.length === 0) return [];
  const examples = ids.slice(0, EXAMPLES).join(", ") + (ids.length > EXAMPLES ? ", ..." : "");
  const items = ids.length === 1 ? `1 item ${verb}` : `${ids.length} items ${PLURAL[verb]}`;
  return [`${items} ${where} (${examples})`];
}

const PLURAL = { differs: "differ", "was edited": "were edited", "is listed": "are listed" } as const;
