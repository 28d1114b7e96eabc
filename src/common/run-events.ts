/** What a run tells while it works: its stages and its requests. Nobody answers, and nothing waits. */
import type { Clock } from "./clock.ts";
import type { ErrorCode } from "./errors.ts";
import type { StageName } from "./progress.ts";

/** Stages of a run, one after another: those that show progress, and the short ones. */
export type RunStage = StageName | "repair" | "audit" | "report";

export interface StageBegins {
  readonly event: "stage begins";
  readonly stage: RunStage;
  /** Pass over a listing, from 1; null: it belongs to none. */
  readonly pass: number | null;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

export interface StageEnds {
  readonly event: "stage ends";
  readonly stage: RunStage;
  readonly failed: boolean;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

/** One attempt of a request, answered or not. */
export interface RequestEnds {
  readonly event: "request ends";
  readonly method: "GET" | "POST";
  /** Listing mode or lookup, as in `run_requests`. */
  readonly mode: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Without the query. */
  readonly path: string;
  /** Page of a listing. */
  readonly page: number | null;
  /** Null: there was no answer. */
  readonly status: number | null;
  /** Of the body as it came. */
  readonly bytes: number;
  /** Why there was no answer. */
  readonly error: ErrorCode | null;
  /** When it ended, in milliseconds since 1970. */
  readonly atMs: number;
  readonly milliseconds: number;
}

export type RunEvent = StageBegins | StageEnds | RequestEnds;
export type OnEvent = (event: RunEvent) => void;

export interface Telling {
  readonly onEvent: OnEvent;
  readonly clock: Clock;
}

/** Does the work of a stage, and tells when it begins and ends. */
export async function inStage<Result>(
  { onEvent, clock }: Telling,
  { stage, pass = null }: { readonly stage: RunStage; readonly pass?: number | null },
  work: () => Promise<Result>,
): Promise<Result> {
  onEvent({ event: "stage begins", stage, pass, atMs: clock.now() });
  let failed = true;
  try {
    const result = await work();
    failed = false;
    return result;
  } finally {
    onEvent({ event: "stage ends", stage, failed, atMs: clock.now() });
  }
}
