/** The manifest of a published run: its form, and how it is read and written. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { WarehouseError } from "../common/errors.ts";
import { parseIfJson } from "../common/json.ts";
import { firstFault } from "../common/parse-form.ts";
import { relativePath } from "../common/relative-path.ts";
import { VERDICTS } from "../common/verdict.ts";
import { askedForm, foundForm } from "../raw/extract-record.ts";
import { parseRunName } from "./layout.ts";

export const MANIFEST_FILE = "manifest.json";
/** Version of the manifest's form. It rises if an older program could misread a manifest. */
const MANIFEST_VERSION = 1;

const count = z.number().int().nonnegative();
export const runIdentifier = z
  .string()
  .refine((name) => parseRunName(name) !== undefined, "not the name of a run");
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const instant = z.iso.datetime({ precision: 3 });

/** A published file. `path`: relative to the run's folder, with slashes. */
const publishedFile = z.object({
  path: relativePath(),
  bytes: count,
  sha256,
  /** Rows of a Parquet file; `null` for other files. */
  rows: count.nullable(),
});

/** Whether a destination receives values. If not: `ignoreDestinations` names it, or it supports no mappings. */
export const RECEPTIONS = ["receiving", "ignored", "unsupported"] as const;
export type Reception = (typeof RECEPTIONS)[number];

/** `mapped`: those that are sent. */
const values = { mapped: count, unmapped: count, unknown: count, empty: count } as const;
const valuesAt = z.object({
  id: z.string(),
  name: z.string().nullable(),
  reception: z.enum(RECEPTIONS),
  ...values,
});

/** What became of the items that the passes listed. */
const accounting = z.object({
  /** Distinct items, and listed documents that are not items. */
  listed: count,
  loaded: count,
  rejected: count,
  vanished: count,
  /** Items listed too late to be read; only in an unsettled run. */
  unread: count,
  /** Items that the last pass listed. */
  listedLast: count,
  /** The service's own total during the last pass. */
  counted: z.number(),
});

/** What a manifest states, except its files. */
const statement = z.object({
  run: runIdentifier,
  sequence: count,
  /** As the extract record has them. */
  asked: askedForm,
  found: foundForm,
  loaders: z.array(z.enum(["duckdb", "parquet"])),
  /** `origin`: scheme, host, port and path of the service, e.g. `https://example.org`. */
  instance: z.object({ id: z.string().nullable(), origin: z.string() }),
  /** When the result was verified, just before it was published. ISO 8601, UTC, with milliseconds. */
  endedAt: instant,
  /** `complete`: two passes in a row agreed. `limited`: only the first items were read. */
  verdict: z.enum(VERDICTS),
  reasons: z.array(z.string()),
  /** Sentences. Checks that warn are in `run_checks`. */
  warnings: z.array(z.string()),
  items: accounting,
  /**
   * Items compared with the run before. `edited`: with another `updated_at`; `null` if a run has none. `null` if not
   * compared.
   */
  changes: z.object({ new: count, edited: count.nullable(), removed: count }).nullable(),
  /** Mapped and missing values. `null` if the pipeline makes none. */
  mappedValues: z.object({ ...values, destinations: z.array(valuesAt) }).nullable(),
  /**
   * Values that both runs have, compared with the run before at destinations that receive values in both: how many lost or
   * gained their external value. `items`: those with a lost value. `null` if there is nothing to compare with, or if a run
   * did not read all items.
   */
  mappedChanges: z
    .object({
      items: count,
      /** Items whose payload differs, is new or is gone. */
      changed: count,
      lost: count,
      gained: count,
      /** Where most were lost, the largest first. `cause`: a clause, if one definition explains them all. */
      largest: z.array(
        z.object({ destination: z.string(), field: z.string(), lost: count, cause: z.string().nullable() }),
      ),
      /** Destinations that receive values in only one of the runs. */
      receptions: z.array(z.object({ destination: z.string(), receives: z.boolean() })),
    })
    .nullable(),
  /** By table, whose name is also that of a folder. */
  rows: z.record(z.string().regex(/^[a-z_][a-z0-9_]*$/), count),
  /** `table.column` of columns without any value in tables with rows, except personal columns and `extra`. */
  emptyColumns: z.array(z.string()),
  /** `table.column` of all columns that could be in `emptyColumns`. */
  columns: z.array(z.string()),
  versions: z.object({ package: z.string(), duckdb: z.string(), node: z.string() }),
  /** Peak disk use of the run. The next run needs it. */
  peakBytes: count,
  /** The run before: what `current` named when the run began. */
  previousRun: runIdentifier.nullable(),
  /** SHA-256 of the manifest of the run before. Absent if it cannot be read. */
  previousSha256: sha256.optional(),
  /** Runs that the run before continues, newest first: name and SHA-256. Up to a run whose manifest could not be read. */
  ancestors: z.array(z.string().regex(/^\d{6,15}-\d{8}T\d{6}Z [0-9a-f]{64}$/)),
  /** Run whose raw documents this run was built from; `null` if the run read its own. */
  replayOf: runIdentifier.nullable(),
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
export type BuiltStatement = Omit<ManifestDraft, "peakBytes" | "warnings">;
export type Manifest = z.infer<typeof manifest>;
export type Accounting = Readonly<Manifest["items"]>;

/** Milliseconds from the start of a run, of a resumed one the first, to its verification. */
export function runMs({ found, endedAt }: Pick<Manifest, "found" | "endedAt">): number {
  return Date.parse(endedAt) - Date.parse(found.startedAt);
}

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

/** `file`: path of the manifest, for messages. `unreadable`: makes the error, from a clause. */
export function parseManifest(
  bytes: Uint8Array,
  file: string,
  unreadable = (reason: string, cause?: unknown) => unreadableError(file, reason, cause),
): ManifestFile {
  const content = parseIfJson(Buffer.from(bytes).toString());
  if (content === undefined) throw unreadable("it is not JSON");
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
  throw unreadable(`it is not a manifest${firstFault(parsed.error)}`, parsed.error);
}

function unreadableError(file: string, reason: string, cause?: unknown): WarehouseError {
  return new WarehouseError(
    "verify.failed",
    `The manifest ${file} cannot be read (${reason}); do not use this run; publish another or roll back.`,
    { cause },
  );
}
