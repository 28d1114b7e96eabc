import type { PassRecord } from "../../raw/extract-record.ts";
import type { Pass } from "./listing.ts";

/** A pass as it is certified. `sorted`: the numbers of all items in the order of their IDs. */
export function passRecord(pass: Pass, sorted: Uint32Array): PassRecord {
  return {
    pass: pass.pass,
    mode: pass.mode,
    pages: pass.pages,
    perPage: pass.perPage,
    pagesAnnounced: pass.pagesAnnounced,
    rows: pass.rows,
    distinctItems: pass.snapshot.distinct,
    duplicates: pass.snapshot.duplicates,
    countBefore: pass.countBefore,
    countAfter: pass.countAfter,
    digest: pass.snapshot.digest(sorted),
    clean: pass.reasons.length === 0,
    reason: pass.reasons.length === 0 ? null : pass.reasons.join("; "),
    startedMs: pass.startedMs,
    endedMs: pass.endedMs,
  };
}
