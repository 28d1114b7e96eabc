/** Instants are ISO 8601 text in UTC (`...Z`), with or without a fraction of the second. */

/** `2026-03-01T09:30:12.123456Z` as `2026-03-01T09:30:12Z`. */
export function toSecond(instant: string): string {
  return instant.replace(/\.\d+(?=Z$)/, "");
}

/** Text that sorts by time: without the `Z`, a longer fraction comes after a shorter one that it begins with. */
export function sortableInstant(instant: string): string {
  return instant.replace("Z", "");
}
