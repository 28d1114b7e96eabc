/** The summary of a run: what people, programs and observers are told of it. */
import { type Accounting, type Check, sortChecks } from "../audit/checks/checks.ts";
import type { MappedCounts } from "../audit/mapping/value-counts.ts";
import type { DriftReport } from "../audit/questions/drift.ts";
import type { ItemChanges } from "../audit/questions/run-row.ts";
import type { Verdict } from "../common/verdict.ts";
import type { OutageTotals } from "../extract/http/outage.ts";
import type { ThrottleTotals } from "../extract/http/pace.ts";
import type { ResumeState } from "../extract/landing/checkpoint.ts";
import type { Extraction, PassRecord } from "../raw/extract-record.ts";
import type { Delivery } from "../targets/deliver.ts";
import type { UnchangedFiles } from "../warehouse/unchanged.ts";

/** What a run did, for people and programs. */
export interface RunSummary {
  readonly run: string;
  readonly sequence: number;
  readonly pipeline: string;
  /** The run whose raw documents it was built from; null: it read its own. */
  readonly replayOf: string | null;
  readonly verdict: Verdict;
  /** Why it is not complete. */
  readonly reasons: readonly string[];
  /** Whether dynamic and full answers mean different times by `updated_at`, so that each was certified by itself. */
  readonly modesDiffer: boolean;
  /** Folder of the warehouse. */
  readonly warehouse: string;
  /** Folder of the published run, below `out`. */
  readonly directory: string;
  /**
   * What readers see now. `publishedAt`: ISO 8601; null where its manifest cannot be read.
   */
  readonly current: {
    readonly run: string;
    readonly publishedAt: string | null;
  };
  readonly accounting: Accounting;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  readonly passes: readonly PassRecord[];
  readonly requests: number;
  /** The rate that the service was found to allow, and how many requests it refused; null: it refused none. */
  readonly throttled: ThrottleTotals | null;
  /** How often and how long the service was out, since the run was started or resumed; null: never. */
  readonly outages: OutageTotals | null;
  /** Single items of which a document of an earlier run stood in for a request; null: nothing is to be said of them. */
  readonly reused: Reused | null;
  /** Answers that an interrupted run had read before it was resumed; requests and bytes count them too. */
  readonly resumed: Resumed | null;
  /** Bytes of the answers as they came. */
  readonly bytesReceived: number;
  /** Bytes of the published files. */
  readonly bytesPublished: number;
  readonly filesPublished: number;
  /** Those of them that the run before has too; null: there is none that can be read. */
  readonly unchanged: UnchangedFiles | null;
  /** The run that this one is compared with; null: there is none, or none that can be read. */
  readonly previousRun: string | null;
  /** Against the run before; null: there is nothing to compare. */
  readonly changes: ItemChanges | null;
  /** Null: the pipeline makes none. */
  readonly mappedValues: MappedCounts | null;
  /** Where the service departs from the specification, beside the run before; null: that could not be read. */
  readonly drift: DriftReport | null;
  /** The checks before publication; all are in `run_checks`. */
  readonly checks: {
    readonly passed: number;
    readonly warnings: readonly Omit<Check, "examples" | "reads">[];
  };
  /** Path of the report; null: the run has none. */
  readonly report: string | null;
  /** Runs that were removed because they are old. */
  readonly removedRuns: readonly string[];
  readonly warnings: readonly string[];
  /** Those of them that the night before did not have, and one sentence for the checks that did not warn then. */
  readonly newWarnings: readonly string[];
  /** What came of the delivery to each target, in the order of the configuration. */
  readonly deliveries: readonly Delivery[];
  /** Why a loader of one's own could not make the run visible, as a warning says too; null: each could. */
  readonly loadFailure: Delivery["failure"];
  /** Why the configured destinations have no mapped values, as a warning says; null: they have, or there are none. */
  readonly noMappedValues: string | null;
  /** From the start, the first one of a resumed run, to the end, as its manifest has them. */
  readonly milliseconds: number;
}

/** Single items. */
export interface Reused {
  /** From the run before. */
  readonly reused: number;
  /** From the service. */
  readonly read: number;
}

/** Null where none was reused. */
export function reusedOf({ detailsAsked: read, detailsReused: reused }: Extraction): Reused | null {
  return reused === 0 ? null : { reused, read };
}

export function summaryOfChecks(checks: readonly Check[]): RunSummary["checks"] {
  const warnings = sortChecks(
    checks.filter(({ verdict }) => verdict !== "passed"),
    (check) => check,
  ).map(({ examples: _, reads: __, ...told }) => told);
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
  return pages + items === 0 ? null : { pages, items };
}
