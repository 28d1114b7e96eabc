/**
 * Decides whether a failure slows all requests down, is an outage, or concerns one request alone. `status.ts` and
 * `transport-error.ts` say before what failed and how many attempts it is worth.
 */
import type { Clock } from "../../common/clock.ts";
import type { Log } from "../../common/log.ts";
import type { SettingNames } from "./request.ts";
import type { SourceError } from "./source-error.ts";

export interface RetryConfig {
  /** Requests at the same time. */
  readonly connections: number;
  /** Highest rate, requests a second; `null`: none. */
  readonly maxPerSecond: number | null;
  /** Rate that an earlier run found; `null`: none. */
  readonly startPerSecond: number | null;
  /** Longest wait for a service that is out; 0: an outage is a failure like any other. */
  readonly outageMinutes: number;
  /** Whether an earlier run got answers from this URL. */
  readonly isKnown: boolean;
  /** Host of the service, and the settings with its URL and token, for messages. */
  readonly host: string;
  readonly settingNames: SettingNames;
  /** Whether failed requests are retried, and not only those of an outage or refused ones. */
  readonly retries: boolean;
  /** No attempt begins later; `null`: there is no end. */
  readonly deadline: {
    /** On the clock's `elapsedMs`, which never goes back. */
    readonly atMs: number;
    /** The configured minutes, for messages. */
    readonly minutes: number;
  } | null;
  readonly clock: Clock;
  /** At least 0, below 1. */
  readonly random: () => number;
  readonly log: Log;
}

/**
 * - `throttling`: the service asks for fewer requests. All requests slow down. It costs neither attempts nor retries.
 * - `outage`: the service may be out. It is checked by another request, and waited for.
 * - `request`: the failure concerns this request alone. It costs one of its attempts and one retry of the run.
 */
export function failureKind({
  status,
  code,
  retryAfterMs,
}: SourceError): "throttling" | "outage" | "request" {
  if (status === 429 || (status === 503 && (retryAfterMs ?? 0) > 0)) return "throttling";
  const mayBeOut = status === null ? NO_ANSWER.has(code) : OUTAGE_STATUSES.has(status);
  return mayBeOut ? "outage" : "request";
}

export const OUTAGE_STATUSES: ReadonlySet<number> = new Set([500, 502, 503, 504, 520, 521, 522, 523, 524]);

const NO_ANSWER: ReadonlySet<string> = new Set([
  "source.unreachable",
  "source.timeout",
  // Without a status: a web page or an error that came with status 200.
  "source.unavailable",
]);
