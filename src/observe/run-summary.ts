/** The summary of a run, for people, programs and observers. */
import type { Check } from "../audit/checks/checks.ts";
import type { DriftReport } from "../audit/questions/drift.ts";
import type { ResumeState } from "../extract/landing/checkpoint.ts";
import type { Delivery } from "../targets/deliver.ts";
import type { Manifest } from "../warehouse/manifest.ts";

/** The manifest of the published run without its lists, and what became of the run outside of its folder. */
export interface RunSummary
  extends Omit<Manifest, "manifestVersion" | "files" | "asked" | "columns" | "emptyColumns" | "ancestors"> {
  readonly pipeline: string;
  /** Folder of the warehouse. */
  readonly warehouse: string;
  /** Folder of the published run, below `warehouse`. */
  readonly directory: string;
  /** The run that readers see now. `publishedAt`: ISO 8601; null if its manifest cannot be read. */
  readonly current: {
    readonly run: string;
    readonly publishedAt: string | null;
  };
  /** Pages and single items read before the run was resumed, which `found.requests` counts too; null if there were none. */
  readonly resumed: { readonly pages: number; readonly items: number } | null;
  readonly bytesPublished: number;
  readonly filesPublished: number;
  /** Published files that the run before has too; null if it cannot be read. */
  readonly unchanged: { readonly files: number; readonly bytes: number } | null;
  /** The run that this one is compared with; null if there is none, or it cannot be read. */
  readonly comparedWith: string | null;
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
  /** Those of the manifest, and of what came after: removed runs, deliveries, loaders. */
  readonly warnings: string[];
  /** Warnings that the run before did not have, and one sentence for all checks that began to warn. */
  readonly newWarnings: readonly string[];
  /** Warnings that the run before had too. */
  readonly knownWarnings: number;
  /** Missing values in the run before, at destinations that received values; null if not compared. */
  readonly missingBefore: number | null;
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
