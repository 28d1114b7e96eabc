/**
 * Documents that were read within the second of their own time. The item may be edited once more in that second, and
 * `updated_at` to the second would not tell, so such a time names no version.
 */

/** When a document was read. */
export interface ReadAt {
  /** The answer's `Date`, to the second; microseconds since 1970 UTC. */
  readonly observedAt: number;
  /** From the request to the last byte. */
  readonly milliseconds: number;
}

/** A time that is further ahead is of another clock, which says nothing. */
const MAX_AHEAD_SECONDS = 2;

/** After so long, a document that was fresh is not any more, if the item was not edited again. */
export const FRESH_MS = 3000;

/** `seconds`: `updated_at`, in seconds since 1970; negative where there is none. */
export function isFresh(seconds: number, { observedAt, milliseconds }: ReadAt): boolean {
  const answered = observedAt / 1_000_000;
  return (
    seconds >= 0 && seconds + 1 > answered - milliseconds / 1000 && seconds <= answered + MAX_AHEAD_SECONDS
  );
}
