/** `updated_at` of an item as a number, and what it tells of the item's version. */
import { createHash } from "node:crypto";
import { secondsOfInstant } from "../../raw/instant.ts";
import type { RequestRecord } from "../http/request-log.ts";

/** An item without `updated_at`. */
export const NO_TIME = -1;

/** Seconds since 1970 of an instant; another text as a number of its own below zero. */
export function secondsOf(updatedAt: string | null): number {
  if (updatedAt === null) return NO_TIME;
  const seconds = secondsOfInstant(updatedAt);
  if (seconds !== undefined) return seconds;
  return -2 - createHash("sha256").update(updatedAt).digest().readUIntBE(0, 6);
}

/** A time that is further ahead is of another clock, which says nothing. */
const MAX_AHEAD_SECONDS = 2;

/** After so long, a document that was fresh is not any more, if the item was not edited again. */
export const FRESH_MS = 3000;

/**
 * Whether a document was read within the second of its own time. The item may be edited once more in that second, and
 * `updated_at` to the second would not tell, so such a time names no version. `seconds`: `updated_at`, in seconds since
 * 1970; negative where there is none.
 */
export function isFresh(
  seconds: number,
  { observedAt, milliseconds }: Pick<RequestRecord, "observedAt" | "milliseconds">,
): boolean {
  const answered = observedAt / 1_000_000;
  return (
    seconds >= 0 && seconds + 1 > answered - milliseconds / 1000 && seconds <= answered + MAX_AHEAD_SECONDS
  );
}
