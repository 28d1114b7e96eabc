/** One value of a row. Instants are microseconds since 1970 UTC, dates days; a JSON column has the value itself. */
export type Value = unknown;
export type Row = Readonly<Record<string, Value>>;
export type Emit = (table: string, row: Row) => void;

/** Microseconds of `2026-03-01T09:30:12[.123456]Z`; null for anything else. */
export function instant(text: string | null | undefined): bigint | null {
  if (typeof text !== "string") return null;
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/.exec(text);
  if (parts === null) return null;
  const milliseconds = Date.parse(`${parts[1]}Z`);
  if (Number.isNaN(milliseconds)) return null;
  const fraction = (parts[2] ?? ".").slice(1, 7).padEnd(6, "0");
  return BigInt(milliseconds) * 1000n + BigInt(fraction);
}

/** Days of `MM/DD/YY`, which means 20YY; null for anything else and for days that no calendar has. */
export function usDate(text: string | null | undefined): number | null {
  const parts = /^(\d\d)\/(\d\d)\/(\d\d)$/.exec(text ?? "");
  if (parts === null) return null;
  const iso = `20${parts[3]}-${parts[1]}-${parts[2]}`;
  const milliseconds = Date.parse(iso);
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString().slice(0, 10) !== iso) return null;
  return milliseconds / 86_400_000;
}

/** The value, or null where there is none. */
export function orNull<T>(value: T | null | undefined): T | null {
  return value === undefined ? null : value;
}
