/** In which field the listing documents of two runs differ most: why few single items can be reused. */
import type { JsonObject } from "./document.ts";
import type { ChangedMost } from "./extract-record.ts";
import { changedMembers } from "./fingerprint.ts";
import { RawRows } from "./raw-file.ts";

/** Items that are compared. */
const MAX_COMPARED = 200;

export interface TwoListings {
  /** Absolute paths of raw files of the dynamic listing. */
  readonly before: readonly string[];
  readonly now: readonly string[];
  readonly wants: (item: { readonly event: boolean }) => boolean;
}

/** Null where none differs. Errors: those of {@link RawRows}. */
export function changedMost({ before, now, wants }: TwoListings): ChangedMost | null {
  const sample = sampleOf(now, wants);
  const changes = new Map<string, number>();
  let compared = 0;
  for (const file of before) {
    using rows = new RawRows(file);
    for (const [row, id] of rows.ids.entries()) {
      const document = sample.get(id);
      if (document === undefined) continue;
      sample.delete(id);
      compared += 1;
      for (const name of changedMembers(rows.view(row).document, document))
        changes.set(name, (changes.get(name) ?? 0) + 1);
    }
    if (sample.size === 0) break;
  }
  const [field = "", items = 0] = [...changes].sort((a, b) => b[1] - a[1])[0] ?? [];
  return items > 0 ? { field, items, compared } : null;
}

function sampleOf(files: readonly string[], wants: TwoListings["wants"]): Map<string, JsonObject> {
  const sample = new Map<string, JsonObject>();
  for (const file of files) {
    using rows = new RawRows(file);
    for (const [row, id] of rows.ids.entries()) {
      if (sample.size === MAX_COMPARED) return sample;
      const { document } = rows.view(row);
      if (wants({ event: document.body_type === "event" })) sample.set(id, document);
    }
  }
  return sample;
}
