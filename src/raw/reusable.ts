/** Single items of the run before that stand in for requests: which there are, how long for, and the copies of them. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { Drift, type ResponseDrift } from "./drift.ts";
import { EXTRACT_FILE, readExtractRecord } from "./extract-record.ts";
import { NO_FINGERPRINT, reusablePart } from "./fingerprint.ts";
import { type DocumentPosition, noteUnknown } from "./prepare.ts";
import {
  fingerprintsIn,
  NOT_REUSED,
  type RawDocument,
  type RawFileReader,
  type ReuseRecord,
} from "./raw-file.ts";

/** Where a document lies that may be reused. */
export interface ReusableDocument {
  /** Absolute path of a raw file. */
  readonly file: string;
  readonly row: number;
  /** Milliseconds since 1970 UTC: start of the run that read it. */
  readonly readAt: number;
}

export interface ReusableItems {
  /** The run that has them. */
  readonly run: string;
  /** By fingerprint, of which the item's ID is a part. */
  readonly documents: ReadonlyMap<string, ReusableDocument>;
  /** IDs of items that were asked for singly in vain: they could not be read, or were gone. */
  readonly failed: ReadonlySet<string>;
}

/** A published run, and the files of its folder `raw`. */
export interface RunBefore {
  readonly run: string;
  /** Absolute path of its folder. */
  readonly directory: string;
  /** Paths in it, proven to be as they were published. */
  readonly paths: readonly string[];
  /** When a run began, by the clock of its machine, in milliseconds since 1970 UTC; blank: the one that read the files. */
  readonly startOf: (run: string) => number;
}

/** Which of a run's files {@link readReusable} reads. */
export function isReuseFile(path: string): boolean {
  return path === FACTS || path.startsWith("raw/item/");
}

const FACTS = `raw/${EXTRACT_FILE}`;

/** What can be reused of a run, with the settings that it was made by. Undefined: the run has no raw documents. */
export async function readReusable({ run, directory, paths, startOf }: RunBefore) {
  if (!paths.includes(FACTS)) return undefined;
  const record = await readExtractRecord(join(directory, FACTS));
  const documents = new Map<string, ReusableDocument>();
  for (const path of paths.filter((each) => each !== FACTS)) {
    const file = join(directory, path);
    for (const [row, { fingerprint, readByRun }] of fingerprintsIn(file).entries()) {
      const readAt = startOf(readByRun);
      const known = documents.get(fingerprint)?.readAt ?? Number.NEGATIVE_INFINITY;
      if (fingerprint !== NO_FINGERPRINT && readAt >= known)
        documents.set(fingerprint, { file, row, readAt });
    }
  }
  const { detailsRejected, detailsGone, documentSettings: settings } = record;
  return { run, documents, failed: new Set([...detailsRejected, ...detailsGone]), settings };
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Whether an item that a run read is to be read anew by another: within `days`, each at a time of its own, so that as
 * many are due in each night. Also where the clock went back: then nobody knows how old the document is. Times are the
 * starts of the runs, in milliseconds since 1970, by the clock of the machine: the service's may stand still.
 */
export function isRereadDue(
  id: string,
  { readAt, now, days }: { readonly readAt: number; readonly now: number; readonly days: number },
): boolean {
  if (days === 0 || now < readAt) return true;
  const period = days * DAY_MS;
  const shift = (Buffer.from(hash("sha256", id, "buffer")).readUInt32BE() / 2 ** 32) * period;
  const turnOf = (time: number) => Math.floor((time + shift) / period);
  return turnOf(now) !== turnOf(readAt);
}

/** What a single-item answer keeps, so that it can be reused. `drift`: all that was found in it. */
export function reuseRecord(
  {
    document,
    at,
    drift,
  }: { readonly document: Record<string, unknown>; readonly at: DocumentPosition; readonly drift: Drift },
  fingerprint: string,
): ReuseRecord {
  const part = fingerprint === NO_FINGERPRINT ? undefined : reusablePart(document);
  if (part === undefined) return NOT_REUSED;
  const found = new Drift();
  noteUnknown("dynamic", part, at, found);
  const again = new Map(found.sorted().map(({ path, count }) => [path, count]));
  const kept = drift.sorted().map(({ example: _, ...entry }): ResponseDrift => {
    const found = entry.kind === "unknown_field" ? (again.get(entry.path) ?? 0) : 0;
    return { ...entry, count: entry.count - found };
  });
  return { fingerprint, drift: kept.filter(({ count }) => count > 0), earlier: null };
}

/** Where a copy stands tonight. */
type CopyPlace = Pick<RawDocument, "contentId" | "pass" | "page" | "position"> & {
  readonly order: number;
};

/**
 * A copy of a document for tonight, observed when it was; the policy was applied to it then. What departs from the
 * specification in it is noted in `drift`. Throws a TypeError where the row is of another item.
 */
export function copyReusable(
  rows: RawFileReader,
  { row, run }: { readonly row: number; readonly run: string },
  { order, ...place }: CopyPlace,
  drift: Drift,
): RawDocument {
  const { contentId } = place;
  const { document: whole, shape, observedAt, largeNumbers, reuse } = rows.reusable(row, run);
  const document = rows.ids[row] === contentId ? reusablePart(whole) : undefined;
  if (document === undefined) throw new TypeError(`row ${row} cannot be reused for ${contentId}`);
  const unknown = noteUnknown("dynamic", document, { order, contentId }, drift);
  for (const kept of reuse.drift) drift.add({ ...kept, order: kept.order === 0 ? 0 : order, example: null });
  return {
    ...place,
    mode: "item",
    whole: false,
    view: { shape, order, observedAt },
    unknownFields: unknown.length,
    largeNumbers,
    reuse,
    document: [Buffer.from(JSON.stringify(document))],
  };
}
