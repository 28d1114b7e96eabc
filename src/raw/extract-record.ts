/**
 * The facts of a run that its raw documents do not say: `raw/extract.json`, version 2. Its tables are built from these
 * and from the documents, and from nothing else that was landed. Keys and IDs are sorted.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { WarehouseError } from "../common/errors.ts";
import { parseIfJson } from "../common/json.ts";
import { compareUtf8 } from "../common/utf8-order.ts";
import { VERDICTS } from "../common/verdict.ts";
import { driftEntry } from "./drift.ts";
import { PERSONAL_POLICIES } from "./personal/policy.ts";

export const EXTRACT_FILE = "extract.json";

const VERSION = 2;

const count = z.number().int().nonnegative();
const ids = z.array(z.string()).readonly();
const instant = z.iso.datetime({ precision: 3 });
const shape = z.enum(["dynamic", "full"]);
const perPage = z.number().int().positive();
const destination = z.strictObject({ name: z.string(), platform: z.string() });

/** A pass as it is certified: in `run_passes` and in the manifest. Instants are milliseconds since 1970. */
const pass = z.strictObject({
  pass: z.number().int().positive(),
  mode: z.string(),
  pages: count,
  perPage: z.number(),
  pagesAnnounced: z.number(),
  rows: count,
  distinctItems: count,
  duplicates: count,
  /** The service's own totals, on the first and the last page. */
  countBefore: z.number(),
  countAfter: z.number(),
  digest: z.string(),
  clean: z.boolean(),
  reason: z.string().nullable(),
  startedMs: z.number(),
  endedMs: z.number(),
});

/** What decides, besides the answer, what a single-item document becomes. */
const DOCUMENT_SETTINGS = ["version", "policy", "hashKey", "aliases", "personalFields", "columns"] as const;
/** A digest of each: a document is reused while all are the same. */
const documentSettings = z.record(z.enum(DOCUMENT_SETTINGS), z.string());
export type DocumentSettings = Readonly<z.infer<typeof documentSettings>>;

/** What came of the requests for items. */
const extraction = z.strictObject({
  passes: z.array(pass).readonly(),
  /** Why the run is unsettled, in sentences; empty: the passes agree. */
  disagreements: z.array(z.string()).readonly(),
  /** Whether dynamic and full documents have other times though they are of the same version. */
  modesDiffer: z.boolean(),
  /** All items that any pass listed, and those of `unlisted`. */
  items: count,
  /**
   * Listed documents that are no items, of the pass that had most of them: without an ID they cannot be told from those
   * of another pass, so there are at least as many.
   */
  rejected: count,
  /** Those of the last pass. */
  rejectedLast: count,
  /** Items that were listed and are gone, by the word of a single-item request. Their documents do not count. */
  vanished: ids,
  /** Items that the pages of a limited run had besides the first ones. Their documents do not count. */
  beyond: ids,
  /** Items of the run before that no pass listed, and that are gone by such a word. Nor do documents of theirs count. */
  removed: ids,
  /** Items of the run before that no pass listed, and that the service has all the same. */
  unlisted: ids,
  /**
   * Items of the run before that no pass listed, and why none was asked for singly; null: all were, but for those that
   * were `skipped` after too many that could not be read.
   */
  missing: z.strictObject({ count, notAsked: z.string().nullable(), skipped: ids }),
  /** Requests for items whose fields only single-item requests give. */
  detailsAsked: count,
  /** Documents of earlier runs that stood in for such requests. */
  detailsReused: count,
  /** What is wrong with the run before, so that none of it was reused, in a clause; null: nothing. */
  reuseDamage: z.string().nullable(),
  /** Items that the service then said are gone. */
  detailsGone: ids,
  /** And those that could not be had: each is a reject. */
  detailsRejected: ids,
  /** Items that were asked for again, because passes differed. */
  repaired: count,
  /**
   * Items that were listed, and that there is no document of: those that the service refused to give, and those that were
   * listed so late, and were so many, that no request asked for them.
   */
  unread: z.strictObject({ rejected: count, notAsked: count }),
  /** Items that there is a document of in one mode, because the service refused the other one. */
  inPartRejected: ids,
  /** And those of which nobody asked for the other one: the list moved until the end, and the run is unsettled. */
  inPartNotAsked: ids,
  /** Items a page that were asked for in the end: fewer than the configuration says where pages were too large. */
  pageSizes: z.strictObject({
    dynamic: perPage.optional(),
    full: perPage.optional(),
    basic: perPage.optional(),
  }),
});

/** What was asked for: tables are judged by it, and a pipeline that needs more cannot be built from these documents. */
const asked = z.strictObject({
  shapes: z.array(shape).readonly(),
  /** Of the dynamic set, by their names at the service. */
  columns: z.array(z.string()).readonly(),
  singleItems: z.enum(["none", "events", "all"]),
  destinations: z.array(destination).readonly(),
  /** Whether these are all that the service has: then nobody can name a further one. */
  allDestinations: z.boolean(),
  /** Destinations that nobody is warned of, as the configuration names them. */
  ignoreDestinations: z.array(z.string()).readonly(),
  /** Whether definitions of custom fields were. */
  definitions: z.boolean(),
  /** Custom fields that the configuration names, besides those that items carry. */
  customFields: z.array(z.string()).readonly(),
  /** Name of a field at the service to its name in the specification. */
  aliases: z.record(z.string(), z.string()),
  /** Items a page. */
  perPage: z.union([perPage, z.literal("auto")]),
});

