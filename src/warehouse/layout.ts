/** The folders of a warehouse: names of runs, staging, and what `current` points to. */
import { existsSync, statSync } from "node:fs";
import { mkdir, readdir, readlink, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { asWarehouseError, codeOf, isOfTheDisk, WarehouseError } from "../common/errors.ts";
import { removeTree, sync } from "../common/tree.ts";

export type OutputFolder = Readonly<ReturnType<typeof outputFolder>>;

/**
 * The output folder, as absolute paths.
 *
 *     current -> runs/<run>     what readers open: a symbolic link, replaced by rename
 *     runs/<run>/               published runs, read-only, never changed
 *     runs/<run>-<digest>/      one from a target, while another run has the folder of its name
 *     .pruned.json              runs that are gone, and were rolled back or put aside before; not there: none
 *     .warnings.json            digests of the warnings of each run
 *     .staging/<run>/           the run under way and what earlier ones left; the same file system, mode 0700
 *     .lock.duckdb              held by the run under way
 */
export function outputFolder(out: string) {
  const root = resolve(out);
  return {
    root,
    current: join(root, "current"),
    pruned: join(root, ".pruned.json"),
    runs: join(root, "runs"),
    staging: join(root, ".staging"),
    lock: join(root, ".lock.duckdb"),
  };
}

const RUN_NAME = /^((\d{6,15})-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z)(?:-[0-9a-f]{8})?$/;

/** `runName(42, start)` is `000042-20261120T020000Z`. The number orders runs; the time is for people. */
export function runName(sequence: number, startedAt: Date): string {
  const instant = startedAt.toISOString().replace(/\.\d+Z$/, "Z");
  return `${String(sequence).padStart(6, "0")}-${instant.replaceAll(/[-:]/g, "")}`;
}

/** Hexadecimal digits of a manifest's SHA-256 that tell runs of one number apart. */
export const DIGEST_DIGITS = 8;

export interface RunIdentity {
  /** Name of the folder. */
  readonly run: string;
  readonly sequence: number;
  /** To the second. */
  readonly startedAt: Date;
}

/** Name of the run in a folder, without the digest; other texts are returned as they are. */
export function nameOf(folder: string): string {
  return RUN_NAME.exec(folder)?.[1] ?? folder;
}

/** Parses the name of a run or of its folder; `undefined` for other texts. */
export function parseRunName(name: string): RunIdentity | undefined {
  const [, , sequence, year, month, day, hour, minute, second] = RUN_NAME.exec(name) ?? [];
  if (sequence === undefined) return undefined;
  const startedAt = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(startedAt.getTime()) ? undefined : { run: name, sequence: Number(sequence), startedAt };
}

/** Why the system refused a path, in words; `undefined` for other errors. */
export function reasonOf(thrown: unknown): string | undefined {
  return REASONS[codeOf(thrown) ?? ""];
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission is denied",
  EPERM: "the operation is not permitted",
  EROFS: "its file system is read-only",
  EEXIST: "a file is in the way",
  ENOTDIR: "a file is in the way",
  ENOENT: "a part of its path does not exist",
  ELOOP: "its links form a loop",
  ENAMETOOLONG: "its name is too long",
  EXDEV: "runs and .staging in it are on different file systems",
};

/** Adds the folder to an error of the disk. */
export function nameFolder(thrown: unknown, { root }: OutputFolder): unknown {
  const error = asWarehouseError(thrown);
  const { code, message } = error;
  if (!isOfTheDisk(error) || message.includes(root)) return thrown;
  return new WarehouseError(code, `${message} This was in ${root}.`, { cause: thrown });
}

/** An error of preparing or locking the folder; `disk.full` and `disk.io` keep their codes. */
export function outputError(thrown: unknown, folder: OutputFolder): WarehouseError {
  const reason = reasonOf(thrown);
  if (thrown instanceof WarehouseError || reason === undefined) {
    return asWarehouseError(nameFolder(thrown, folder));
  }
  return new WarehouseError(
    "config.output",
    `The output folder ${folder.root} cannot be used: ${reason}${refuserText(thrown, folder)} or name another with --warehouse.`,
    { cause: thrown },
  );
}

/** Continues a reason with the path that refuses, its owner and the way out, unless the owner runs this. */
function refuserText(thrown: unknown, { root }: OutputFolder): string {
  if (!["EACCES", "EPERM"].includes(codeOf(thrown) ?? "")) return "; fix it";
  // A rename has two paths. That of a new link is relative to its place.
  const named = Object.entries(thrown instanceof Error ? thrown : {}).flatMap(([name, value]) =>
    (name === "path" || name === "dest") && isAbsolute(String(value)) ? [String(value)] : [],
  );
  const paths = [...named, root].map(existingPath);
  const foreign = paths.find((each) => ownerOf(each) !== null);
  if (foreign === undefined) return ` for ${paths[0]}; fix it`;
  return ` for ${foreign}, which belongs to ${ownerOf(foreign)}; run as the owner of the warehouse, or give all of it to one user (chown -R),`;
}

/** The path itself, or the nearest of its folders that this user can see. */
function existingPath(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : existingPath(dirname(path));
}

/** Owner of a path, for messages; `null` if it is the user of this process. */
export function ownerOf(path: string): string | null {
  const { uid } = statSync(path);
  if (uid === process.getuid?.()) return null;
  return uid === 0 ? "root" : `user ${uid}`;
}

/** Warns root of a warehouse of somebody else, who could neither link to nor remove what root makes there. */
export function warnRoot({ root }: OutputFolder, warn: (sentence: string) => void): void {
  const owner = process.getuid?.() === 0 ? ownerOf(root) : null;
  if (owner === null) return;
  const wayOut = `run as ${owner}, or give all of it back with chown -R before the next run`;
  warn(`${root} belongs to ${owner}, and this is root, whose files its owner may not change: ${wayOut}.`);
}

/**
 * Name of the run that `current` points to, even if it no longer exists; `undefined` before the first publication.
 */
export async function currentRun(folder: OutputFolder): Promise<string | undefined> {
  let target: string;
  try {
    target = await readlink(folder.current);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    if (codeOf(thrown) !== "EINVAL") throw outputError(thrown, folder);
    throw foreignCurrentError(folder);
  }
  if (dirname(target) !== "runs" || parseRunName(basename(target)) === undefined)
    throw foreignCurrentError(folder);
  return basename(target);
}

function foreignCurrentError(folder: OutputFolder): WarehouseError {
  return new WarehouseError(
    "config.output",
    `${folder.current} is not a link to a run; move it away or name another folder with --warehouse.`,
  );
}

/** Points `current` to a run in `runs/`, in one durable step. */
export async function pointCurrentAt(folder: OutputFolder, run: string): Promise<void> {
  if ((await currentRun(folder)) === run) return;
  const link = join(folder.root, `.current-${run}`);
  await rm(link, { force: true });
  await symlink(join("runs", run), link);
  await rename(link, folder.current);
  await sync(folder.root);
}

/** Runs in `runs/`, newest first. Throws `config.output` if they cannot be listed. */
export function runsIn(folder: OutputFolder): Promise<RunIdentity[]> {
  return identitiesIn(folder.runs).catch((thrown: unknown) => {
    throw outputError(thrown, folder);
  });
}

/** Runs that left staged files, newest first. */
export async function stagingLeftovers(folder: OutputFolder): Promise<RunIdentity[]> {
  return identitiesIn(folder.staging);
}

async function identitiesIn(path: string): Promise<RunIdentity[]> {
  const runs = (await entriesOf(path)).flatMap((name) => parseRunName(name) ?? []);
  // Times in names sort as text. A folder with a digest sorts before the folder without.
  return runs.toSorted((a, b) => b.sequence - a.sequence || (a.run < b.run ? 1 : -1));
}

async function entriesOf(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return [];
    throw thrown;
  }
}

