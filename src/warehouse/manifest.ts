/** The manifest of a published run: its form, and how it is read and written. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { WarehouseError } from "../common/errors.ts";
import { parseIfJson } from "../common/json.ts";
import { VERDICTS } from "../common/verdict.ts";
import { parseRunName } from "./layout.ts";

export const MANIFEST_FILE = "manifest.json";
/** Version of the manifest's form. It rises if an older program could misread a manifest. */
const MANIFEST_VERSION = 1;

const count = z.number().int().nonnegative();
const perPage = z.number().int().positive();
export const runIdentifier = z
  .string()
  .refine((name) => parseRunName(name) !== undefined, "not the name of a run");
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const instant = z.iso.datetime({ precision: 3 });

/** A published file. `path`: relative to the run's folder, with slashes. */
const publishedFile = z.object({
  path: z.string().min(1),
  bytes: count,
  sha256,
  /** Rows of a Parquet file; `null` for other files. */
  rows: count.nullable(),
});

/** Whether a destination receives values. If not: `ignoreDestinations` names it, or it supports no mappings. */
export const RECEPTIONS = ["receiving", "ignored", "unsupported"] as const;
export type Reception = (typeof RECEPTIONS)[number];

const values = { mapped: count, unmapped: count, unknown: count } as const;
const valuesAt = z.object({
  id: z.string(),
  name: z.string().nullable(),
  reception: z.enum(RECEPTIONS),
  ...values,
});

/** What a manifest states, except its files. */
const statement = z.object({
  run: runIdentifier,
  sequence: count,
  pipeline: z.string(),
  /** Destinations that were looked up by name. */
  destinations: z.array(z.object({ name: z.string(), platform: z.string() })),
  loaders: z.array(z.enum(["duckdb", "parquet"])),
  /** `origin`: scheme, host, port and path of the service, e.g. `https://example.org`. */
  instance: z.object({ id: z.string().nullable(), origin: z.string() }),
  /** ISO 8601, UTC, with milliseconds. */
  startedAt: instant,
  /** When the result was verified, just before it was published. */
  endedAt: instant,
  /** Requests of the run, and bytes of their answers; in a replay, those of the run that was built again. */
  requests: z.object({ count, bytes: count }),
  /** `complete`: two passes in a row agreed. `limited`: only the first items were read. */
  verdict: z.enum(VERDICTS),
  reasons: z.array(z.string()),
  passes: z.json(),
  items: z.object({ listed: count, loaded: count, rejected: count, vanished: count, unread: count }),
  /**
   * Items compared with the run before. `edited`: with another `updated_at`; `null` if a run has none. Absent if not
   * compared.
   */
  changes: z.object({ new: count, edited: count.nullable(), removed: count }).optional(),
  /** Values with and without an external value. Absent if the pipeline makes none. */
  mappedValues: z.object({ ...values, destinations: z.array(valuesAt) }).optional(),
  rows: z.record(z.string(), count),
  /** `table.column` of columns without any value in tables with rows, except personal columns and `extra`. */
  emptyColumns: z.array(z.string()),
  /** `table.column` of all columns that could be in `emptyColumns`. */
  columns: z.array(z.string()),
  versions: z.object({ package: z.string(), duckdb: z.string(), node: z.string() }),
  configuration: z.string(),
  personalData: z.object({
    policy: z.enum(["drop", "hash", "keep"]),
    keyId: z.string().nullable(),
    /** IDs of personal custom fields. Absent if there are none. */
    customFieldIds: z.array(z.string()).optional(),
    /** Digest of all that `personalFields` named. */
    fields: z.string(),
  }),
  /** When the run was resumed. Absent if it was not interrupted. */
  resumedAt: z.array(instant).optional(),
  /** Items a page that `perPage: "auto"` found. The next run starts with them. */
  pageSizes: z
    .object({ dynamic: perPage.optional(), full: perPage.optional(), basic: perPage.optional() })
    .optional(),
  /** Requests a second that the service allowed. Absent if it refused none. The next run starts with it. */
  ratePerSecond: z.number().positive().optional(),
  /** Number of outages, and how long the run waited for their end. Absent if there were none. */
  outages: z.object({ count, seconds: z.number().nonnegative() }).optional(),
  /** Peak disk use of the run. The next run needs it. */
  peakBytes: count,
  /** The run before: what `current` named when the run began. */
  previousRun: runIdentifier.nullable(),
  /** SHA-256 of the manifest of the run before. Absent if it cannot be read. */
  previousSha256: sha256.optional(),
  /** Run whose raw documents this run was built from. Absent if the run read its own. */
  replayOf: runIdentifier.optional(),
  /**
   * The run was restored from a target without DuckDB files, and its database was built again by this version.
   * `sha256`: of the manifest that was published.
   */
  restored: z.object({ sha256, version: z.string() }).optional(),
});

const manifest = statement.extend({
  manifestVersion: z.literal(MANIFEST_VERSION),
  files: z.array(publishedFile),
});

export type PublishedFile = z.infer<typeof publishedFile>;
type RunStatement = z.infer<typeof statement>;
/** Statement of a run that is not published yet. */
export type ManifestDraft = Omit<RunStatement, "endedAt">;
/** Statement of a run whose tables are built. */
export type BuiltStatement = Omit<ManifestDraft, "peakBytes">;
export type Manifest = z.infer<typeof manifest>;

/** Writes the manifest, the last file of a run. */
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

export interface ManifestFile {
  readonly manifest: Manifest;
  /** SHA-256 of the manifest that the run was published with, in lower-case hexadecimal. */
  readonly sha256: string;
}

/**
 * Reads the manifest of a published run. Throws `config.newer_version` if a newer program wrote it, and
 * `verify.failed` if it is missing or cannot be read.
 */
export async function readManifest(directory: string): Promise<Manifest> {
  return (await readManifestFile(directory)).manifest;
}

/** As `readManifest`, with the SHA-256. */
export async function readManifestFile(directory: string): Promise<ManifestFile> {
  const file = join(directory, MANIFEST_FILE);
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw unreadableError(file, "it is missing or cannot be opened", cause);
  });
  return parseManifest(bytes, file);
}

/** `file`: path of the manifest, for messages. */
export function parseManifest(bytes: Uint8Array, file: string): ManifestFile {
  const content = parseIfJson(Buffer.from(bytes).toString());
  if (content === undefined) throw unreadableError(file, "it is not JSON");
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
  throw unreadableError(file, `${where}: ${issue?.message ?? "unexpected"}`, parsed.error);
}

function unreadableError(file: string, reason: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "verify.failed",
    `The manifest ${file} cannot be read (${reason}); do not use this run; publish another or roll back.`,
    { cause },
  );
}
