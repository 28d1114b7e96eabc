/** Single items of the run before that stand in for requests: which there are, how long for, and the copies of them. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { Drift, type KeptDrift } from "./drift.ts";
import { EXTRACT_FILE, readExtractRecord } from "./extract-record.ts";
import { NO_FINGERPRINT, reusablePart } from "./fingerprint.ts";
import { noteUnknown, type Position } from "./prepare.ts";
import { fingerprintsIn, NOT_REUSED, type RawDocument, type RawRows, type Reuse } from "./raw-file.ts";

/** Where a document lies that may be reused. */
export interface Reusable {
  /** Absolute path of a raw file. */
  readonly file: string;
  readonly row: number;
  /** Microseconds since 1970 UTC: its answer's `Date`. */
  readonly observedAt: number;
}

export interface ReusableItems {
  /** The run that has them. */
  readonly run: string;
  /** By fingerprint, of which the item's ID is a part. */
  readonly documents: ReadonlyMap<string, Reusable>;
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
}

/** Which of a run's files {@link readReusable} reads. */
export function isReusedFrom(path: string): boolean {
  return path === FACTS || path.startsWith("raw/item/");
}

const FACTS = `raw/${EXTRACT_FILE}`;

/** What can be reused of a run, with the settings that it was made by. Undefined: the run has no raw documents. */
export async function readReusable({ run, directory, paths }: RunBefore) {
  if (!paths.includes(FACTS)) return undefined;
  const record = await readExtractRecord(join(directory, FACTS));
  const documents = new Map<string, Reusable>();
  for (const path of paths.filter((each) => each !== FACTS)) {
    const file = join(directory, path);
    for (const [row, { fingerprint, observedAt }] of fingerprintsIn(file).entries()) {
      const known = documents.get(fingerprint)?.observedAt ?? Number.NEGATIVE_INFINITY;
      if (fingerprint !== NO_FINGERPRINT && observedAt >= known)
        documents.set(fingerprint, { file, row, observedAt });
    }
  }
  const { detailsRejected, detailsGone, documentSettings: settings } = record;
  return { run, documents, failed: new Set([...detailsRejected, ...detailsGone]), settings };
}

const DAY_MICROS = 24 * 60 * 60 * 1_000_000;

/**
 * Whether an item that was read at one time is to be read anew at another: within `days`, each at a time of its own, so
 * that as many are due in each night. Also where the service's clock went back: then nobody knows how old the document
 * is. Times are microseconds since 1970, by the answers' `Date`.
 */
export function isDue(
  id: string,
  { readAt, now, days }: { readonly readAt: number; readonly now: number; readonly days: number },
): boolean {
  if (days === 0 || now < readAt) return true;
  const period = days * DAY_MICROS;
  const shift = (Buffer.from(hash("sha256", id, "buffer")).readUInt32BE() / 2 ** 32) * period;
  const turnOf = (time: number) => Math.floor((time + shift) / period);
  return turnOf(now) !== turnOf(readAt);
}

/** What a single-item answer keeps, so that it can be reused. `drift`: all that was found in it. */
export function reuseOf(
  {
    document,
    at,
    drift,
  }: { readonly document: Record<string, unknown>; readonly at: Position; readonly drift: Drift },
  fingerprint: string,
): Reuse {
  const part = fingerprint === NO_FINGERPRINT ? undefined : reusablePart(document);
  if (part === undefined) return NOT_REUSED;
  const found = new Drift();
  noteUnknown("dynamic", part, at, found);
  const again = new Map(found.sorted().map(({ path, count }) => [path, count]));
  const kept = drift.sorted().map(({ example: _, ...entry }): KeptDrift => {
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
export function reusedCopy(
  rows: RawRows,
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
