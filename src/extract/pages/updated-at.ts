/** `updated_at` of an item in seconds, and whether it identifies a version of the item. */
import { createHash } from "node:crypto";
import { secondsOfInstant } from "../../raw/values.ts";

/** The time of an item without `updated_at`. */
const NO_TIME = -1;

/** Seconds since 1970. A text that is not an instant gets a number of its own below zero. */
export function secondsOf(updatedAt: string | null): number {
  if (updatedAt === null) return NO_TIME;
  const seconds = secondsOfInstant(updatedAt);
  if (seconds !== undefined) return seconds;
  return -2 - createHash("sha256").update(updatedAt).digest().readUIntBE(0, 6);
}

/** A time further in the future comes from another clock and says nothing. */
const MAX_AHEAD_SECONDS = 2;

/** After this time a document is no longer fresh, unless the item is edited again. */
export const FRESH_MS = 3000;

/**
 * Whether a document was read within the second of its own `updated_at`. The item may be edited again in that second,
 * and a time in whole seconds would not tell the two versions apart. `seconds`: as {@link secondsOf}. `observedAt`: of the
 * response, in microseconds since 1970 UTC. `milliseconds`: how long it took.
 */
export function isFresh(
  seconds: number,
  { observedAt, milliseconds }: { readonly observedAt: number; readonly milliseconds: number },
): boolean {
  const answered = observedAt / 1_000_000;
  return (
    seconds >= 0 && seconds + 1 > answered - milliseconds / 1000 && seconds <= answered + MAX_AHEAD_SECONDS
  );
}
