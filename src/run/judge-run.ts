/** Judges a run before its publication: checks, warnings, and the reasons why it is not complete. */
import {
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
import type { Verdict } from "../common/verdict.ts";
import type { CountedDrift, DriftEntry } from "../raw/drift.ts";
import { type ExtractRecord, verdictOfPasses } from "../raw/extract-record.ts";
import type { RawLookups } from "../raw/raw-file.ts";
import type { Accounting, BuiltStatement } from "../warehouse/manifest.ts";
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
  const { limit } = facts.asked;
  const { passes, disagreements } = facts.found;
  const items = itemsToLoad(facts.items);
  const contradictions = drift.filter(
    ({ kind, count }) => kind === "versions_differ" && !isOfMostItems(count, items),
  );
  const reasons = [
    ...disagreements,
    ...contradictions.map(({ path, count, contentId }) => {
      const more = count === 1 ? "" : ` and ${count - 1} more`;
      return `${path} of ${contentId}${more}: dynamic and full answers of different updated_at contradict each other`;
    }),
  ];
  if (limit !== null)
    reasons.push(
      `--limit: only the first ${pluralize(limit, "item")} were read; the service counts ${count(passes[0]?.countAfter ?? 0)}`,
    );
  const verdict = verdictOfPasses(facts);
  const isContradicted = verdict === "complete" && reasons.length > 0;
  return { verdict: isContradicted ? "unsettled" : verdict, reasons };
}

/** Number of listed or found items that have documents. */
function itemsToLoad({ count, vanished, unread }: ExtractRecord["items"]): number {
  return count - vanished.length - unread.rejected - unread.notAsked;
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
    readonly verdict: Verdict;
  },
) {
  const { fieldNames, lookups, loaded, drift, verdict } = found;
  const accounting = accountingOf(facts, loaded);
  const matching = checkConfiguredNames({
    asked: facts.asked,
    unmatched: facts.unmatched,
    lookups,
    fieldNames,
    rows: rowCounts(loaded.tables),
  });
  const { checks, warnings } = joinResults([
    { checks: [...loaded.checks, ...accountingChecks(accounting, verdict)], warnings: [] },
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
function accountingOf({ items, found }: ExtractRecord, { tables }: TableFacts): Accounting {
  const { unlisted, rejected, unread, vanished } = items;
  const last = found.passes.at(-1);
  const content = tables.find(({ table }) => table === "content");
  return {
    listed: items.count - unlisted.length + rejected,
    loaded: (content?.rows ?? itemsToLoad(items)) - unlisted.length,
    rejected: rejected + unread.rejected,
    vanished: vanished.length,
    unread: unread.notAsked,
    listedLast: (last?.distinctItems ?? 0) + items.rejectedLast,
    counted: last?.countAfter ?? 0,
  };
}

/** Judges single-item requests. None of these findings forbids publication. */
function judgeSingles({ items, found }: ExtractRecord): CheckResults {
  const { singlyGone, singlyRejected, inPartRejected, inPartNotAsked } = items;
  const { modesDiffer, singleItems, reuseDamage } = found;
  const half = "the columns that the other one has are empty";
  const listed = "their listed values are loaded";
  const gone = noneExpected(
    "single items that were gone when they were asked for",
    singlyGone.length,
    `of ${singleItems.requested} single-item requests`,
  );
  const unreadable = noneExpected(
    "items that could not be read singly",
    singlyRejected.length,
    "each is a reject, and its listed views count",
  );
  const others = [
    countCheck(
      "items that were asked for again because passes differed",
      items.repaired,
      `${items.vanished.length} of the listed items are gone`,
    ),
    noneExpected(
      SAME_TIMES_CHECK,
      modesDiffer ? 1 : 0,
      modesDiffer ? DIFFERENT_TIMES : "where they differed, the item had changed",
    ),
    noneExpected(
      "items that no pass listed but the service still has",
      items.unlisted.length,
      "loaded besides those that were listed",
    ),
  ];
  const damage = `Nothing is reused from the run before, and all single items are requested: ${reuseDamage}.`;
  return joinResults([
    warningOf(inPartRejected, "could be read in only one mode, dynamic or full", `${half}; see run_rejects`),
    warningOf(
      inPartNotAsked,
      "moved before they were read in both modes",
      `${half}; the next run reads them`,
    ),
    warningOf(singlyGone, "returned 404 or 410 when asked for singly", listed, gone),
    warningOf(singlyRejected, "could not be read singly", `${listed}; see run_rejects`, unreadable),
    judgeMissing(items),
    { checks: others, warnings: reuseDamage === null ? [] : [damage] },
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
function judgeMissing({ missing, removed, unlisted }: ExtractRecord["items"]): CheckResults {
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
