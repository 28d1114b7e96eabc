/** Figures and instants, for people. */

/** `1,234`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** `1 item`, `1,234 items`. */
export function counted(value: number, what: string): string {
  return `${count(value)} ${what}${value === 1 ? "" : "s"}`;
}

/** `93.4%`; 100% and 0% are said of all and of none alone. Null: there is nothing to take a part of. */
export function percent(part: number, whole: number): string | null {
  if (whole === 0) return null;
  if (part === whole) return "100%";
  if (part === 0) return "0%";
  const share = Math.min(99.9, Math.max(0.1, (part / whole) * 100));
  return `${share.toFixed(1)}%`;
}

/** `2026-11-20 02:00 UTC`. */
export function minute(instant: Date): string {
  return `${instant.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** `4.2 s`, `42 s`, `3 min 20 s`, `1 h 5 min`. */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** `124 kB`, `12.3 MB`. */
export function fileSize(bytes: number): string {
  return bytes < 1e6 ? `${count(Math.ceil(bytes / 1000))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
