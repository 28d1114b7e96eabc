/** The checks of a run: what a check is, in which order checks are shown, and how they are read from `run_checks`. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import type { Verdict } from "../../common/verdict.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Accounting } from "../../warehouse/manifest.ts";

const VERDICTS = ["passed", "warning", "failed"] as const;

export interface Check {
  readonly name: string;
  /** A run with a failed check is not published. */
  readonly verdict: (typeof VERDICTS)[number];
  readonly figure: number;
  /** Number that the figure is compared with; null if there is none. */
  readonly expected: number | null;
  readonly detail: string;
  /** JSON list of up to three failing rows; undefined if the check counts no rows. */
  readonly examples?: string | undefined;
  /** Tables of the run that a test of the pipeline reads. */
  readonly reads?: readonly string[] | undefined;
}

/** A sentence for the summary. With a check it is new when that check begins to warn, else when its text is new. */
export type Warning = string | { readonly text: string; readonly check: string };

export interface CheckResults {
  readonly checks: readonly Check[];
  readonly warnings: readonly Warning[];
}

export const NO_CHECKS: CheckResults = { checks: [], warnings: [] };

export const SAME_TIMES_CHECK = "dynamic and full documents have the same updated_at";
export const DIFFERENT_TIMES =
  "dynamic and full answers mean different times by updated_at, so each was certified by passes of its own";

/** Configured names that the service does not have: each name is a warning of its own. */
export const MISSING_NAMES_CHECKS = {
  destinations: "configured destinations that the service does not have",
  customFields: "custom fields that the service does not have",
} as const;

/** Whether a contradiction is found in most items: then the two modes write the field differently. */
export function isOfMostItems(times: number, items: number): boolean {
  return 2 * times > items;
}

/** A check that warns unless the figure is 0. */
export function noneExpected(name: string, figure: number, detail: string, examples?: string): Check {
  return { name, verdict: figure === 0 ? "passed" : "warning", figure, expected: 0, detail, examples };
}

export function noneNamed(name: string, found: readonly string[]): Check {
  return noneExpected(name, found.length, found.join(", "));
}

/** A check, with a sentence if it counts anything. */
export function checkWithWarning(check: Check, text: string): CheckResults {
  return { checks: [check], warnings: check.figure === 0 ? [] : [{ text, check: check.name }] };
}

export function joinResults(results: readonly CheckResults[]): CheckResults {
  return {
    checks: results.flatMap(({ checks }) => checks),
    warnings: results.flatMap(({ warnings }) => warnings),
  };
}

export function warningText(warning: Warning): string {
  return typeof warning === "string" ? warning : warning.text;
}

/**
 * Causes of warnings, by which a run tells what is new: names of checks, and sentences without one. `sentences`: those
 * with new causes, and one for all checks that did not pass and have no sentence of their own.
 */
export function warningCauses({ checks, warnings }: CheckResults) {
  const keyOf = (warning: Warning) => (typeof warning === "string" ? warning : warning.check);
  const named = new Set([...warnings.map(keyOf), ...Object.values(MISSING_NAMES_CHECKS)]);
  const silent = checks.filter(({ name, verdict }) => verdict !== "passed" && !named.has(name));
  return {
    causes: [...warnings.map(keyOf), ...silent.map(({ name }) => name)],
    sentences: (fresh: ReadonlySet<string>): string[] => {
      const said = warnings.filter((each) => fresh.has(keyOf(each))).map(warningText);
      const begun = silent.filter(({ name }) => fresh.has(name));
      if (begun.length === 0) return said;
      const warn = `${pluralize(begun.length, "check")} ${begun.length === 1 ? "warns" : "warn"} since this run`;
      const figures = begun.map(({ name, figure }) => `${name}: ${count(figure)}`);
      return [...said, `${warn} (${joinFirst(figures, 3)}); "content-warehouse runs show" lists them.`];
    },
  };
}

/** Lengths at which services and their search engines cut lists off. */
const CAPS: ReadonlySet<number> = new Set([1000, 5000, 10_000]);

/** Checks that listed = loaded + rejected + vanished + unread and, unless the run is limited, that the service counts as many. */
export function accountingChecks(
  { listed, loaded, rejected, vanished, unread, listedLast, counted }: Accounting,
  verdict: Verdict,
): Check[] {
  const complete = verdict === "complete";
  const accounted = loaded + rejected + vanished + unread;
  const sum: Check = {
    name: "listed = loaded + rejected + vanished + unread",
    verdict: listed === accounted && !(complete && unread > 0) ? "passed" : "failed",
    figure: accounted,
    expected: listed,
    detail: `${loaded} loaded, ${rejected} rejected, ${vanished} vanished, ${unread} unread`,
  };
  if (verdict === "limited") return [sum];
  const total: Check = {
    name: "listed = the service's own count, in the last pass",
    verdict: listedLast === counted ? "passed" : complete ? "failed" : "warning",
    figure: listedLast,
    expected: counted,
    detail: "pagination.count of the last pass",
  };
  if (!CAPS.has(listedLast)) return [sum, total];
  const mayBeMore = "services often cap lists at 1,000, 5,000 or 10,000: check whether there are more items";
  const cap = noneExpected("a list as long as a usual cap", listedLast, mayBeMore);
  return [sum, total, { ...cap, expected: null }];
}

export const CHECK_COLUMNS = {
  check_name: col.text({ required: true, head: "check" }),
  verdict: col.name({ required: true, of: VERDICTS }),
  figure: col.count({ required: true, head: "counted" }),
  expected: col.count(),
  detail: col.text(),
  /** JSON list of failing rows. */
  examples: col.text(),
} as const;
export type RunCheck = AnswerRow<typeof CHECK_COLUMNS>;

/** Checks of a published run, sorted. `from`: name of its table `run_checks`. */
export async function readChecks(
  connection: DuckDBConnection,
  from = "run_checks",
): Promise<readonly RunCheck[]> {
  const select = `SELECT * REPLACE (examples::VARCHAR AS examples) FROM ${from}`;
  const checks = await readRows(connection, CHECK_COLUMNS, select);
  return sortChecks(checks, ({ check_name, verdict }) => ({ name: check_name, verdict }));
}

/** Prefix of the checks that tests of the pipeline make. */
export const TEST_PREFIX = "test: ";

/** Sorts by verdict, failed first; then tests of the pipeline come first. */
export function sortChecks<C>(
  checks: readonly C[],
  of: (check: C) => Pick<Check, "name" | "verdict">,
): readonly C[] {
  const weights = { failed: 0, warning: 10, passed: 20 };
  const weighed = checks.map((check) => {
    const { name, verdict } = of(check);
    return { check, name, weight: weights[verdict] + (name.startsWith(TEST_PREFIX) ? 0 : 1) };
  });
  weighed.sort((a, b) => a.weight - b.weight || (a.name < b.name ? -1 : 1));
  return weighed.map(({ check }) => check);
}
