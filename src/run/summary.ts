/** What came of a run: its accounting, its warnings, and the summary for people and programs. */
import {
  type Accounting,
  type Check,
  DIFFERENT_TIMES,
  isOfMostItems,
  noneExpected,
  SAME_TIMES_CHECK,
} from "../audit/checks/checks.ts";
import type { Loaded } from "../audit/checks/inspect.ts";
import type { DriftReport } from "../audit/questions/drift.ts";
import type { ItemChanges, MappedCounts } from "../audit/questions/run-changes.ts";
import type { OutageTotals } from "../extract/http/outage.ts";
import type { Throttled } from "../extract/http/throttle.ts";
import type { ResumeState } from "../extract/landing/resume-state.ts";
import type { DriftEntry } from "../raw/drift.ts";
import type { Extraction, PassRecord } from "../raw/extract-record.ts";
import type { Delivery } from "../targets/deliver.ts";

/** What a run did, for people and programs. */
export interface RunSummary {
  readonly run: string;
  readonly sequence: number;
  readonly pipeline: string;
  readonly verdict: "complete" | "unsettled";
  /** Why it is unsettled. */
  readonly reasons: readonly string[];
  /** Whether dynamic and full answers mean different times by `updated_at`, so that each was certified by itself. */
  readonly modesDiffer: boolean;
  /** Folder of the warehouse. */
  readonly warehouse: string;
  /** Folder of the published run, below `out`. */
  readonly directory: string;
  readonly accounting: Accounting;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  readonly passes: readonly PassRecord[];
  readonly requests: number;
  /** The rate that the service was found to allow, and how many requests it refused; null: it refused none. */
  readonly throttled: Throttled | null;
  /** How often and how long the service was out, since the run was started or resumed; null: never. */
  readonly outages: OutageTotals | null;
  /** Single items of which a document of an earlier run stood in for a request; null: there are none. */
  readonly reused: Reused | null;
  /** Answers that an interrupted run had read before it was resumed; requests and bytes count them too. */
  readonly resumed: Resumed | null;
  /** Bytes of the answers as they came. */
  readonly bytesReceived: number;
  /** Bytes of the published files. */
  readonly bytesPublished: number;
  /** The run that this one is compared with; null: there is none, or none that can be read. */
  readonly previousRun: string | null;
  /** Against the run before; null: there is nothing to compare. */
  readonly changes: ItemChanges | null;
  /** Null: the pipeline makes none. */
  readonly mappedValues: MappedCounts | null;
  /** Where the service departs from the specification, beside the run before; null: that could not be read. */
  readonly drift: DriftReport | null;
  /** The checks before publication; all are in `run_checks`. */
  readonly checks: { readonly passed: number; readonly warnings: readonly Check[] };
  /** Path of the report; null: the run has none. */
  readonly report: string | null;
  /** Runs that were removed because they are old. */
  readonly removedRuns: readonly string[];
  readonly warnings: readonly string[];
  /** What came of the delivery to each target, in the order of the configuration. */
  readonly deliveries: readonly Delivery[];
  /** Why the configured destinations have no mapped values, as the first warning says; null: they have, or there are none. */
  readonly noMappedValues: string | null;
  /** IDs of destinations that mappings name and no configured destination is. */
  readonly namelessDestinations: readonly string[];
  /** From the start, the first one of a resumed run, to the end, as its manifest has them. */
  readonly milliseconds: number;
}

export interface Reused {
  readonly count: number;
  /** All single items that were wanted. */
  readonly wanted: number;
  /** Age of the oldest document when its item was listed. */
  readonly oldestSeconds: number;
}

export function reusedOf({ detailsAsked, detailsReused }: Extraction): Reused | null {
  const { count, oldestSeconds } = detailsReused;
  return count === 0 ? null : { count, wanted: detailsAsked + count, oldestSeconds };
}

export function summaryOfChecks(checks: readonly Check[]): RunSummary["checks"] {
  const warnings = checks.filter(({ verdict }) => verdict !== "passed");
  return { passed: checks.length - warnings.length, warnings };
}

export interface Resumed {
  /** Of listings. */
  readonly pages: number;
  /** Single items. */
  readonly items: number;
}

