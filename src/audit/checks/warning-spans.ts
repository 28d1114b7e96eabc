/** Since when checks warn: carried forward from the run before, so that it is known when the first of the nights is pruned. */

import { asWarehouseError } from "../../common/errors.ts";
import { count, counted } from "../../common/figures.ts";
import { firstOf } from "../../common/nearest.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import type { Baseline } from "../../warehouse/baseline.ts";
import { fromTable, openTables, type PublishedFiles, sourceOf } from "../../warehouse/published-tables.ts";
import { type Check, type DatedCheck, WARNING_SPANS, type Warning } from "./checks.ts";
import { TOLD_BY_NAME } from "./unmatched.ts";

interface Spanned {
  readonly before: Baseline;
  /** Of the run, ISO 8601. */
  readonly startedAt: string;
  /** For the database; exists. */
  readonly temporaryDirectory: string;
}

interface Dated {
  readonly checks: readonly DatedCheck[];
  readonly warnings: readonly string[];
}

interface Span {
  readonly warningSince: Date;
  readonly warningRuns: number;
}

/**
 * The checks with since when they warn. One that the run before warned of too goes on, whatever its figure; any other
 * begins with this run. A run that is built again without the run before keeps what it said.
 */
export async function dateWarnings(checks: readonly Check[], spanned: Spanned): Promise<Dated> {
  const { before, startedAt } = spanned;
  const fresh: Span = { warningSince: new Date(startedAt), warningRuns: 1 };
  const dated = (goesOn: (name: string) => Span | undefined) =>
    checks.map((check): DatedCheck => {
      if (check.verdict === "passed") return { ...check, warningSince: null, warningRuns: null };
      return { ...check, ...(goesOn(check.name) ?? fresh) };
    });
  try {
    return { checks: dated(await spansBefore(spanned)), warnings: [] };
  } catch (thrown) {
    const run = before.kind === "none" ? "" : ` of ${before.run}`;
    const { message } = asWarehouseError(thrown);
    return {
      checks: dated(() => undefined),
      warnings: [
        `Since when checks warn is counted from this run, because the checks${run} cannot be read: ${message}`,
      ],
    };
  }
}

/** How the spans of warnings go on in this run, by name of the check. */
async function spansBefore({
  before,
  temporaryDirectory,
}: Spanned): Promise<(name: string) => Span | undefined> {
  if (before.kind === "run") {
    const spans = await readSpans(before, temporaryDirectory);
    return (name) => {
      const span = spans.get(name);
      return span && { ...span, warningRuns: span.warningRuns + 1 };
    };
  }
  return () => undefined;
}

const MEMORY_LIMIT_MB = 64;

/** Of the checks that warn. */
async function readSpans(published: PublishedFiles, temporaryDirectory: string) {
  const source = sourceOf(published);
  const limits = { temporaryDirectory, memoryLimitMb: MEMORY_LIMIT_MB, threads: 1 };
  await using database = await openTables(source, limits);
  const rows = await rowsBy(
    database.connection,
    WARNING_SPANS,
    `FROM ${fromTable(source, "run_checks")} WHERE verdict <> 'passed'`,
  );
  return new Map(rows.map((row) => [row.checkName, row]));
}

/** `ongoing`: those whose check the run before warned of too. */
export interface WarningTexts {
  readonly warnings: readonly string[];
  readonly ongoing: readonly string[];
  /** A sentence for the checks that warn since this run, and of which no warning tells; none: there are none. */
  readonly fresh: readonly string[];
}

const NAMED = 3;

function freshText(warnings: readonly Warning[], checks: readonly DatedCheck[]): readonly string[] {
  const told = new Set(warnings.map((warning) => (typeof warning === "string" ? null : warning.check)));
  const fresh = checks.filter(
    ({ name, warningRuns }) => warningRuns === 1 && !told.has(name) && !TOLD_BY_NAME.has(name),
  );
  if (fresh.length === 0) return [];
  const named = fresh.map(({ name, figure }) => `${name}: ${count(figure)}`);
  const warn = `${counted(fresh.length, "check")} ${fresh.length === 1 ? "warns" : "warn"} since this run`;
  return [`${warn} (${firstOf(named, NAMED)}); "content-warehouse runs show" has each.`];
}

/** What warns anew first, and what is known with for how many nights. */
export function warningTexts(warnings: readonly Warning[], checks: readonly DatedCheck[]): WarningTexts {
  const runsOf = (warning: Warning) =>
    typeof warning === "string"
      ? null
      : (checks.find(({ name }) => name === warning.check)?.warningRuns ?? null);
  const texts = warnings.map((warning) => ({
    text: typeof warning === "string" ? warning : warning.text,
    runs: runsOf(warning) ?? 1,
  }));
  const ongoing = texts
    .filter(({ runs }) => runs > 1)
    .map(({ text, runs }) => `${text} (For ${count(runs)} nights.)`);
  return {
    warnings: [...texts.filter(({ runs }) => runs <= 1).map(({ text }) => text), ...ongoing],
    ongoing,
    fresh: freshText(warnings, checks),
  };
}
