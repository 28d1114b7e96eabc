/**
 * The extract record, `raw/extract.json`: the facts of a run that its raw documents do not hold. The tables are built from
 * both. Lists of IDs are sorted.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { WarehouseError } from "../common/errors.ts";
import { parseIfJson } from "../common/json.ts";
import { compareUtf8 } from "../common/utf8-order.ts";
import type { Verdict } from "../common/verdict.ts";
import { driftEntry } from "./drift.ts";
import { PERSONAL_POLICIES } from "./personal/policy.ts";

export const EXTRACT_FILE = "extract.json";

const VERSION = 3;

const count = z.number().int().nonnegative();
const ids = z.array(z.string()).readonly();
const instant = z.iso.datetime({ precision: 3 });
const shape = z.enum(["dynamic", "full"]);
const perPage = z.number().int().positive();
const destination = z.strictObject({ name: z.string(), platform: z.string() });

/** A pass as in `run_passes` and in the manifest. Instants are milliseconds since 1970. */
const pass = z.strictObject({
  pass: z.number().int().positive(),
  mode: z.string(),
  pages: count,
  perPage: z.number(),
  pagesAnnounced: z.number(),
  rows: count,
  distinctItems: count,
  duplicates: count,
  /** The service's own total, on the first and on the last page. */
  countBefore: z.number(),
  countAfter: z.number(),
  digest: z.string(),
  clean: z.boolean(),
  reason: z.string().nullable(),
  startedMs: z.number(),
  endedMs: z.number(),
});

/** Settings that decide what a single-item document becomes. */
const DOCUMENT_SETTINGS = ["version", "policy", "hashKey", "aliases", "personalFields", "columns"] as const;
/** A digest of each setting. A document is reused while all are the same. */
const documentSettings = z.record(z.enum(DOCUMENT_SETTINGS), z.string());

/** What became of the items. */
const items = z.strictObject({
  /** Number of items that any pass listed, and of `unlisted` ones. */
  count,
  /** Listed documents that are not items, of the pass that had most of them: without an ID, passes cannot be added up. */
  rejected: count,
  /** Listed documents that are not items, of the last pass. */
  rejectedLast: count,
  /** Listed items that then returned 404 or 410. Their documents do not count. */
  vanished: ids,
  /** Items on the pages of a limited run beyond its limit. Their documents do not count. */
  beyond: ids,
  /** Items of the run before that no pass listed and that returned 404 or 410. Their documents do not count. */
  removed: ids,
  /** Items of the run before that no pass listed, but that the service returned. */
  unlisted: ids,
  /** Items of the run before that no pass listed. `notAsked`: why none was requested; `skipped`: after too many rejects. */
  missing: z.strictObject({ count, notAsked: z.string().nullable(), skipped: ids }),
  /** Items that returned 404 or 410 when they were requested singly. */
  singlyGone: ids,
  /** Items that could not be read singly: each is a reject. */
  singlyRejected: ids,
  /** Items that were requested again because passes differed. */
  repaired: count,
  /** Listed items without a document: rejected ones, and ones listed so late and so many that they were not requested. */
  unread: z.strictObject({ rejected: count, notAsked: count }),
  /** Items with a document in only one mode, because the other one was rejected. */
  inPartRejected: ids,
  /** Items with a document in only one mode, because the other one was not requested. The run is unsettled. */
  inPartNotAsked: ids,
});

/** What the passes showed. */
const reading = z.strictObject({
  passes: z.array(pass).readonly(),
  /** Why the passes do not certify the run; empty if they agree. */
  disagreements: z.array(z.string()).readonly(),
  /** Whether documents of the same version have different times in the two modes. */
  modesDiffer: z.boolean(),
  /** Single items that were requested after the dynamic listing, and documents of earlier runs that replaced such requests. */
  singleItems: z.strictObject({ requested: count, reused: count }),
  /** Why nothing of the run before was reused, as a clause; `null` if nothing is wrong. */
  reuseDamage: z.string().nullable(),
  /** Items a page, by mode. Smaller than configured if pages were too large. */
  pageSizes: z.strictObject({
    dynamic: perPage.optional(),
    full: perPage.optional(),
    basic: perPage.optional(),
  }),
});

/** The larger limit applies. `share`: of all items, from 0 to 1. */
const rejectLimits = z.strictObject({ share: z.number(), items: count });
export type RejectLimits = Readonly<z.infer<typeof rejectLimits>>;

