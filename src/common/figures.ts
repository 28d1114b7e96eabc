/** Formats numbers, sizes, times and shares for people. */

/** `1,234`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** `12.3 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** `4.2 s`, `42 s`, `3 min 20 s`, `1 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** `2026-11-20 02:00`, in UTC. */
export function minuteOf(instant: Date): string {
  return instant.toISOString().slice(0, 16).replace("T", " ");
}

/** `1 row`, `1,234 rows`. */
export function pluralize(number: number, what: string): string {
  return `${count(number)} ${what}${number === 1 ? "" : "s"}`;
}

/** `124 kB`, `12.3 MB`, `80.0 GB`. */
export function fileSize(bytes: number): string {
  if (bytes >= 1e10) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes < 1e6 ? `${count(Math.ceil(bytes / 1000))} kB` : megabytes(bytes);
}
