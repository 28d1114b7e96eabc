/** Judges a run before its publication: checks, warnings, and the reasons why it is not complete. */
import {
  type Accounting,
  accountingChecks,
  type Check,
  type CheckResults,
  checkWithWarning,
  DIFFERENT_TIMES,
  isOfMostItems,
  joinResults,
  noneExpected,
  SAME_TIMES_CHECK,
} from "../audit/checks/checks.ts";
import { checkConfiguredNames } from "../audit/checks/configured-names.ts";
import { driftChecks } from "../audit/checks/contract.ts";
import { checkAgainstBaseline, rowCounts } from "../audit/checks/publish-gates.ts";
import { checkCustomTables, type TableFacts } from "../audit/checks/table-checks.ts";
import { WarehouseError } from "../common/errors.ts";
import { count, pluralize } from "../common/figures.ts";
import type { CountedDrift, DriftEntry } from "../raw/drift.ts";
import type { Extraction, ExtractRecord } from "../raw/extract-record.ts";
import type { RawLookups } from "../raw/raw-file.ts";
import type { BuiltStatement } from "../warehouse/manifest.ts";
import type { NewRun } from "./inputs.ts";
import { judgeHistory } from "./previous-history.ts";

/**
 * The verdict, and why the run is not complete. A run whose passes agree is still unsettled if documents of an item, read
 * at different times, contradict each other: the service answered from two states of the item. If most items contradict
 * themselves, the modes only write the field differently.
 */
export function concludeVerdict(
  facts: ExtractRecord,
  drift: readonly DriftEntry[],
): Pick<BuiltStatement, "verdict" | "reasons"> {
  const { limit, passes } = facts;
  const items = itemsToLoad(facts);
  const contradictions = drift.filter(
    ({ kind, count }) => kind === "versions_differ" && !isOfMostItems(count, items),
  );
  const reasons = [
    ...facts.disagreements,
    ...contradictions.map(({ path, count, contentId }) => {
      const more = count === 1 ? "" : ` and ${count - 1} more`;
      return `dynamic and full answers of different updated_at contradict each other in ${path} of ${contentId}${more}`;
    }),
  ];
  if (limit !== null)
    reasons.push(
      `--limit: only the first ${pluralize(limit, "item")} were read; the service counts ${count(passes[0]?.countAfter ?? 0)}`,
    );
  const isContradicted = facts.verdict === "complete" && reasons.length > 0;
  return { verdict: isContradicted ? "unsettled" : facts.verdict, reasons };
}

/** Number of listed or found items that have documents. */
function itemsToLoad({ items, vanished, unread }: Extraction): number {
  return items - vanished.length - unread.rejected - unread.notAsked;
}

/** Throws what forbids publication. */
export function judgeRun(
  { baseline: before, pipeline, history }: NewRun,
  facts: ExtractRecord,
  found: {
    /** Names of the custom fields of the items. */
    readonly fieldNames: readonly string[];
    readonly lookups: RawLookups;
    readonly loaded: TableFacts;
    readonly drift: readonly CountedDrift[];
    readonly reasons: readonly string[];
  },
) {
  const { fieldNames, lookups, loaded, drift, reasons } = found;
  const accounting = accountingOf(facts, loaded, reasons);
  const matching = checkConfiguredNames({
    asked: facts.asked,
    unmatched: facts.unmatched,
    lookups,
    fieldNames,
    rows: rowCounts(loaded.tables),
  });
  const { checks, warnings } = joinResults([
    { checks: [...loaded.checks, ...accountingChecks(accounting, facts.limit !== null)], warnings: [] },
    matching,
    driftChecks(drift),
    loaded.personal,
    judgeSingles(facts),
    checkAgainstBaseline(before, loaded, facts),
    checkCustomTables(pipeline, loaded),
    judgeHistory(history, pipeline),
  ]);
  assertPassed(checks);
  const { noMappedValues, ignoredDestinations } = matching;
  return { accounting, checks, warnings, noMappedValues, ignoredDestinations };
}

/** Throws `verify.failed` for the first check that failed. */
function assertPassed(checks: readonly Check[]): void {
  const failed = checks.find((check) => check.verdict === "failed");
  if (failed === undefined) return;
  throw new WarehouseError(
    "verify.failed",
    `The check "${failed.name}" failed (${failed.figure}, expected ${failed.expected ?? "none"}: ${failed.detail}); nothing was published.`,
  );
}

