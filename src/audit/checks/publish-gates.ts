/** Checks that can keep a run from being published: rejects, the schema contract, the run before. */
import { WarehouseError } from "../../common/errors.ts";
import { count } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import type { Journal } from "../../extract/landing/journal.ts";
import { type RejectLimits, rejectLimit } from "../../extract/passes/failure-budget.ts";
import type { LoadedTable } from "../../load/load-table.ts";
import type { DriftEntry } from "../../raw/drift.ts";
import type { Extraction, ExtractRecord } from "../../raw/extract-record.ts";
import type { Baseline, ShrinkLimits } from "../../warehouse/baseline.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { type Check, type CheckResults, checkWithWarning, noneExpected, noneNamed } from "./checks.ts";
import { assertFrozen, type Contract, misfitChecks } from "./contract.ts";
import {
  assertNotShrunk,
  baselineCheck,
  compareRowCounts,
  findVanished,
  rowCountChecks,
} from "./mass-change.ts";
import type { TableFacts } from "./table-checks.ts";

interface GateSettings extends ShrinkLimits {
  readonly contract: Contract;
  /** Null: `REJECT_LIMITS`. */
  readonly maxRejects: RejectLimits | null;
}

const REJECT_LIMITS: RejectLimits = { share: 0.005, items: 20 };

/**
 * `rejected`: listed documents that are not items, and items that the service refused to give, or to give in both
 * modes. Items that were not asked for are not rejects.
 */
function rejectCount({ items, rejected, unread, inPartRejected }: Extraction, { maxRejects }: GateSettings) {
  const listed = items + rejected;
  return {
    listed,
    rejected: rejected + unread.rejected + inPartRejected.length,
    limit: rejectLimit(listed, maxRejects ?? REJECT_LIMITS),
  };
}

/**
 * Throws `source.rejects` if there are too many rejects. If most of them have an ID of another type, or nothing can be
 * read, items themselves have changed: then it throws `contract.drift`.
 */
export function assertFewRejects(settings: GateSettings, extraction: Extraction, journal: Journal): void {
  const { listed, rejected, limit } = rejectCount(extraction, settings);
  const isNothingRead = rejected > 0 && rejected === listed;
  if (rejected <= limit && !isNothingRead) return;
  const [ofItems = [], ofListings = []] = [true, false].map((single) =>
    journal.rejects.filter(({ mode }) => (mode === "item") === single).map(({ reason }) => reason),
  );
  const ofIdType = ofListings.filter((reason) => reason.startsWith("the item's id is a "));
  const hasDrifted = isNothingRead || ofIdType.length > ofListings.length / 2;
  const reasons = [...new Set(ofListings.length > 0 ? ofListings : ofItems)].slice(0, 2).join("; ");
  throw new WarehouseError(
    hasDrifted ? "contract.drift" : "source.rejects",
    `${rejected} of ${listed} listed items could not be read, limit: ${limit} (${reasons}); nothing was published. ` +
      `Ask the operator of the service what changed${hasDrifted ? "" : ", or set `maxRejects`"}.`,
  );
}

function rejectCheck(facts: ExtractRecord): Check {
  const { listed, rejected, limit } = rejectCount(facts, facts.gates);
  const name = "listed items that could not be read, or not in both modes";
  return { ...noneExpected(name, rejected, `of ${listed}; see run_rejects`), expected: limit };
}

/** Throws `contract.drift` if the contract is frozen and an answer departs from it. */
export function assertContract({ gates }: ExtractRecord, drift: readonly DriftEntry[]): void {
  if (gates.contract === "freeze") assertFrozen(drift);
}

/**
 * Checks rejects and misfits, and compares the tables with those of the run before. Throws `contract.drift` and
 * `guard.shrink`.
 */
export function checkAgainstBaseline(
  before: Baseline,
  { tables, emptyColumns, misfits }: TableFacts,
  facts: ExtractRecord,
): CheckResults {
  const checks = [rejectCheck(facts), ...misfitChecks(misfits), baselineCheck(before)];
  if (before.kind === "none" || before.kind === "damaged") return { checks, warnings: [] };
  const now = { rows: rowCounts(tables), emptyColumns };
  const changes = compareRowCounts(before.manifest.rows, now.rows, facts.gates);
  if (!facts.accepted.shrink) assertNotShrunk(changes, before.run);
  const places = findVanished(before.manifest, now);
  const vanished = noneNamed("columns and tables that had values in the run before and have none", places);
  return {
    checks: [...checks, ...rowCountChecks(changes), vanished],
    warnings: places.map((place) => `${place} had values in the run before, and has none now.`),
  };
}

export function rowCounts(tables: readonly LoadedTable[]): Manifest["rows"] {
  return Object.fromEntries(tables.map(({ table, rows }) => [table, rows]));
}

/** Warns if the service repeats the API token in its answers. */
export function checkTokenEchoes(drift: readonly DriftEntry[]): CheckResults {
  const echoes = drift.filter(({ kind }) => kind === "token_redacted").sort((a, b) => b.count - a.count);
  const total = echoes.reduce((sum, echo) => sum + echo.count, 0);
  const places = joinFirst(
    echoes.map(({ path }) => JSON.stringify(printable(path, 60))),
    5,
  );
  const detail = total === 0 ? "" : `each is published with [redacted] in its place; in ${places}`;
  return checkWithWarning(
    noneExpected("texts in which the service repeats the API token", total, detail),
    `The service repeats the API token in ${count(total)} texts (${places}): [redacted] is published in its place. Ask the service's operator why it is readable there.`,
  );
}
