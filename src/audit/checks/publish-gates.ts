/** What keeps a run that is whole from being published: too many rejects, the contract, the run before it. */

import type { Extraction } from "../../extract/extract.ts";
import type { Journal } from "../../extract/journal.ts";
import type { RejectLimits } from "../../extract/reject-limits.ts";
import type { LoadedTable } from "../../load/load-table.ts";
import type { Table } from "../../tables/declare.ts";
import type { Baseline } from "../../warehouse/baseline.ts";
import type { Judged } from "./checks.ts";
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
import { assertFewRejects, rejectCheck, rejectCount } from "./rejects.ts";

/** What a person settled about it. */
export interface GateSettings {
  readonly contract: Contract;
  /** Null: as each check has it. */
  readonly maxRejects: RejectLimits | null;
  readonly acceptShrink: boolean;
}

/** Throws `source.rejects` or `contract.drift`, before the tables are made. */
export function judgeAnswers({ maxRejects }: GateSettings, extraction: Extraction, journal: Journal): void {
  assertFewRejects(rejectCount(extraction, maxRejects), journal.rejects);
}

/** Throws `contract.drift` where the contract is frozen and an answer departs from it. */
export function judgeDrift({ contract }: GateSettings, journal: Journal): void {
  if (contract === "freeze") assertFrozen(journal.drift.sorted());
}

export interface Evidence {
  readonly config: GateSettings;
  readonly baseline: Baseline;
  readonly tables: readonly Table[];
  readonly loaded: Loaded;
  readonly extraction: Extraction;
}

/** Throws `contract.drift` and `guard.shrink`. */
export function judgeTables(evidence: Evidence): Judged {
  const { config, loaded, extraction } = evidence;
  assertTyped(loaded.misfits);
  const { checks, warnings } = compare(evidence);
  return {
    checks: [
      rejectCheck(rejectCount(extraction, config.maxRejects)),
      ...misfitChecks(loaded.misfits),
      ...checks,
    ],
    warnings,
  };
}

/** Holds the tables against those of the run before. */
function compare({ config, baseline, tables, loaded }: Evidence): Judged {
  if (baseline.kind !== "run") return { checks: [baselineCheck(baseline)], warnings: [] };
  const before = baseline.manifest;
  const now = { rows: rowCounts(loaded.tables), emptyColumns: loaded.emptyColumns };
  const changes = changesOf(before.rows, now.rows);
  if (!config.acceptShrink) assertNotShrunk(changes, baseline.run);
  const gone = vanished(tables, before, now);
  return {
    checks: [baselineCheck(baseline), ...guardChecks(changes), vanishedCheck(gone)],
    warnings: gone.map((place) => `${place} had values in the run before, and has none now.`),
  };
}

/** Rows by table. */
export function rowCounts(tables: readonly LoadedTable[]): RowCounts {
  return Object.fromEntries(tables.map(({ table, rows }) => [table, rows]));
}
