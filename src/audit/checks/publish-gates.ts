/** What keeps a run that is whole from being published: too many rejects, the contract, the run before it. */
import { WarehouseError } from "../../common/errors.ts";
import { count } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import type { Journal } from "../../extract/landing/journal.ts";
import { type RejectLimits, rejectLimit } from "../../extract/passes/failure-budget.ts";
import type { LoadedTable } from "../../load/load-table.ts";
import type { Drift, DriftEntry } from "../../raw/drift.ts";
import type { Extraction, ExtractRecord } from "../../raw/extract-record.ts";
import type { Baseline, ShrinkLimits } from "../../warehouse/baseline.ts";
import { type Check, type Judged, noneExpected } from "./checks.ts";
import { assertFrozen, assertTyped, type Contract, misfitChecks } from "./contract.ts";
import type { Loaded } from "./inspect.ts";
import {
  assertNotShrunk,
  baselineCheck,
  changesOf,
  guardChecks,
  type RowCounts,
  vanished,
  vanishedCheck,
} from "./mass-change.ts";

/** What a person settled about it. */
export interface GateSettings extends ShrinkLimits {
  readonly contract: Contract;
  /** Null: as each check has it. */
  readonly maxRejects: RejectLimits | null;
}

/** Unless `maxRejects` says otherwise. */
const REJECT_LIMITS: RejectLimits = { share: 0.005, items: 20 };

/**
 * `rejected`: listed documents that are not items, the most that any pass listed, and items that the service refused to
 * give, or to give in both modes. What nobody asked for, because the list moved, is none.
 */
function rejectCount({ items, rejected, unread, inPartRejected }: Extraction, { maxRejects }: GateSettings) {
  const listed = items + rejected;
  return {
    listed,
    rejected: rejected + unread.rejected + inPartRejected.length,
    limit: rejectLimit(listed, maxRejects ?? REJECT_LIMITS),
  };
}

const OTHER_TYPE_OF_ID = /^the item's id is a /;
const REASONS_NAMED = 2;

/**
 * Throws `source.rejects`, before the tables are made, where too many were rejected. Where the IDs themselves are of
 * another type, or not one of all that was listed can be read, what an item is has changed: `contract.drift`.
 */
export function judgeAnswers(settings: GateSettings, extraction: Extraction, journal: Journal): void {
  const { listed, rejected, limit } = rejectCount(extraction, settings);
  const none = rejected > 0 && rejected === listed;
  if (rejected <= limit && !none) return;
  const [refusals = [], reasons = []] = [true, false].map((singly) =>
    journal.rejects.filter(({ mode }) => (mode === "item") === singly).map(({ reason }) => reason),
  );
  const byType = reasons.filter((reason) => OTHER_TYPE_OF_ID.test(reason)).length;
  const drifted = none || byType > reasons.length / 2;
  const named = [...new Set(reasons.length > 0 ? reasons : refusals)].slice(0, REASONS_NAMED).join("; ");
  throw new WarehouseError(
    drifted ? "contract.drift" : "source.rejects",
    `${rejected} of ${listed} listed items could not be read, limit: ${limit} (${named}); nothing was published. ` +
      `Ask the operator of the service what changed${drifted ? "" : ", or set `maxRejects`"}.`,
  );
}

function rejectCheck(facts: ExtractRecord): Check {
  const { listed, rejected, limit } = rejectCount(facts, facts.gates);
  return {
    name: "listed items that could not be read, or not in both modes",
    verdict: rejected === 0 ? "passed" : "warning",
    figure: rejected,
    expected: limit,
    detail: `of ${listed}; see run_rejects`,
  };
}

/** Throws `contract.drift` where the contract is frozen and an answer departs from it. */
export function judgeDrift({ gates }: ExtractRecord, drift: Drift): void {
  if (gates.contract === "freeze") assertFrozen(drift.sorted());
}

interface Evidence {
  readonly before: Baseline;
  readonly loaded: Loaded;
  readonly facts: ExtractRecord;
}

/** Compares the tables with those of the run before, too. Throws `contract.drift` and `guard.shrink`. */
export function judgeTables({ before, loaded, facts }: Evidence): Judged {
  const { tables, emptyColumns, misfits } = loaded;
  assertTyped(misfits);
  const checks = [rejectCheck(facts), ...misfitChecks(misfits), baselineCheck(before)];
  if (before.kind === "none" || before.kind === "damaged") return { checks, warnings: [] };
  const now = { rows: rowCounts(tables), emptyColumns };
  const changes = changesOf(before.manifest.rows, now.rows, facts.gates);
  if (!facts.accepted.shrink) assertNotShrunk(changes, before.run);
  const gone = vanished(before.manifest, now);
  return {
    checks: [...checks, ...guardChecks(changes), vanishedCheck(gone)],
    warnings: gone.map((place) => `${place} had values in the run before, and has none now.`),
  };
}

export function rowCounts(tables: readonly LoadedTable[]): RowCounts {
  return Object.fromEntries(tables.map(({ table, rows }) => [table, rows]));
}

const PLACES_NAMED = 5;

/** What a run says where the service repeats the API token in its answers. */
export function judgeEchoes(drift: readonly DriftEntry[]): Judged {
  const echoes = drift.filter(({ kind }) => kind === "token_redacted").sort((a, b) => b.count - a.count);
  const total = echoes.reduce((sum, echo) => sum + echo.count, 0);
  const name = "texts in which the service repeats the API token";
  if (total === 0) return { checks: [noneExpected(name, 0, "")], warnings: [] };
  const named = echoes.map(({ path }) => JSON.stringify(printable(path, 60)));
  const places = joinFirst(named, PLACES_NAMED);
  const detail = `each is published with [redacted] in its place; in ${places}`;
  const warning = `The service repeats the API token in ${count(total)} texts (${places}): [redacted] is published in its place. Ask its operator why others may read it there.`;
  return { checks: [noneExpected(name, total, detail)], warnings: [{ text: warning, check: name }] };
}