/** Name of the next run. Its number is above `above` and above every number seen in the folder. */
export async function nextRun(folder: OutputFolder, startedAt: Date, above = 0): Promise<string> {
  const current = parseRunName((await currentRun(folder)) ?? "");
  const seen = [
    ...(await runsIn(folder)),
    ...(await stagingLeftovers(folder)),
    ...(current ? [current] : []),
  ];
  return runName(Math.max(above, ...seen.map((each) => each.sequence)) + 1, startedAt);
}

export type StagingFolder = Readonly<ReturnType<typeof stagingFolder>>;

export const DATABASE_FILE = "warehouse.duckdb";

/** Where the database is built: in the result, or beside it if it is not published. */
export function databaseOf(staging: StagingFolder, isPublished: boolean): string {
  return isPublished ? staging.database : join(staging.root, DATABASE_FILE);
}

export function stagingFolder({ staging }: OutputFolder, run: string) {
  const identity = parseRunName(run);
  if (identity === undefined)
    throw new WarehouseError("config.not_found", `"${run}" is not the name of a run.`);
  const root = join(staging, run);
  const result = join(root, "result");
  return {
    run,
    sequence: identity.sequence,
    root,
    /** Becomes `runs/<run>`. Holds only what is published. */
    result,
    database: join(result, DATABASE_FILE),
    /** Missing if no run may resume the staged files. */
    resumeRecord: join(root, "resume.json"),
    parts: join(root, "parts"),
    /** Folder where DuckDB spills blocks. */
    temporary: join(root, "tmp"),
  };
}

/**
 * Makes the staging folders for their owner only. Makes `runs/` again too, because a failed run may have removed it.
 */
export async function createStaging(folder: OutputFolder, run: string): Promise<StagingFolder> {
  const staging = stagingFolder(folder, run);
  await mkdir(folder.runs, { recursive: true });
  for (const path of [staging.root, staging.result, staging.parts]) {
    await mkdir(path, { recursive: true, mode: 0o700 });
  }
  return staging;
}

export async function removeStaging(folder: OutputFolder, run: string): Promise<void> {
  await removeTree(stagingFolder(folder, run).root);
}

const DEBRIS = /^\.(probe|pruned|current|lock)-/;

/** Removes staged files of dead runs, except the run `kept`, and debris. Needs the lock. */
export async function discardLeftovers(folder: OutputFolder, kept: string | undefined): Promise<void> {
  for (const { run } of await stagingLeftovers(folder)) if (run !== kept) await removeStaging(folder, run);
  for (const parent of [folder.root, folder.runs, folder.staging]) {
    const debris = (await entriesOf(parent)).filter((name) => DEBRIS.test(name));
    for (const name of debris) await removeTree(join(parent, name));
  }
}
