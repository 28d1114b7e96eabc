/** Failures of the service or of the network. */
import { type ErrorCode, WarehouseError } from "../../common/errors.ts";

/** Attempts of a request, unless its failure allows fewer. The first one counts. */
export const MAX_ATTEMPTS = 6;
/** An answer that is damaged twice is taken to stay damaged. */
const DAMAGED_ATTEMPTS = 2;

/** A failure of the service or of the network, with what a retry needs to know. */
export class SourceError extends WarehouseError {
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  readonly attemptsAtMost: number;

  constructor(
    code: ErrorCode,
    message: string,
    facts: {
      readonly cause?: unknown;
      /** HTTP status; `null` without a response. */
      readonly status?: number | null;
      /** Milliseconds that the service asks to wait. */
      readonly retryAfterMs?: number | null;
      /** Attempts that this kind of failure is worth, the first included; 1: no retry. */
      readonly attemptsAtMost?: number | undefined;
    } = {},
  ) {
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

/** A body that is larger than so many bytes, as it came or after decompression. */
export function tooLarge(limitBytes: number): SourceError {
  const limit = `${Math.floor(limitBytes / 1024 / 1024)} MB`;
  const sentence = `The service sent more than ${limit} at once; set a smaller \`perPage\` in the configuration.`;
  return new SourceError("source.too_large", sentence);
}
