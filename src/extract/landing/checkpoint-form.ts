/** Form of what a checkpoint keeps of a group of answers: parsed at the border, since a killed run wrote it. */
import { z } from "zod";
import { pagination } from "../../api/envelope.ts";
import { type DriftEntry, driftEntry, keptDrift } from "../../raw/drift.ts";
import type { SavedDocument, WrittenFile } from "../../raw/raw-file.ts";
import { requestRecord as record } from "../http/requests.ts";

/** Of the form: another one is not read. */
export const CHECKPOINT_VERSION = 9;

const count = z.number().int().nonnegative();
const place = z.number().int().positive();
/** `updated_at` to the second, as `toSecond` gives it; null where there is none. */
const updatedAt = z.string().nullable();
const shape = z.enum(["dynamic", "full"]);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const file: z.ZodType<WrittenFile> = z.strictObject({ bytes: count, sha256 });

const drift: z.ZodType<readonly DriftEntry[]> = z.array(driftEntry);

const reject = z.strictObject({
  mode: z.string(),
  pass: place,
  page: count,
  position: count,
  contentId: z.string().nullable(),
  reason: z.string(),
  document: z.string(),
});

const rejects: z.ZodType<readonly Reject[]> = z.array(reject);

/**
 * An item as a listing shows it; `position` on the page, from 0. `fingerprint`: of its dynamic document, where it is to
 * be asked for singly; else blank.
 */
const item = z.strictObject({
  id: z.string(),
  position: count,
  updatedAt,
  event: z.boolean(),
  fingerprint: z.string(),
});

const result = z.strictObject({
  answer: z.strictObject({ pagination }),
  rows: count,
  items: z.array(item),
  rejects,
  decodedBytes: count,
});

const document: z.ZodType<SavedDocument> = z.strictObject({
  contentId: z.string(),
  mode: z.enum(["dynamic", "full", "item"]),
  pass: place,
  page: count,
  position: count,
  whole: z.boolean(),
  view: z.strictObject({ shape, order: count, observedAt: z.number() }),
  unknownFields: count,
  largeNumbers: z.boolean(),
  reuse: z.strictObject({
    fingerprint: z.string(),
    drift: z.array(keptDrift),
    earlier: z.strictObject({ run: z.string(), sha256 }).nullable(),
  }),
  text: z.string(),
});

/** Names of the custom fields that documents carry. */
const fieldNames: z.ZodType<readonly string[]> = z.array(z.string());

const singleKey = z.strictObject({ id: z.string(), shape });

const savedAnswer = z.strictObject({
  /** That the answer is, or that listed the item. */
  page: count,
  /** Null: the answer is a page. */
  single: singleKey.nullable(),
  documents: z.array(document),
  drift,
  fieldNames,
});

const page = z.strictObject({
  page: place,
  result,
  record,
  /** What else came of a page that was read in parts; null: it was read as one. */
  split: z
    .strictObject({
      /** Of the requests after the first. */
      records: z.array(record),
      /** Of items that are listed. */
      rejects,
      /** Items that are listed, and that no answer gave a document of. */
      unread: z.array(z.string()),
    })
    .nullable(),
});

/** Pages of a group of a listing, in their order. */
const readGroup = z.strictObject({
  /** Of the pass; milliseconds since 1970. */
  startedMs: z.number(),
  /** Items a page that were asked for. */
  perPage: place,
  pagesPerGroup: place,
  pages: z.array(page).min(1),
});

const singleRead = singleKey.extend({
  gone: z.boolean(),
  /** Null: the answer could not be read. */
  read: z.strictObject({ updatedAt }).nullable(),
  rejects,
  /** Null: the service refused the request, or failed at it, or was not asked. */
  record: record.nullable(),
  /** When an earlier run was given the document that stands in for an answer, in microseconds; null: it was asked for. */
  reusedFrom: z.number().nullable(),
});

/** Answers for single items: of some groups of pages (see `groupOfSingles`), or that were repaired together. */
const readSingles = z.strictObject({ answers: z.array(singleRead) });

/** Of a group whose documents are written; `file` is the raw file of its documents, null where it has none. */
const closed = z.strictObject({ file: file.nullable(), drift, fieldNames });
/** Of a group that was not answered completely when it was saved: what landed of it waits here for the rest. */
const open = z.strictObject({ landed: z.array(savedAnswer) });
/** Says that all groups of a stage are there; `endedMs` in milliseconds since 1970. */
const end = z.strictObject({ groups: count, endedMs: z.number() });

const version = { version: z.literal(CHECKPOINT_VERSION) };

export const forms = {
  listed: readGroup.extend({ ...closed.shape, ...version }),
  openListed: readGroup.extend({ ...open.shape, ...version }),
  single: readSingles.extend({ ...closed.shape, ...version }),
  openSingle: readSingles.extend({ ...open.shape, ...version }),
  end: end.extend(version),
};

export type Reject = Readonly<z.infer<typeof reject>>;
export type ListedItem = Readonly<z.infer<typeof item>>;
export type PageResult = Readonly<z.infer<typeof result>>;
export type SingleKey = Readonly<z.infer<typeof singleKey>>;
export type SavedAnswer = Readonly<z.infer<typeof savedAnswer>>;
export type PageRead = z.infer<typeof page>;
export type ReadGroup = z.infer<typeof readGroup>;
export type SingleRead = z.infer<typeof singleRead>;
export type ReadSingles = z.infer<typeof readSingles>;
export type Closed = z.infer<typeof closed>;
export type Open = z.infer<typeof open>;
/** What a checkpoint keeps of a group of a listing, or of single items. */
export type ListedGroup = ReadGroup & (Closed | Open);
export type SingleGroup = ReadSingles & (Closed | Open);
export type StageEnd = z.infer<typeof end>;

/** Whether the documents of a group wait for further answers. */
export function isOpen<Group extends Open>(group: Group | Closed): group is Group {
  return "landed" in group;
}
