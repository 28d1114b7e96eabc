/** Who is told of a run: each gets the same events, and gives nothing back. */
import type { Check } from "../audit/checks/checks.ts";
import type { OnEvent } from "../common/run-events.ts";
import type { Table } from "../tables/declare.ts";
import type { RunFailed, RunPublished } from "./outcome.ts";
import type { RunSummary } from "./run-summary.ts";

/** A run that has its name: from here on it asks the service. */
export interface StartedRun {
  readonly run: string;
  readonly pipeline: string;
  readonly description: string;
  /** Address of the service, or `sample`. */
  readonly instance: string;
  readonly warehouse: string;
  /** Milliseconds since 1970; of a resumed run, when it was resumed. */
  readonly startedMs: number;
  readonly personalData: "drop" | "hash" | "keep";
  /** What is published in the run's folder. */
  readonly publishes: readonly ("duckdb" | "parquet")[];
}

export interface PublishedTable {
  readonly table: Table;
  readonly rows: number;
  readonly files: number;
  /** Of its Parquet files; 0: none are published. */
  readonly bytes: number;
}

/** What is in a published run, beyond its summary. */
export interface PublishedContent {
  readonly tables: readonly PublishedTable[];
  readonly checks: readonly Check[];
}

/** `endedMs`: milliseconds since 1970. `current`: the run that readers see then; null: none, or nobody can tell. */
export type EndedRun = { readonly endedMs: number; readonly current: RunSummary["current"] | null } & (
  | { readonly outcome: RunPublished; readonly content: PublishedContent }
  | {
      readonly outcome: RunFailed;
      readonly content: null;
      /** Of a run that tests of its pipeline ended; else none. */
      readonly checks: readonly Check[];
    }
);

export interface Observer {
  /** For messages: the setting, or what it is called. */
  readonly name: string;
  readonly onEvent: OnEvent;
  onStart(run: StartedRun, signal: AbortSignal): Promise<void>;
  onEnd(ended: EndedRun, signal: AbortSignal): Promise<void>;
  /** Throws what `onEnd` would, as far as that is known beforehand, and tells nothing. */
  check?(signal: AbortSignal): Promise<void>;
}

/** Of an observer that only looks at the end. */
export const ONLY_END = { onEvent: () => {}, onStart: async () => {} };
