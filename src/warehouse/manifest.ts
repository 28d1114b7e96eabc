import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { WarehouseError } from "../common/errors.ts";
import { parseIfJson } from "../common/json.ts";
import { VERDICTS } from "../common/verdict.ts";
import { parseRunName } from "./layout.ts";

export const MANIFEST_FILE = "manifest.json";
/** Of the manifest's form: higher where an older program could misread it. */
export const MANIFEST_VERSION = 1;

const count = z.number().int().nonnegative();
const perPage = z.number().int().positive();
export const runIdentifier = z
  .string()
  .refine((name) => parseRunName(name) !== undefined, "no name of a run");
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const instant = z.iso.datetime({ precision: 3 });

/** A published file. `path` is relative to the run's folder, with slashes. */
const publishedFile = z.object({
  path: z.string().min(1),
  bytes: count,
  /** Lower-case hexadecimal. */
  sha256,
  /** Of a Parquet file; null of others. */
  rows: count.nullable(),
});

/**
 * Whether a destination receives values, and if not, why: `ignoreDestinations` names it, it supports no mappings, or only
 * mappings name it, by its ID.
 */
export const RECEPTIONS = ["receiving", "ignored", "unsupported", "nameless"] as const;
export type Reception = (typeof RECEPTIONS)[number];

const values = { mapped: count, unmapped: count, unknown: count } as const;
const valuesAt = z.object({
  id: z.string(),
  name: z.string().nullable(),
  reception: z.enum(RECEPTIONS),
  ...values,
});

/** Everything a publication states about itself, but its files, which are measured. */
const statement = z.object({
  run: runIdentifier,
  sequence: count,
  pipeline: z.string(),
  /** Destinations that were asked for by their names. */
  destinations: z.array(z.object({ name: z.string(), platform: z.string() })),
  /** What was published: the DuckDB file, the Parquet files, or both. */
  loaders: z.array(z.enum(["duckdb", "parquet"])),
  /** `origin`: scheme, host and port of the service, e.g. `https://example.org`. */
  instance: z.object({ id: z.string().nullable(), origin: z.string() }),
  /** ISO 8601, UTC, with milliseconds. */
  startedAt: instant,
  /** When the result was proven, just before it was published. */
  endedAt: instant,
  /** Requests that the run made, and bytes of their answers; in a replay, those of the run that was built again. */
  requests: z.object({ count, bytes: count }),
  /** `complete`: two passes in a row agreed. `limited`: its first items alone were read. */
  verdict: z.enum(VERDICTS),
  /** Why it is not complete; empty where it is. */
  reasons: z.array(z.string()),
  /** The evidence for the verdict. */
  passes: z.json(),
  /** What became of the listed items. */
  items: z.object({ listed: count, loaded: count, rejected: count, vanished: count, unread: count }),
  /** Items against the run before; `changed`: with another `updated_at`, null where a run has none. Absent: not compared. */
  changes: z.object({ new: count, edited: count.nullable(), removed: count }).optional(),
  /** Values with an external value and without one; absent where the pipeline makes none. */
  mappedValues: z.object({ ...values, destinations: z.array(valuesAt) }).optional(),
  /** Rows by table, all tables. */
  rows: z.record(z.string(), count),
  /** `table.column` of those without any value, of tables that have rows; without personal columns and `extra`. */
  emptyColumns: z.array(z.string()),
  /** `table.column` of all that `emptyColumns` is chosen from. */
  columns: z.array(z.string()),
  versions: z.object({ package: z.string(), duckdb: z.string(), node: z.string() }),
  /** Fingerprint of the configuration that the run was made with. */
  configuration: z.string(),
  personalData: z.object({
    policy: z.enum(["drop", "hash", "keep"]),
    keyId: z.string().nullable(),
    /** Of the custom fields that were treated as personal; absent: none were. */
    customFieldIds: z.array(z.string()).optional(),
    /** Digest of all that `personalFields` named. */
    fields: z.string(),
  }),
  /** When the run was resumed after an interruption; absent: it was made in one go. */
  resumedAt: z.array(instant).optional(),
  /** Items a page, as `perPage: "auto"` found them; absent: it was not asked to. The next run starts with them. */
  pageSizes: z
    .object({ dynamic: perPage.optional(), full: perPage.optional(), basic: perPage.optional() })
    .optional(),
  /** Requests a second that the service was found to allow; absent: it refused none. The next run starts with it. */
  ratePerSecond: z.number().positive().optional(),
  /** How often the service answered nobody, and how long the run waited for it in all; absent: never. */
  outages: z.object({ count, seconds: z.number().nonnegative() }).optional(),
  /** The most that the run took up on the disk while it was made. The next run needs it. */
  peakBytes: count,
  /** The run that it goes on from: what `current` named when it began. */
  previousRun: runIdentifier.nullable(),
  /** SHA-256 of that run's manifest; absent where there is none to read. */
  previousSha256: sha256.optional(),
  /** The run whose raw documents this one was built from; absent: it read its own. */
  replayOf: runIdentifier.optional(),
  /**
   * That the DuckDB file was made again from the Parquet files, by this version of the program, because the target that
   * the run was restored from keeps none. `sha256`: of the manifest that it was published with.
   */
  restored: z.object({ sha256, version: z.string() }).optional(),
});