/** What was asked of a run: all settings that decide its documents, and whether it may be published. */
export const askedForm = z.strictObject({
  /** `module`: name of a pipeline of the package or URL of a file; `null` if neither. */
  pipeline: z.strictObject({ name: z.string(), module: z.string().nullable() }),
  /** Scheme, host, port and path of the service; `sample`. */
  origin: z.string(),
  /** Fingerprint of the configuration. */
  configuration: z.string(),
  shapes: z.array(shape).readonly(),
  /** Columns of the dynamic set, by their names at the service. */
  columns: z.array(z.string()).readonly(),
  singleItems: z.enum(["none", "events", "all"]),
  /** Destinations that were looked up by name. */
  destinations: z.array(destination).readonly(),
  /** Whether these are all destinations of the service. */
  allDestinations: z.boolean(),
  /** Destinations without warnings, as configured. */
  ignoreDestinations: z.array(z.string()).readonly(),
  /** Fields of items beyond the specification that `content_wide` has columns for. */
  extraColumns: z.array(z.string()).readonly(),
  /** Whether definitions of custom fields were requested. */
  definitions: z.boolean(),
  /** Custom fields that the configuration names. */
  customFields: z.array(z.string()).readonly(),
  /** Name of a field at the service to its name in the specification. */
  aliases: z.record(z.string(), z.string()),
  /** Items a page. */
  perPage: z.union([perPage, z.literal("auto")]),
  /** Items of a limited run; `null` if there is no limit. */
  limit: z.number().int().positive().nullable(),
  personalData: z.strictObject({
    policy: z.enum(PERSONAL_POLICIES),
    keyId: z.string().nullable(),
    /** Sorted IDs of the custom fields that were treated as personal. */
    customFieldIds: z.array(z.string()).readonly(),
  }),
  documentSettings,
  /** The limits of this run for publication. */
  gates: z.strictObject({
    contract: z.enum(["evolve", "freeze"]),
    maxRejects: rejectLimits.nullable(),
    maxShrinkPercent: z.number().nonnegative(),
    minShrink: count,
  }),
  /** What was accepted explicitly for this run. */
  accepted: z.strictObject({ shrink: z.boolean(), newAddress: z.boolean(), lost: z.boolean() }),
});

/** What was found while the service was read. */
export const foundForm = reading.extend({
  startedAt: instant,
  /** When the run was resumed. */
  resumedAt: z.array(instant).readonly(),
  /** Time of the last response. */
  extractedAt: instant,
  /** Answered requests, and the bytes of all bodies as received; in a replay, those of the run that was built again. */
  requests: z.strictObject({ count, bytes: count }),
  /** The rate that the service allows, and the number of refused requests; `null` if there were none. The next run starts with it. */
  throttled: z.strictObject({ ratePerSecond: z.number().nullable(), refused: count }).nullable(),
  /** Number and length of outages since the run was started or resumed; `null` if there were none. */
  outages: z.strictObject({ count, seconds: z.number().nonnegative() }).nullable(),
});

/** What the lookups did not find. */
const unmatched = z.strictObject({
  destinations: z.array(destination).readonly(),
  /** Returned without being requested, by a service that searches more loosely. */
  otherDestinations: z
    .array(z.strictObject({ name: z.string(), platform: z.string().nullable() }))
    .readonly(),
  /** Names without a definition. */
  customFields: z.array(z.string()).readonly(),
});

const extractRecord = z.strictObject({
  version: z.literal(VERSION),
  asked: askedForm,
  found: foundForm,
  items,
  unmatched,
  /** Items with a rejected response, and items that were skipped because of these. */
  unreadable: ids,
  /** Whether a listed document had no ID. */
  rejectedWithoutId: z.boolean(),
  /** Drift that was found when the documents landed. */
  drift: z.array(driftEntry).readonly(),
  /** Bytes per item of each listing page, by pass. They decide where large tables are split. */
  bytesPerItem: z.record(z.string(), z.array(z.number().nonnegative()).readonly()),
});

export type PassRecord = Readonly<z.infer<typeof pass>>;
/** The result of the requests for items. */
export interface Extraction {
  readonly reading: Readonly<z.infer<typeof reading>>;
  readonly items: Readonly<z.infer<typeof items>>;
}
export type RunAsked = Readonly<z.infer<typeof askedForm>>;
export type RunFound = Readonly<z.infer<typeof foundForm>>;
export type ExtractRecord = Readonly<z.infer<typeof extractRecord>>;

/** IDs of items whose documents do not count. */
export function excludedItems({ items: { vanished, removed, beyond } }: ExtractRecord): readonly string[] {
  return [...vanished, ...removed, ...beyond];
}

/** By the passes. Contradicting documents are found only when they are transformed. */
export function verdictOfPasses({ asked, found }: Pick<ExtractRecord, "asked" | "found">): Verdict {
  if (asked.limit !== null) return "limited";
  return found.disagreements.length === 0 ? "complete" : "unsettled";
}

/** Sorted, each once. */
function sortedIds(list: readonly string[]): string[] {
  return [...new Set(list)].sort(compareUtf8);
}

/** Writes the file, readable only by its owner. Returns the record as a reader has it. */
export async function writeExtractRecord(
  file: string,
  stated: Omit<ExtractRecord, "version">,
): Promise<ExtractRecord> {
  const { items } = stated;
  const record = extractRecord.parse({
    ...stated,
    version: VERSION,
    items: {
      ...items,
      vanished: sortedIds(items.vanished),
      beyond: sortedIds(items.beyond),
      removed: sortedIds(items.removed),
      unlisted: sortedIds(items.unlisted),
    },
    unreadable: sortedIds(stated.unreadable),
  });
  const text = `${JSON.stringify(record)}\n`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, text, { mode: 0o600 });
  return record;
}

/** Throws `verify.failed` if the file is damaged. */
export async function readExtractRecord(file: string): Promise<ExtractRecord> {
  const record = extractRecord.safeParse(parseIfJson(await readFile(file, "utf8")));
  if (record.success) return record.data;
  throw new WarehouseError("verify.failed", `${file} is damaged.`, { cause: record.error });
}
