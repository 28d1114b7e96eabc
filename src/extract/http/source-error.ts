import { type ErrorCode, WarehouseError } from "../../common/errors.ts";

/** Attempts that a request gets unless its failure says less; the first one counts. */
export const MAX_ATTEMPTS = 6;
/** An answer that is damaged the second time too will stay so. */
const DAMAGED_ATTEMPTS = 2;

export interface SourceFacts {
  readonly cause?: unknown;
  /** HTTP status, where there was an answer. */
  readonly status?: number | null;
  /** The service's own wish: not before this many milliseconds from now. */
  readonly retryAfterMs?: number | null;
  /** Attempts in all that this kind of failure is worth; 1: asking again is of no use. */
  readonly attemptsAtMost?: number | undefined;
}

/** A failure of the service or of the way to it, with what a retry policy and a caller need to know. */
export class SourceError extends WarehouseError {
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  readonly attemptsAtMost: number;

  constructor(code: ErrorCode, message: string, facts: SourceFacts = {}) {
    super(code, message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.status = facts.status ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    const attempts = code === "source.damaged" ? DAMAGED_ATTEMPTS : MAX_ATTEMPTS;
    this.attemptsAtMost = super.retry ? (facts.attemptsAtMost ?? attempts) : 1;
  }

  override get retry(): boolean {
    return this.attemptsAtMost > 1;
  }
}

export function tooDeep(): SourceError {
  return new SourceError("source.damaged", "The service sent JSON that is nested too deeply to read.");
}