const manifest = statement.extend({
  manifestVersion: z.literal(MANIFEST_VERSION),
  files: z.array(publishedFile),
});

export type PublishedFile = z.infer<typeof publishedFile>;
export type RunStatement = z.infer<typeof statement>;
/** What a run states that is not published yet. */
export type ManifestDraft = Omit<RunStatement, "endedAt">;
/** The same when its tables are built. */
export type BuiltStatement = Omit<ManifestDraft, "peakBytes">;
export type Manifest = z.infer<typeof manifest>;

/** Writes the manifest of a run that is about to be published; the last file that is written. */
export async function writeManifest(
  directory: string,
  stated: RunStatement,
  files: readonly PublishedFile[],
): Promise<Manifest> {
  const complete = manifest.parse({ manifestVersion: MANIFEST_VERSION, ...stated, files });
  const text = `${JSON.stringify(complete, undefined, 2)}\n`;
  await writeFile(join(directory, MANIFEST_FILE), text, { flag: "wx", mode: 0o600 });
  return complete;
}

/** A manifest with what tells it from all others. */
export interface ManifestFile {
  readonly manifest: Manifest;
  /** Of the manifest that the run was published with, in lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * The manifest of a published run. Throws `config.newer_version` where a newer program wrote it, else
 * `verify.failed` for one that is missing or cannot be read: such a run is no baseline for anything.
 */
export async function readManifest(directory: string): Promise<Manifest> {
  return (await readManifestFile(directory)).manifest;
}

/** The same with what tells the run from all others. */
export async function readManifestFile(directory: string): Promise<ManifestFile> {
  const file = join(directory, MANIFEST_FILE);
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw unreadable(file, "it is missing or cannot be opened", cause);
  });
  return parseManifest(bytes, file);
}

/** `file`: where the bytes stand, for messages. Throws `config.newer_version` and `verify.failed`. */
export function parseManifest(bytes: Uint8Array, file: string): ManifestFile {
  const content = parseIfJson(Buffer.from(bytes).toString());
  if (content === undefined) throw unreadable(file, "it is not JSON");
  const version = z.object({ manifestVersion: z.number() }).safeParse(content);
  if (version.success && version.data.manifestVersion > MANIFEST_VERSION) {
    throw new WarehouseError(
      "config.newer_version",
      `${file} was written by a newer version of content-warehouse; update this one to read it.`,
    );
  }
  const parsed = manifest.safeParse(content);
  if (parsed.success) {
    const sha256 = parsed.data.restored?.sha256 ?? createHash("sha256").update(bytes).digest("hex");
    return { manifest: parsed.data, sha256 };
  }
  const issue = parsed.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? "the whole" : issue.path.join(".");
  throw unreadable(file, `${where}: ${issue?.message ?? "unexpected"}`, parsed.error);
}

function unreadable(file: string, reason: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "verify.failed",
    `The manifest ${file} cannot be read (${reason}); do not trust this run, publish another or roll back.`,
    { cause },
  );
}
