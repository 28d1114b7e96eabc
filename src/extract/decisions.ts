/** What extraction decided and the raw documents do not say, for those who read them again. */

import type { ExtractRecord } from "../raw/extract-record.ts";
import type { ItemIndex } from "../raw/item-index.ts";
import type { Extraction } from "./extract.ts";
import type { Journal } from "./journal.ts";

/** Of a run that has all its answers; `nowMs` is the time of the last, in milliseconds since 1970. */
export function decisionsOf(
  { disagreements, vanished, removed }: Pick<Extraction, "disagreements" | "vanished" | "removed">,
  { rejects }: Pick<Journal, "rejects">,
  { pages }: Pick<ItemIndex, "pages">,
  nowMs: number,
): Omit<ExtractRecord, "version"> {
  const rejected = rejects.map(({ contentId }) => contentId);
  return {
    extractedAt: new Date(nowMs).toISOString(),
    verdict: disagreements.length === 0 ? "complete" : "unsettled",
    disagreements: [...disagreements],
    vanished: [...vanished],
    removed: [...removed],
    rejected: rejected.filter((id) => id !== null),
    rejectedWithoutId: rejected.includes(null),
    bytesPerItem: Object.fromEntries([...pages].map(([pass, bytes]) => [pass, [...bytes]])),
  };
}
