/** The summary of a run, for people, programs and observers. */
import type { Accounting, Check } from "../audit/checks/checks.ts";
import type { MappedCounts } from "../audit/mapping/value-counts.ts";
import type { DriftReport } from "../audit/questions/drift.ts";
import type { Verdict } from "../common/verdict.ts";
import type { OutageTotals } from "../extract/http/outage.ts";
import type { ThrottleTotals } from "../extract/http/pace.ts";
import type { ResumeState } from "../extract/landing/checkpoint.ts";
import type { PassRecord } from "../raw/extract-record.ts";
import type { Delivery } from "../targets/deliver.ts";
import type { Manifest } from "../warehouse/manifest.ts";

export interface RunSummary {
  readonly run: string;
  readonly sequence: number;
  readonly pipeline: string;
  /** The run whose raw documents were replayed; null if the run read its own. */
  readonly replayOf: string | null;
  readonly verdict: Verdict;
  /** Why the verdict is not complete. */
  readonly reasons: readonly string[];
  /** Whether the modes mean different times by `updated_at`, so that each was certified by its own passes. */
  readonly modesDiffer: boolean;
  /** Folder of the warehouse. */
  readonly warehouse: string;
  /** Folder of the published run, below `out`. */
  readonly directory: string;
  /** The run that readers see now. `publishedAt`: ISO 8601; null if its manifest cannot be read. */
  readonly current: {
    readonly run: string;
    readonly publishedAt: string | null;
  };
  readonly accounting: Accounting;
  readonly tables: readonly { readonly name: string; readonly rows: number }[];
  readonly passes: readonly PassRecord[];
  readonly requests: number;
  /** Rate that the service allows and requests that it refused; null if it refused none. */
  readonly throttled: ThrottleTotals | null;
  /** Outages of the service since the run was started or resumed; null if there were none. */
  readonly outages: OutageTotals | null;
  /** Single items reused from the run before, and read from the service; null if none was reused. */
  readonly reused: { readonly reused: number; readonly read: number } | null;
  /** Pages and single items read before the run was resumed, which `requests` counts too; null if there were none. */
  readonly resumed: { readonly pages: number; readonly items: number } | null;
  /** Bytes of the answers as they were sent. */
  readonly bytesReceived: number;
  /** Bytes of the published files. */
  readonly bytesPublished: number;
  readonly filesPublished: number;
  /** Published files that the run before has too; null if it cannot be read. */
  readonly unchanged: { readonly files: number; readonly bytes: number } | null;
  /** The run that this one is compared with; null if there is none, or it cannot be read. */
  readonly previousRun: string | null;
  /** Null if there is no run to compare with. */
  readonly changes: NonNullable<Manifest["changes"]> | null;
  /** Null if the pipeline makes none. */
  readonly mappedValues: MappedCounts | null;
  /**
   * Differences from the specification, compared with the run before; null if it could not be read. `policyFields`: fields
   * that the personal-data policy treated.
   */
  readonly drift: (Omit<DriftReport, "policy"> & { readonly policyFields: number }) | null;
  /** Checks before publication; `run_checks` has all of them. */
  readonly checks: {
    readonly passed: number;
    readonly warnings: readonly Omit<Check, "examples" | "reads">[];
  };
  /** Path of the report; null if the run has none. */
  readonly report: string | null;
  /** Old runs that were removed. */
  readonly removedRuns: readonly string[];
  readonly warnings: readonly string[];
  /** Warnings that the run before did not have, and one sentence for all checks that began to warn. */
  readonly newWarnings: readonly string[];
  /** One for each target, in the order of the configuration. */
  readonly deliveries: readonly Delivery[];
  /** Why a custom loader could not make the run visible, as a warning says too; null if none failed. */
  readonly loadFailure: Delivery["failure"];
  /** Why the configured destinations have no mapped values, as a warning says too; null if they have some. */
  readonly noMappedValues: string | null;
  /** From the start (of a resumed run the first) to the end. */
  readonly milliseconds: number;
}

export function resumeCounts({ pages, items }: ResumeState): RunSummary["resumed"] {
  return pages + items === 0 ? null : { pages, items };
}