/** What keeps a run from being published, as it was settled that night: its checks are judged by it. */
const gates = z.strictObject({
  contract: z.enum(["evolve", "freeze"]),
  maxRejects: z.strictObject({ share: z.number(), items: count }).nullable(),
  maxShrinkPercent: z.number().nonnegative(),
  minShrink: count,
});

/** What the lookups did not find as it was asked for. */
const unmatched = z.strictObject({
  destinations: z.array(destination).readonly(),
  /** Answered without being asked for, by a service that searches more loosely. */
  otherDestinations: z
    .array(z.strictObject({ name: z.string(), platform: z.string().nullable() }))
    .readonly(),
  /** Names without a definition. */
  customFields: z.array(z.string()).readonly(),
});

const extractRecord = extraction.extend({
  version: z.literal(VERSION),
  /** `module`: the name of a pipeline of the package, or the URL of a file; null: it is neither. */
  pipeline: z.strictObject({ name: z.string(), module: z.string().nullable() }),
  /** Scheme, host, port and path of the service; `sample`. */
  origin: z.string(),
  /** Fingerprint of the configuration. */
  configuration: z.string(),
  startedAt: instant,
  /** When the run was resumed. */
  resumedAt: z.array(instant).readonly(),
  /** When the last answer was there. */
  extractedAt: instant,
  asked,
  unmatched,
  gates,
  personalData: z.strictObject({
    policy: z.enum(PERSONAL_POLICIES),
    keyId: z.string().nullable(),
    /** Of the custom fields that were treated as personal, in order. */
    customFieldIds: z.array(z.string()).readonly(),
  }),
  documentSettings,
  /** What a person said of this run. */
  accepted: z.strictObject({ shrink: z.boolean(), newAddress: z.boolean() }),
  /** By the passes: documents that contradict each other are found when they are transformed. */
  verdict: z.enum(VERDICTS),
  /** Items that were to be read, the first that are listed; null: all. */
  limit: z.number().int().positive().nullable(),
  /** Items of which some answer could not be read, and those that were skipped because of them. */
  unreadable: ids,
  /** Whether something was listed that has no ID. */
  rejectedWithoutId: z.boolean(),
  /** Found while the documents landed. */
  drift: z.array(driftEntry).readonly(),
  /** That were answered, and the bytes of all bodies as they came. */
  requests: z.strictObject({ count, bytes: count }),
  /** The rate that the service was found to allow, and how many requests it refused; null: it refused none. */
  throttled: z.strictObject({ ratePerSecond: z.number().nullable(), refused: count }).nullable(),
  /** How often and how long the service was out, since the run was started or resumed; null: never. */
  outages: z.strictObject({ count, seconds: z.number().nonnegative() }).nullable(),
  /** By pass: bytes that an item takes on each page of a listing, from the first on. They decide where large tables are cut. */
  bytesPerItem: z.record(z.string(), z.array(z.number().nonnegative()).readonly()),
});

export type PassRecord = Readonly<z.infer<typeof pass>>;
export type Extraction = Readonly<z.infer<typeof extraction>>;
export type ExtractRecord = Readonly<z.infer<typeof extractRecord>>;

/** IDs of items of which documents may have landed that do not count. */
export function excludedItems({ vanished, removed, beyond }: ExtractRecord): readonly string[] {
  return [...vanished, ...removed, ...beyond];
}

const SORTED = ["vanished", "beyond", "removed", "unlisted", "unreadable"] as const;

/** Writes the file, for its owner alone. Gives what reading it gives. */
export async function writeExtractRecord(
  file: string,
  stated: Omit<ExtractRecord, "version">,
): Promise<ExtractRecord> {
  const lists = SORTED.map((name) => [name, sorted(stated[name])] as const);
  const text = serialized({ ...stated, version: VERSION, ...Object.fromEntries(lists) });
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, text, { mode: 0o600 });
  return recordIn(text, file);
}

/** Ascending by UTF-8 bytes, each once. */
function sorted(list: readonly string[]): string[] {
  return [...new Set(list)].sort(compareUtf8);
}

function serialized(record: object): string {
  const keys = Object.entries(record).sort(([a], [b]) => compareUtf8(a, b));
  return `${JSON.stringify(Object.fromEntries(keys))}\n`;
}

/** Throws `verify.failed` if the file is damaged. */
export async function readExtractRecord(file: string): Promise<ExtractRecord> {
  return recordIn(await readFile(file, "utf8"), file);
}

function recordIn(text: string, file: string): ExtractRecord {
  const record = extractRecord.safeParse(parseIfJson(text));
  if (record.success) return record.data;
  throw new WarehouseError("verify.failed", `${file} is damaged.`, {
    cause: record.error,
  });
}