/** What became of all listed items. Items that no pass listed do not count. */
function accountingOf(
  extraction: Extraction,
  { tables }: TableFacts,
  reasons: readonly string[],
): Accounting {
  const { items, unlisted, rejected, unread, vanished, passes } = extraction;
  const last = passes.at(-1);
  const content = tables.find(({ table }) => table === "content");
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

/** Judges single-item requests. None of these findings forbids publication. */
function judgeSingles(facts: ExtractRecord): CheckResults {
  const { detailsGone, detailsRejected, inPartRejected, inPartNotAsked, modesDiffer } = facts;
  const half = "the columns that the other one has are empty";
  const listed = "their listed values are loaded";
  const gone = noneExpected(
    "single items that were gone when they were asked for",
    detailsGone.length,
    `of ${facts.detailsAsked} single-item requests`,
  );
  const unreadable = noneExpected(
    "items that could not be read singly",
    detailsRejected.length,
    "each is a reject, and its listed views count",
  );
  const others = [
    countCheck(
      "unchanged single items reused",
      facts.detailsReused,
      "the fields that only single items have may be up to `rereadDays` old",
    ),
    countCheck(
      "items that were asked for again because passes differed",
      facts.repaired,
      `${facts.vanished.length} of the listed items are gone`,
    ),
    noneExpected(
      SAME_TIMES_CHECK,
      modesDiffer ? 1 : 0,
      modesDiffer ? DIFFERENT_TIMES : "where they differed, the item had changed",
    ),
    noneExpected(
      "items that no pass listed but the service still has",
      facts.unlisted.length,
      "loaded besides those that were listed",
    ),
  ];
  const damage = `Nothing is reused from the run before, and all single items are requested: ${facts.reuseDamage}.`;
  return joinResults([
    warningOf(inPartRejected, "could be read in only one mode, dynamic or full", `${half}; see run_rejects`),
    warningOf(
      inPartNotAsked,
      "moved before they were read in both modes",
      `${half}; the next run reads them`,
    ),
    warningOf(detailsGone, "returned 404 or 410 when asked for singly", listed, gone),
    warningOf(detailsRejected, "could not be read singly", `${listed}; see run_rejects`, unreadable),
    judgeMissing(facts),
    { checks: others, warnings: facts.reuseDamage === null ? [] : [damage] },
  ]);
}

function countCheck(name: string, figure: number, detail: string): Check {
  return { name, verdict: "passed", figure, expected: null, detail };
}

const EXAMPLES = 3;

/** A warning that names the first items; none without items. `check`: counts the same items. */
function warningOf(ids: readonly string[], what: string, so: string, check?: Check): CheckResults {
  const examples = ids.slice(0, EXAMPLES).join(", ") + (ids.length > EXAMPLES ? ", ..." : "");
  const text = `${pluralize(ids.length, "listed item")} ${what} (${examples}): ${so}.`;
  if (check !== undefined) return checkWithWarning(check, text);
  return { checks: [], warnings: ids.length === 0 ? [] : [text] };
}

/** Judges items of the run before that no pass listed. The next run compares with this one and does not know them. */
function judgeMissing({ missing, removed, unlisted }: Extraction): CheckResults {
  const { count: number, notAsked, skipped } = missing;
  const unread = number - removed.length - unlisted.length - skipped.length;
  const detail =
    `requested singly: ${removed.length} are gone, ${unlisted.length} are there` +
    (unread > 0 ? `, ${unread} could not be read` : "") +
    (skipped.length > 0 ? `; after too many failures, ${skipped.length} were not requested` : "");
  const said = notAsked === null ? detail : `none was requested singly: ${notAsked}`;
  const check = countCheck("items of the run before that no pass listed", number, said);
  if (notAsked === null && unread === 0) return { checks: [check], warnings: [] };
  const items = pluralize(unread + skipped.length, "item");
  const text = `No pass listed ${items} of the run before, and whether they are gone is unknown; see run_rejects.`;
  return {
    checks: [{ ...check, verdict: "warning" }],
    warnings: notAsked === null ? [{ text, check: check.name }] : [],
  };
}