/** What a resumed run had read before; null where it had read nothing. */
export function resumedOf({ pages, items }: ResumeState): Resumed | null {
  return pages === 0 ? null : { pages, items };
}

/**
 * What became of everything that the passes listed; items that are loaded though none listed them are left out.
 * `reasons`: why the run is unsettled.
 */
export function accountingOf(extraction: Extraction, loaded: Loaded, reasons: readonly string[]): Accounting {
  const { items, unlisted, rejected, unread, vanished, passes } = extraction;
  const last = passes.at(-1);
  const content = loaded.tables.find(({ table }) => table === "content");
  return {
    listed: items - unlisted.length + rejected,
    loaded: (content?.rows ?? items - vanished.length - unread.rejected - unread.notAsked) - unlisted.length,
    rejected: rejected + unread.rejected,
    vanished: vanished.length,
    unread: unread.notAsked,
    listedLast: (last?.distinctItems ?? 0) + extraction.rejectedLast,
    counted: last?.countAfter ?? 0,
    complete: reasons.length === 0,
  };
}

/**
 * Why a run is unsettled although its passes agree: the documents of an item are of different times and contradict each
 * other, so the service answered from two states of it. One reason a field. `items`: that are loaded; what contradicts
 * itself in most of them is written otherwise by each mode.
 */
export function contradictionReasons(drift: readonly DriftEntry[], items: number): string[] {
  return drift
    .filter(({ kind, count }) => kind === "versions_differ" && !isOfMostItems(count, items))
    .map(
      ({ path, count, contentId }) =>
        `dynamic and full answers of different updated_at contradict each other in ${path} of ${contentId}` +
        (count === 1 ? "" : ` and ${count - 1} more`),
    );
}

const EXAMPLES = 3;

/** Items that were listed, and that single-item requests did not give. */
export function singlesWarnings(extraction: Extraction): string[] {
  const { detailsGone, detailsRejected, inPartRejected, inPartNotAsked } = extraction;
  return [
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
  ];
}

function itemsWarning(ids: readonly string[], what: string, so: string): string[] {
  if (ids.length === 0) return [];
  const examples = ids.slice(0, EXAMPLES).join(", ") + (ids.length > EXAMPLES ? ", ..." : "");
  return [
    `${ids.length === 1 ? "1 listed item" : `${ids.length} listed items`} ${what} (${examples}): ${so}.`,
  ];
}

/** Requests that were answered, but not with what was asked for: warnings, and no reason not to publish. */
export function answerChecks(extraction: Extraction): Check[] {
  const {
    detailsGone,
    detailsAsked,
    detailsReused,
    detailsRejected,
    repaired,
    vanished,
    modesDiffer,
    missing,
    unlisted,
  } = extraction;
  return [
    noneExpected(
      "single items that were gone when they were asked for",
      detailsGone.length,
      `of ${detailsAsked} single-item requests`,
    ),
    {
      name: "single items unchanged since earlier runs",
      verdict: "passed",
      figure: detailsReused.count,
      expected: null,
      detail:
        "not requested again: nothing in the listing says that they changed; what single items alone say may have, for at most `rereadDays`",
    },
    noneExpected(
      "items that could not be read singly",
      detailsRejected.length,
      "each is a reject, and its listed views count",
    ),
    {
      name: "items that were asked for again because passes differed",
      verdict: "passed",
      figure: repaired,
      expected: null,
      detail: `${vanished.length} of the listed items are gone`,
    },
    noneExpected(
      SAME_TIMES_CHECK,
      modesDiffer ? 1 : 0,
      modesDiffer ? DIFFERENT_TIMES : "where they differed, the item had changed",
    ),
    {
      name: "items of the run before that no pass listed",
      verdict: missing.notAsked === null ? "passed" : "warning",
      figure: missing.count,
      expected: null,
      detail: missingDetail(extraction),
    },
    noneExpected(
      "items that no pass listed, and that the service has all the same",
      unlisted.length,
      "loaded besides those that were listed",
    ),
  ];
}

function missingDetail({ missing, removed, unlisted }: Extraction): string {
  if (missing.notAsked !== null) return `none was asked for singly: ${missing.notAsked}`;
  return `asked for singly: ${removed.length} are gone, ${unlisted.length} are there`;
}
