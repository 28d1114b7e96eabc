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
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { isObject } from "../../common/objects.ts";
import { FULL_VERDICTS } from "../../common/verdict.ts";
import type { TargetRun } from "../../pipeline.ts";
import { COLUMN_TYPES } from "../../tables/declare.ts";
import { sameRun } from "../../warehouse/identity.ts";
import { DATABASE_FILE, parseRunName } from "../../warehouse/layout.ts";
import type { Store } from "../store/store.ts";
import { changedByHand, claimKey, claimNumberOf, instanceFolder, jsonBytes, readJson } from "./keys.ts";

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

/** What is claimed of an instance since it was removed last. */
export interface History {
  /** Numbers of the keys of all claims, in order. */
  readonly numbers: readonly number[];
  /** The claim that was put last, finished or not; null: there is none. */
  readonly claim: Claim | null;
  /** The removal, where nothing was claimed after it; null: there is none. */
  readonly removal: Removal | null;
  /** Number of the removal; 0: the instance was never removed. */
  readonly since: number;
}

/** What comes next is numbered by these. */
type End = Pick<History, "claim" | "since">;

/** The highest number that was given, to a run or a removal; 0: none was. */
export function highestNumber({ claim, since }: End): number {
  return claim?.sequence ?? since;
}

/** The number that a run is delivered under: that of the last claim where it is of this run. */
export function numberAfter(end: End, run: TargetRun): number {
  const { claim } = end;
  if (claim !== null && sameRun(runOf(claim), run)) return claim.sequence;
  return Math.max(run.sequence, highestNumber(end) + 1);
}

export function isPast(found: Claim | PastClaim): found is PastClaim {
  return "past" in found;
}

type Entry = Claim | PastClaim | Removal;

function isRemoval(found: Entry): found is Removal {
  return "removal" in found;
}

/** Numbers of the keys of all claims and removals of an instance, in order. */
async function entryNumbers(store: Store, instance: string): Promise<readonly number[]> {
  const numbers: number[] = [];
  const folder = instanceFolder(instance);
  for await (const { key } of store.list(folder)) {
    // What others leave may stand between the claims. Digits come before letters: the copies of runs come after them.
    if (key > `${folder}:`) break;
    const number = claimNumberOf(key);
    if (number !== undefined) numbers.push(number);
  }
  return numbers.toSorted((a, b) => a - b);
}

export async function historyOf(store: Store, instance: string): Promise<History> {
  let before: number | undefined;
  for (;;) {
    const all = await entryNumbers(store, instance);
    const number = all.at(-1);
    if (number === undefined) return { numbers: [], claim: null, removal: null, since: 0 };
    const last = await readEntry(store, instance, number);
    if (last !== null && isRemoval(last))
      return { numbers: [], claim: null, removal: last, since: last.sequence };
    if (last !== null && !isPast(last)) {
      const { since } = last;
      return { numbers: all.filter((each) => each > since), claim: last, removal: null, since };
    }
    // A later one may have been put after the list, and this one been shortened or removed then.
    if (number === before) {
      const why = last === null ? "it is gone" : "the last claim has no tables";
      throw changedByHand(store, claimKey(instance, number), why);
    }
    before = number;
  }
}

/** The claim of a number that a run was delivered under, whatever its key; undefined: none was. */
export async function claimOf(
  store: Store,
  instance: string,
  sequence: number,
): Promise<Claim | PastClaim | undefined> {
  const { numbers } = await historyOf(store, instance);
  const number = numbers.findLast((each) => each <= sequence);
  const found = number === undefined ? null : await readClaim(store, instance, number);
  return found?.sequence === sequence ? found : undefined;
}

/**
 * The newest claim of a run that is looked for by its number; undefined: none keeps it. One that cannot be read, and is not
 * the last one, holds up no other.
 */
export async function claimOfRun(
  store: Store,
  instance: string,
  sequence: number,
  isWanted: (run: TargetRun) => boolean,
): Promise<Claim | undefined> {
  const numbers = (await historyOf(store, instance)).numbers.toReversed();
  for (const number of numbers) {
    const found = await readableClaim(store, instance, { number, isLast: number === numbers[0] });
    if (found !== undefined && !isPast(found) && isWanted(runOf(found))) return found;
    // Claims before it are of earlier numbers.
    if (number <= sequence) return undefined;
  }
  return undefined;
}

/** Undefined: it is gone, or cannot be read and is not the last one. */
export async function readableClaim(
  store: Store,
  instance: string,
  { number, isLast }: { readonly number: number; readonly isLast: boolean },
): Promise<Claim | PastClaim | undefined> {
  try {
    return (await readClaim(store, instance, number)) ?? undefined;
  } catch (thrown) {
    if (isLast || asWarehouseError(thrown).code !== "target.refused") throw thrown;
    return undefined;
  }
}

/** Null: it is gone, with its instance. Throws `target.refused` where it is not as it was put. */
export async function readClaim(
  store: Store,
  instance: string,
  number: number,
): Promise<Claim | PastClaim | null> {
  const found = await readEntry(store, instance, number);
  return found === null || isRemoval(found) ? null : found;
}

function readEntry(store: Store, instance: string, number: number): Promise<Entry | null> {
  return readJson(store, claimKey(instance, number), z.union([removal, pastClaim, claim]));
}

/** A claim of this content alone, whatever else the object has. */
export function newClaim(content: Omit<Claim, "claimVersion">): Claim {
  const isRenumbered = content.since > 0 || content.sequence !== parseRunName(content.run)?.sequence;
  return claim.parse({ ...content, claimVersion: isRenumbered ? RENUMBERED_VERSION : CLAIM_VERSION });
}

/** The removal of all that was claimed. */
export function newRemoval(
  content: Pick<Removal, "instance" | "attempt" | "atMs" | "tables">,
  end: End,
): Removal {
  const made = { ...content, since: end.since, sequence: highestNumber(end) + 1 };
  return removal.parse({ ...made, removal: "begun", claimVersion: RENUMBERED_VERSION });
}

/**
 * Puts a claim or a removal after the last one; false: another attempt was first. Throws `target.unavailable` where that one
 * is not listed: whoever looks for the last claim would not find it.
 */
export async function putClaim(store: Store, made: Claim | Removal, end: End): Promise<boolean> {
  const { instance, attempt } = made;
  const number = highestNumber(end) + 1;
  const key = claimKey(instance, number);
  const isPut = await store.putNew(key, jsonBytes(made));
  // The answer to an earlier try may have been lost.
  if (isPut || (await readEntry(store, instance, number))?.attempt === attempt) {
    if ((await historyOf(store, instance)).since <= number) return true;
    // The key was taken, until the instance was removed.
    await store.remove([key]);
    return false;
  }
  if ((await entryNumbers(store, instance)).some((each) => each >= number)) return false;
  throw new WarehouseError(
    "target.unavailable",
    `${store.address} has ${key} and does not list it; wait until it does, and try again.`,
  );
}

/** Notes that a removal is done. */
export async function endRemoval(store: Store, made: Removal): Promise<void> {
  const ended: Removal = { ...made, removal: "ended", tables: [] };
  await store.put(claimKey(made.instance, made.sequence), jsonBytes(ended));
}

/** Removes from an old claim what only a restore needs. */
export async function shortenClaim(store: Store, number: number, old: Claim): Promise<void> {
  await store.put(claimKey(old.instance, number), jsonBytes(pastClaim.parse({ ...old, past: true })));
}
