/**
 * Claims: which run is delivered next. A claim is one object, put where there is none, that says all that anybody needs to
 * finish the delivery. Its key is the number after the last claim's run, so that all who would deliver next meet at one
 * key, whatever the numbers of their runs: one of them gets it. Its run may have a higher number than its key, where
 * the runs between were never delivered. It may be delivered under a number above its own, after a rollback: readers
 * see numbers that only grow.
 *
 * A claim is only put once the one before it is finished, so at most the last one is not. It stays for ever: a process
 * that was stopped for weeks must find its key taken. What only a restore needs is removed from old ones.
 *
 * A removal of the instance is put in the same row, and has the next number. It takes away the claims before it and stays
 * itself: numbers go on from it, so that what was claimed before and what is claimed later are never taken for each other.
 */
import { z } from "zod";
import { isObject } from "../../common/objects.ts";
import { FULL_VERDICTS } from "../../common/verdict.ts";
import type { TargetRun } from "../../pipeline.ts";
import { COLUMN_TYPES } from "../../tables/declare.ts";
import { DATABASE_FILE, parseRunName } from "../../warehouse/layout.ts";

/** Of the form of claims: higher where an older program could misread one. */
const CLAIM_VERSION = 2;
/** The copy of a run that was claimed so has all of its files. */
const WHOLE_COPY_VERSION = 1;
/** Of a run that is delivered under another number than its own, of removals, and of what is claimed after one. */
const RENUMBERED_VERSION = 3;

const count = z.number().int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const bound = z.union([z.string(), z.number(), z.boolean()]);

/** Of a column, as Delta's statistics have them; a column of which nothing can be said has none. */
const columnStatistics = z.object({ column: z.string(), min: bound, max: bound, nulls: count });

const file = z.preprocess(
  withStatistics,
  z.object({
    /** Below the table's folder, not encoded. */
    path: z.string().min(1),
    bytes: count,
    sha256,
    rows: count,
    statistics: z.array(columnStatistics).readonly(),
  }),
);

/** Claims had those of one column, or null, as `range`. */
function withStatistics(given: unknown): unknown {
  if (!isObject(given) || given.range === undefined) return given;
  return { ...given, statistics: given.range === null ? [] : [given.range] };
}

const column = z.object({
  name: z.string().min(1),
  type: z.enum(COLUMN_TYPES),
  nullable: z.boolean(),
  comment: z.string(),
});

const table = z.object({
  name: z.string().min(1),
  comment: z.string(),
  /** `instance` is not among them: it partitions every table. */
  columns: z.array(column).readonly(),
  /** Empty of a table that the run before had and this one has not. */
  files: z.array(file).readonly(),
});

const claim = z.object({
  claimVersion: z.literal([WHOLE_COPY_VERSION, CLAIM_VERSION, RENUMBERED_VERSION]),
  run: z.string(),
  /** That it is delivered under: its own, or the next one after the last claim's where that is not later. */
  sequence: count,
  /** Number of the removal that it comes after; 0: the instance was never removed. */
  since: count.default(0),
  /** Where somebody rolled back to it: the latest run that was in the lake. */
  rollbackOf: z.object({ run: z.string(), sequence: count, sha256: sha256.optional() }).optional(),
  instance: z.string(),
  pipeline: z.string(),
  verdict: z.enum(FULL_VERDICTS),
  /** Of whoever put it; all that finish it use the same. */
  attempt: z.string().min(1),
  /** Milliseconds since 1970. */
  atMs: count,
  manifest: z.object({ bytes: count, sha256 }),
  /** SHA-256 of the manifest that the run was published with, another one where it was restored. Absent: the same one. */
  published: sha256.optional(),
  tables: z.array(table).readonly(),
});

/** What stays of a claim whose published run is gone. */
const pastClaim = claim
  .pick({ claimVersion: true, run: true, sequence: true, attempt: true })
  .extend({ past: z.literal(true) });

const removal = z.object({
  claimVersion: z.literal(RENUMBERED_VERSION),
  removal: z.enum(["begun", "ended"]),
  /** Its number, and that of its key. */
  sequence: count,
  /** Number of the removal before; 0: there was none. */
  since: count,
  instance: z.string(),
  attempt: z.string().min(1),
  atMs: count,
  /** That the instance is taken out of, without files. */
  tables: z.array(table).readonly(),
});

export type Removal = z.infer<typeof removal>;
export type Claim = z.infer<typeof claim>;
export type PastClaim = z.infer<typeof pastClaim>;
export type ClaimedTable = Claim["tables"][number];
export type ClaimedFile = ClaimedTable["files"][number];
export type ColumnStatistics = z.infer<typeof columnStatistics>;

/** All files of the tables, with their keys in the store. */
export function keyedFiles(tables: Claim["tables"]): (ClaimedFile & { readonly key: string })[] {
  return tables.flatMap(({ name, files }) => files.map((file) => ({ ...file, key: `${name}/${file.path}` })));
}

/**
 * Whether a file of a run, by its path, lies in the run's copy. Else it is a file of a table, and the lake's is used, or the
 * DuckDB file, which is made again from these.
 */
export function isCopied(path: string, claimVersion: Claim["claimVersion"] = CLAIM_VERSION): boolean {
  return claimVersion === WHOLE_COPY_VERSION || !(path === DATABASE_FILE || path.startsWith("parquet/"));
}

export function rowsIn(files: readonly Pick<ClaimedFile, "rows">[]): number {
  return files.reduce((sum, { rows }) => sum + rows, 0);
}

/** The run of a claim, with its own number; an old one does not say its digest any more. */
export function runOf(found: Claim | PastClaim): TargetRun {
  const { run } = found;
  const sequence = parseRunName(run)?.sequence ?? found.sequence;
  if (isPast(found)) return { run, sequence, sha256: undefined };
  const { rollbackOf, published, manifest } = found;
  return { run, sequence, sha256: published ?? manifest.sha256, ...(rollbackOf && { rollbackOf }) };
}

export function isPast(found: Claim | PastClaim): found is PastClaim {
  return "past" in found;
}

export const ENTRY = z.union([removal, pastClaim, claim]);
export type Entry = z.infer<typeof ENTRY>;

export function isRemoval(found: Entry): found is Removal {
  return "removal" in found;
}

/** A claim of this content alone, whatever else the object has. */
export function newClaim(content: Omit<Claim, "claimVersion">): Claim {
  const isRenumbered = content.since > 0 || content.sequence !== parseRunName(content.run)?.sequence;
  return claim.parse({ ...content, claimVersion: isRenumbered ? RENUMBERED_VERSION : CLAIM_VERSION });
}

/** As {@link newClaim}. */
export function newRemoval(content: Omit<Removal, "claimVersion" | "removal">): Removal {
  return removal.parse({ ...content, removal: "begun", claimVersion: RENUMBERED_VERSION });
}

/** What stays of an old claim. */
export function shortened(old: Claim): PastClaim {
  return pastClaim.parse({ ...old, past: true });
}
