/** What became of all that was listed, and what the answers of the service leave to say: checks, warnings, reasons. */
import {
  type Accounting,
  type Check,
  type CheckResults,
  DIFFERENT_TIMES,
  isOfMostItems,
  noneExpected,
  SAME_TIMES_CHECK,
} from "../audit/checks/checks.ts";
import type { TableFacts } from "../audit/checks/table-checks.ts";
import { count, pluralize } from "../common/figures.ts";
import type { DriftEntry } from "../raw/drift.ts";
import type { Extraction, ExtractRecord } from "../raw/extract-record.ts";

/**
 * What became of everything that the passes listed; items that are loaded though none listed them are left out.
 * `reasons`: why the run is not complete.
 */
export function accountingOf(
  extraction: Extraction,
  loaded: TableFacts,
  reasons: readonly string[],
): Accounting {
  const { items, unlisted, rejected, unread, vanished, passes } = extraction;
  const last = passes.at(-1);
  const content = loaded.tables.find(({ table }) => table === "content");
  return {
    listed: items - unlisted.length + rejected,
    loaded: (content?.rows ?? itemsToLoad(extraction)) - unlisted.length,
    rejected: rejected + unread.rejected,
    vanished: vanished.length,
    unread: unread.notAsked,
    listedLast: (last?.distinctItems ?? 0) + extraction.rejectedLast,
    counted: last?.countAfter ?? 0,
    complete: reasons.length === 0,
  };
}

/** Of all that were listed or found, those of which there are documents. */
function itemsToLoad({ items, vanished, unread }: Extraction): number {
  return items - vanished.length - unread.rejected - unread.notAsked;
}

/**
 * Why a run is unsettled although its passes agree: the documents of an item are of different times and contradict each
 * other, so the service answered from two states of it. One reason a field. What contradicts itself in most of the
 * items is written otherwise by each mode.
 */
export function contradictionReasons(drift: readonly DriftEntry[], extraction: Extraction): string[] {
  const items = itemsToLoad(extraction);
  return drift
    .filter(({ kind, count }) => kind === "versions_differ" && !isOfMostItems(count, items))
    .map(
      ({ path, count, contentId }) =>
        `dynamic and full answers of different updated_at contradict each other in ${path} of ${contentId}` +
        (count === 1 ? "" : ` and ${count - 1} more`),
    );
}

/** Why a limited run is not complete. */
export function limitReasons({ limit, passes }: ExtractRecord): string[] {
  if (limit === null) return [];
  const { countAfter = 0 } = passes[0] ?? {};
  return [
    `no more than ${pluralize(limit, "item")} were to be read; the service counts ${count(countAfter)}`,
  ];
}

/**
 * Items that were listed, or that the run before had, and that single-item requests did not give, and what else was
 * answered with something other than what was asked for: checks and warnings, and no reason not to publish.
 */
export function judgeSingles(extraction: ExtractRecord): CheckResults {
  const { detailsGone, detailsAsked, detailsReused, detailsRejected, inPartRejected, inPartNotAsked } =
    extraction;
  const { repaired, reuseDamage, vanished, modesDiffer, unlisted } = extraction;
  const missing = judgeMissing(extraction);
  const checks = [
    noneExpected(
      "single items that were gone when they were asked for",
      detailsGone.length,
      `of ${detailsAsked} single-item requests`,
    ),
    counting(
      "unchanged single items reused",
      detailsReused,
      "the fields that only single items have may be up to `rereadDays` old",
    ),
    noneExpected(
      "items that could not be read singly",
      detailsRejected.length,
      "each is a reject, and its listed views count",
    ),
    counting(
      "items that were asked for again because passes differed",
      repaired,
      `${vanished.length} of the listed items are gone`,
    ),
    noneExpected(
      SAME_TIMES_CHECK,
      modesDiffer ? 1 : 0,
      modesDiffer ? DIFFERENT_TIMES : "where they differed, the item had changed",
    ),
    ...missing.checks,
    noneExpected(
      "items that no pass listed, and that the service has all the same",
      unlisted.length,
      "loaded besides those that were listed",
    ),
  ];
  const warnings = [
    ...itemsWarning(
      inPartRejected,
      "could be read in one mode alone, dynamic or full",
      "the columns that the other one has are empty; see run_rejects",
    ),
    ...itemsWarning(
      inPartNotAsked,
      "moved before they were read in both modes",
      "the columns that the other one has are empty; the next run reads them",
    ),
    ...itemsWarning(detailsGone, "returned 404 or 410 when asked for singly", "what the listings say counts"),
    ...itemsWarning(
      detailsRejected,
      "could not be read singly",
      "what the listings say counts; see run_rejects",
    ),
    ...missing.warnings,
    ...(reuseDamage === null
      ? []
      : [`Nothing of the run before is reused, and all single items are asked for: ${reuseDamage}.`]),
  ];
  return { checks, warnings };
}

function counting(name: string, figure: number, detail: string): Check {
  return { name, verdict: "passed", figure, expected: null, detail };
}

const EXAMPLES = 3;

function itemsWarning(ids: readonly string[], what: string, so: string): string[] {
  if (ids.length === 0) return [];
  const examples = ids.slice(0, EXAMPLES).join(", ") + (ids.length > EXAMPLES ? ", ..." : "");
  return [`${pluralize(ids.length, "listed item")} ${what} (${examples}): ${so}.`];
}

/** Items of the run before that were not listed. The run after this one compares with this one: it does not know them. */
function judgeMissing({ missing, removed, unlisted }: Extraction): CheckResults {
  const skipped = missing.skipped.length;
  // Those that were asked for, and of which no answer says whether they are there.
  const unread = missing.notAsked === null ? missing.count - removed.length - unlisted.length - skipped : 0;
  const parts = [
    missing.notAsked === null
      ? `asked for singly: ${removed.length} are gone, ${unlisted.length} are there`
      : `none was asked for singly: ${missing.notAsked}`,
    unread > 0 && `, ${unread} could not be read`,
    skipped > 0 && `; after so many that could not be, ${skipped} were not asked for`,
  ];
  const detail = parts.filter((part) => part !== false).join("");
  const verdict = missing.notAsked !== null || unread > 0 ? "warning" : "passed";
  const notListed = unread + skipped;
  const what = `${pluralize(notListed, "item")} of the run before ${notListed === 1 ? "was" : "were"} not listed`;
  const more = skipped === 0 ? "" : `, and ${skipped} were not asked for after that`;
  return {
    checks: [{ ...counting("items of the run before that no pass listed", missing.count, detail), verdict }],
    warnings:
      unread === 0
        ? []
        : [
            `${what}, and nobody knows whether they are gone: asked for singly, ${unread} could not be read (see run_rejects)${more}.`,
          ],
  };
}
