/**
 * Documents of single items of the run before that replace requests. A fingerprint is a digest of an item's dynamic
 * listing document: while it stays the same, a run reuses a single-item document of an earlier run.
 */
import { hash } from "node:crypto";
import { DYNAMIC_COLUMNS, isDynamicColumn } from "../api/dynamic.ts";
import { withoutSignature } from "../api/signed-url.ts";
import type { JsonObject } from "../common/json.ts";
import type { Shape, UnknownField } from "./document.ts";
import { Drift, type ResponseDrift } from "./drift.ts";
import type { DocumentPosition } from "./prepare.ts";
import { NOT_REUSED, type RawDocument, type RawFileReader } from "./raw-file.ts";
import { pathOf, unknownFields } from "./unknown-fields.ts";

/** Hexadecimal digits of the first part, which single-item documents have too. */
const COMMON_LENGTH = 16;

/**
 * Digests of a prepared document in lower-case hexadecimal: first of its default set, then of all members and `settings`.
 * The order of members, the signatures of URLs and columns that change without an edit do not count. `settings`: digest of
 * the settings that decide what a single-item document becomes.
 */
export function fingerprintOf(document: JsonObject, settings: string): string {
  const { common, rest } = textsOf(document);
  const commonDigest = hash("sha256", common).slice(0, COMMON_LENGTH);
  return commonDigest + hash("sha256", `${settings}\n${common}\n${rest}`);
}

/** The members of the default set that have a value, and all others. */
function textsOf(document: JsonObject): { readonly common: string; readonly rest: string } {
  const common: string[] = [];
  const rest: string[] = [];
  for (const name of Object.keys(document).sort()) {
    const column = isDynamicColumn(name) ? DYNAMIC_COLUMNS[name] : undefined;
    if (column?.changesWithoutEdit !== undefined) continue;
    const value = document[name];
    const texts = column?.defaultSet === true && value !== null ? common : rest;
    texts.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
  }
  return { common: withoutSignature(common.join()), rest: withoutSignature(rest.join()) };
}

/**
 * The members of a single-item document that a later run reuses: those that listings do not have, `id` and `updated_at`.
 * `undefined` if one holds a signed URL, which expires.
 */
export function reusablePart(document: JsonObject): JsonObject | undefined {
  const isKept = (name: string) =>
    !isDynamicColumn(name) || DYNAMIC_COLUMNS[name].singleItemOnly || name === "id" || name === "updated_at";
  const part = Object.fromEntries(Object.entries(document).filter(([name]) => isKept(name)));
  const text = JSON.stringify(part);
  return withoutSignature(text) === text ? part : undefined;
}

export interface ReusableDocument {
  /** Absolute path of a raw file. */
  readonly file: string;
  readonly row: number;
  /** Start of the run that read it, in milliseconds since 1970 UTC. */
  readonly readAt: number;
}

/** Unknown fields of a prepared document, counted as {@link documentPreparer} does. */
function noteUnknown(shape: Shape, document: JsonObject, at: DocumentPosition, drift: Drift): UnknownField[] {
  const unknown = unknownFields(shape, document);
  for (const { path, value } of unknown)
    drift.note(pathOf(path), "unknown_field", at.order, at.contentId, value);
  return unknown;
}

/** The reuse record of a single-item document. `drift`: all drift of the response. */
export function reuseRecord(
  document: JsonObject,
  fingerprint: string,
  at: DocumentPosition,
  drift: Drift,
): RawDocument["reuse"] {
  // Whether the document agrees with the listing of the fingerprint in the default set, which both have.
  const agrees = fingerprint.startsWith(hash("sha256", textsOf(document).common).slice(0, COMMON_LENGTH));
  const part = agrees ? reusablePart(document) : undefined;
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

/**
 * Copies a document of an earlier run; the copy keeps its `observed_at`. The personal-data policy was applied then. Counts
 * the document's drift in `drift`. Throws a TypeError if the row belongs to another item.
 */
export function copyReusable(
  rows: RawFileReader,
  { row, run }: { readonly row: number; readonly run: string },
  {
    order,
    ...place
  }: Pick<RawDocument, "contentId" | "pass" | "page" | "position"> & { readonly order: number },
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
