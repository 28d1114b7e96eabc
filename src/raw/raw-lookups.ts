/** The answers of the lookups, as the raw files have them: what the tables of definitions are made from. */
import { type LookupAnswer, type LookupMode, RawRows } from "./raw-file.ts";

export interface RawLookups {
  readonly destinations: readonly LookupAnswer[];
  /** Custom fields with their mappings. */
  readonly definitions: readonly LookupAnswer[];
}

/** Paths of the raw files of the lookups; one that found nothing has none. */
export type LookupFiles = Readonly<Partial<Record<LookupMode, string | undefined>>>;

/** Errors: those of {@link RawRows}. */
export function readLookups({ destinations, custom_fields }: LookupFiles): RawLookups {
  return { destinations: answersIn(destinations), definitions: answersIn(custom_fields) };
}

function answersIn(file: string | undefined): LookupAnswer[] {
  if (file === undefined) return [];
  using rows = new RawRows(file);
  return rows.ids.map((_, row) => rows.answer(row));
}
