/** Form of what a checkpoint keeps of a group of answers: parsed at the border, since a killed run wrote it. */
import { z } from "zod";
import { pagination } from "../../api/envelope.ts";
import { DRIFT_KINDS, type DriftEntry } from "../../raw/drift.ts";
import type { WrittenFile } from "../../raw/raw-file.ts";
import type { RequestRecord } from "../http/requests.ts";
import type { PageResult, Reject, SavedAnswer, SingleKey } from "./tasks.ts";

/** A page of a listing as it was read. */
export interface PageRead {
  readonly page: number;
  readonly result: PageResult;
  readonly record: RequestRecord;
  /** Null: the page was read as one. */
  readonly split: SplitRead | null;
}

/** What else came of a page that was read in parts. */
export interface SplitRead {
  /** Of the requests after the first. */
  readonly records: readonly RequestRecord[];
  /** Of items that are listed. */
  readonly rejects: readonly Reject[];
  /** Items that are listed, and that no answer gave a document of. */
  readonly unread: readonly string[];
}

/** Pages of a group of a listing, in their order. */
export interface ReadGroup {
  /** Of the pass; milliseconds since 1970. */
  readonly startedMs: number;
  readonly pagesPerGroup: number;
  /** Items a page that were asked for. */
  readonly perPage: number;
  readonly pages: readonly PageRead[];
}

/** A group whose documents are written. */
export interface Closed {
  /** The raw file of its documents; null: it has none. */
  readonly file: WrittenFile | null;
  readonly drift: readonly DriftEntry[];
  /** Names of the custom fields that its documents carry. */
  readonly fieldNames: readonly string[];
}

/** A group that was not answered completely when it was saved: what landed of it waits here for the rest. */
export interface Open {
  readonly landed: readonly SavedAnswer[];
}

export interface ListedGroup extends ReadGroup, Closed {}
export interface OpenListedGroup extends ReadGroup, Open {}

/** What came of a request for a single item. */
export interface SingleRead extends SingleKey {
  readonly gone: boolean;
  /** Null: the answer could not be read. */
  readonly read: { readonly updatedAt: string | null } | null;
  readonly rejects: readonly Reject[];
  /** Null: the service refused the request, or failed at it. */
  readonly record: RequestRecord | null;
}

/** Answers for single items: of some groups of pages (see `groupOfSingles`), or that were repaired together. */
export interface ReadSingles {
  readonly answers: readonly SingleRead[];
}

export interface SingleGroup extends ReadSingles, Closed {}
export interface OpenSingleGroup extends ReadSingles, Open {}

/** Says that all groups of a stage are there. */
export interface StageEnd {
  readonly groups: number;
  /** Milliseconds since 1970. */
  readonly endedMs: number;
}

/** Of the form: another one is not read. */
export const CHECKPOINT_VERSION = 6;

const count = z.number().int().nonnegative();
const place = z.number().int().positive();
const version = z.literal(CHECKPOINT_VERSION);
const updatedAt = z.string().nullable();

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const file = z.strictObject({ bytes: count, sha256 }).nullable();

const drift = z.array(
  z.strictObject({
    path: z.string(),
    kind: z.enum(DRIFT_KINDS),
    count: place,
    order: count,
    contentId: z.string().nullable(),
    example: z.string().nullable(),
  }),
);

const record = z.strictObject({
  mode: z.enum(["dynamic", "full", "basic", "item", "destinations", "custom_fields"]),
  pass: place.nullable(),
  page: count.nullable(),
  nextPage: z.number().nullable(),
  previousPage: z.number().nullable(),
  contentId: z.string().nullable(),
  status: count,
  attempts: count,
  bytes: count,
  milliseconds: z.number(),
  observedAt: z.number(),
  sha256,
});

const rejects = z.array(
  z.strictObject({
    mode: z.string(),
    pass: place,
    page: count,
    position: count,
    contentId: z.string().nullable(),
    reason: z.string(),
    document: z.string(),
  }),
);

const item = z.strictObject({ id: z.string(), position: count, updatedAt, event: z.boolean() });

const result = z.strictObject({
  answer: z.strictObject({ pagination }),
  rows: count,
  items: z.array(item),
  rejects,
  decodedBytes: count,
});

const single = { id: z.string(), shape: z.enum(["dynamic", "full"]) };

const document = z.strictObject({
  contentId: z.string(),
  mode: z.enum(["dynamic", "full", "item"]),
  pass: place,
  page: count,
  position: count,
  whole: z.boolean(),
  view: z.strictObject({ shape: z.enum(["dynamic", "full"]), order: count, observedAt: z.number() }),
  unknownFields: count,
  largeNumbers: z.boolean(),
  text: z.string(),
});

const fieldNames = z.array(z.string());
const closed = { version, file, drift, fieldNames };
const landed = z.strictObject({
  page: count,
  single: z.strictObject(single).nullable(),
  documents: z.array(document),
  drift,
  fieldNames,
});
const open = { version, landed: z.array(landed) };

const split = z.strictObject({ records: z.array(record), rejects, unread: z.array(z.string()) }).nullable();

const pages = {
  startedMs: z.number(),
  perPage: place,
  pagesPerGroup: place,
  pages: z.array(z.strictObject({ page: place, result, record, split })).min(1),
};

const answer = z.strictObject({
  ...single,
  gone: z.boolean(),
  read: z.strictObject({ updatedAt }).nullable(),
  rejects,
  record: record.nullable(),
});

const singles = { answers: z.array(answer) };
const end = z.strictObject({ version, groups: count, endedMs: z.number() });

export const forms: Forms = {
  listed: z.strictObject({ ...closed, ...pages }),
  openListed: z.strictObject({ ...open, ...pages }),
  single: z.strictObject({ ...closed, ...singles }),
  openSingle: z.strictObject({ ...open, ...singles }),
  end,
};

interface Forms {
  readonly listed: z.ZodType<ListedGroup>;
  readonly openListed: z.ZodType<OpenListedGroup>;
  readonly single: z.ZodType<SingleGroup>;
  readonly openSingle: z.ZodType<OpenSingleGroup>;
  readonly end: z.ZodType<StageEnd>;
}
