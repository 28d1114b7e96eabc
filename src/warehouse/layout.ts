import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readlink, rename, rm, rmdir, stat, symlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { asWarehouseError, codeOf, isOfTheDisk, WarehouseError } from "../common/errors.ts";
import { removeTree } from "../common/tree.ts";
import { assertUsableFolder } from "../storage/duckdb.ts";
import { assertFoldersApart } from "./folders-apart.ts";

export type OutputFolder = Readonly<ReturnType<typeof outputFolder>>;

/**
 * The output folder, as absolute paths.
 *
 *     current -> runs/<run>     what readers open: a symbolic link, replaced by rename
 *     runs/<run>/               published runs, read-only, never changed
 *     runs/<run>-<digest>/      one from a target, while another run has the folder of its name
 *     .pruned.json              runs that are gone, and were rolled back or put aside before; not there: none
 *     .warnings.json            digests of the warnings of the last run
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

/** `runName(42, start)` is `000042-20261120T020000Z`: runs are ordered by the number, the instant is for people. */
export function runName(sequence: number, startedAt: Date): string {
  const instant = startedAt.toISOString().replace(/\.\d+Z$/, "Z");
  return `${String(sequence).padStart(6, "0")}-${instant.replaceAll(/[-:]/g, "")}`;
}

/** So many digits of its manifest's SHA-256 tell a run from others of its number. */
export const DIGEST_DIGITS = 8;

/**
 * Where the folder of a run lies that was made elsewhere, while another run has the folder of its name: the name, and the
 * first digits of its manifest's SHA-256 (lower-case hexadecimal).
 */
export function folderBeside(run: string, sha256: string): string {
  return `${run}-${sha256.slice(0, DIGEST_DIGITS)}`;
}

export interface RunIdentity {
  /** Of its folder. */
  readonly run: string;
  readonly sequence: number;
  /** To the second. */
  readonly startedAt: Date;
}

/** The name of a run, as its tables have it, whose folder has this one; any other text as it is. */
export function nameOf(folder: string): string {
  return RUN_NAME.exec(folder)?.[1] ?? folder;
}

/** What a run's name says, or that of its folder; undefined for any other name. */
export function parseRunName(name: string): RunIdentity | undefined {
  const [, , sequence, year, month, day, hour, minute, second] = RUN_NAME.exec(name) ?? [];
  if (sequence === undefined) return undefined;
  const startedAt = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(startedAt.getTime()) ? undefined : { run: name, sequence: Number(sequence), startedAt };
}

export interface PreparedOutput extends OutputFolder {
  /** What was not there before: folders, and the lock file that is still to be made; each after what it lies in. */
  readonly made: readonly string[];
}

/**
 * Makes the output folder ready for a run, and proves that a run can be published there: folders can be made, moved
 * from staging to runs, and linked to. Needs no lock. Throws `config.output`, and then leaves nothing behind.
 */
export async function prepareOutput(out: string): Promise<PreparedOutput> {
  const folder = outputFolder(out);
  assertUsableFolder(folder.root);
  const made: string[] = [];
  try {
    await makeFolder(folder.root, made);
    await currentRun(folder);
    if (!existsSync(folder.lock)) made.push(folder.lock);
    await makeFolder(folder.runs, made);
    await makeFolder(folder.staging, made);
    assertFoldersApart(folder);
    await chmod(folder.staging, 0o700);
    await provePublishing(folder);
  } catch (thrown) {
    await removeEmpty(made);
    throw outputError(thrown, folder);
  }
  return { ...folder, made };
}

/** Without the lock: what another run has put to use in the meantime is not empty, and stays, and so does its lock file. */
export async function removeEmpty(made: readonly string[]): Promise<void> {
  for (const path of made.toReversed()) await rmdir(path).catch(() => undefined);
}

/**
 * Gives a prepared folder back as it was found, after a run that published nothing: what was made for that run goes,
 * as far as nothing else lies in it. Only with the lock held; the lock file may go with the rest, because whoever takes
 * a lock makes sure that its file is still there.
 */
export async function discardUnused({ made, lock }: PreparedOutput): Promise<void> {
  for (const path of made.toReversed()) {
    try {
      await (path === lock ? rm(path, { force: true }) : rmdir(path));
    } catch (thrown) {
      if (!LEFT_AS_IT_IS.has(codeOf(thrown) ?? "")) throw outputError(thrown, outputFolder(dirname(lock)));
      return;
    }
  }
}

/** A folder that has something in it, and one that somebody removed already. */
const LEFT_AS_IT_IS: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST", "ENOENT"]);

/** Makes a folder and those above it; notes each that was not there. */
async function makeFolder(path: string, made: string[]): Promise<void> {
  try {
    await mkdir(path);
    made.push(path);
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || existsSync(dirname(path))) throw thrown;
    await makeFolder(dirname(path), made);
    await makeFolder(path, made);
  }
}

const PROBE = ".probe-";
const PROBE_ATTEMPTS = 3;

/** Repeated where the run under way cleared the probe away as debris. */
async function provePublishing(folder: OutputFolder, attempts = PROBE_ATTEMPTS): Promise<void> {
  const staged = await mkdtemp(join(folder.staging, PROBE));
  const moved = join(folder.runs, basename(staged));
  const link = join(folder.root, basename(staged));
  try {
    await rename(staged, moved);
    await symlink(join("runs", basename(moved)), link);
  } catch (thrown) {
    if (codeOf(thrown) !== "ENOENT" || attempts === 1) throw thrown;
    await provePublishing(folder, attempts - 1);
  } finally {
    for (const path of [staged, moved, link]) await rm(path, { recursive: true, force: true });
  }
}

/** What the system refused a path for, in words; undefined for any other failure. */
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
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
  EXDEV: "runs and .staging in it are on different file systems",
};

/** A failure of work in the folder as it is; one of the disk, which deep below knows no folder, with the folder's name. */
export function namingFolder(thrown: unknown, { root }: OutputFolder): unknown {
  const error = asWarehouseError(thrown);
  const { code, message } = error;
  if (!isOfTheDisk(error) || message.includes(root)) return thrown;
  return new WarehouseError(code, `${message} This was in ${root}.`, { cause: thrown });
}

/** A failure to prepare or lock the folder, for the operator; full and failing disks are `disk.full` and `disk.io`. */
export function outputError(thrown: unknown, folder: OutputFolder): WarehouseError {
  const reason = reasonOf(thrown);
  if (thrown instanceof WarehouseError || reason === undefined) {
    return asWarehouseError(namingFolder(thrown, folder));
  }
  return new WarehouseError(
    "config.output",
    `The output folder ${folder.root} cannot be used: ${reason}; fix it or name another with --warehouse.`,
    { cause: thrown },
  );
}

/** The run that `current` names, whether it still exists or not; undefined where nothing was published yet. */
export async function currentRun(folder: OutputFolder): Promise<string | undefined> {
  let target: string;
  try {
    target = await readlink(folder.current);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    if (codeOf(thrown) !== "EINVAL") throw outputError(thrown, folder);
    throw notOurs(folder);
  }
  if (dirname(target) !== "runs" || parseRunName(basename(target)) === undefined) throw notOurs(folder);
  return basename(target);
}

function notOurs(folder: OutputFolder): WarehouseError {
  return new WarehouseError(
    "config.output",
    `${folder.current} is no link to a run; move it away or name another folder with --warehouse.`,
  );
}

/** Runs in `runs/`, the newest first. Throws `config.output` where they cannot be listed. */
export function runsIn(folder: OutputFolder): Promise<RunIdentity[]> {
  return identitiesIn(folder.runs).catch((thrown: unknown) => {
    throw outputError(thrown, folder);
  });
}

/** Runs that left their staged files behind, the newest first. */
export async function stagingLeftovers(folder: OutputFolder): Promise<RunIdentity[]> {
  return identitiesIn(folder.staging);
}

async function identitiesIn(path: string): Promise<RunIdentity[]> {
  const runs = (await entriesOf(path)).flatMap((name) => parseRunName(name) ?? []);
  // The instant in a name sorts as a text; a folder beside another of its name comes before that.
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

/** Name of the next run: its number is one above all that were ever seen here, and above the one that is given. */
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

/** Where a run's database is built: in the result, or beside it where only Parquet files are published. */
export function databaseOf(staging: StagingFolder, isPublished: boolean): string {
  return isPublished ? staging.database : join(staging.root, DATABASE_FILE);
}

/** The staged files of a run, as absolute paths. */
export function stagingFolder({ staging }: OutputFolder, run: string) {
  const identity = parseRunName(run);
  if (identity === undefined) throw new WarehouseError("config.not_found", `"${run}" is no name of a run.`);
  const root = join(staging, run);
  const result = join(root, "result");
  return {
    run,
    sequence: identity.sequence,
    root,
    /** Becomes `runs/<run>`: holds what is published, and nothing else. */
    result,
    database: join(result, DATABASE_FILE),
    /** Gone where no run goes on from the staged files. */
    resumeRecord: join(root, "resume.json"),
    parts: join(root, "parts"),
    /** Of the database, for spilled blocks. */
    temporary: join(root, "tmp"),
  };
}

/**
 * Makes the staging folders of a run, for their owner alone; those that are there stay. So it is with the folder of the
 * runs, which a run that failed may have taken away before the lock was free.
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

/** Clears away what dead runs left: staged files, but of the run that is to be `kept`, and debris. Needs the lock. */
export async function discardLeftovers(folder: OutputFolder, kept: string | undefined): Promise<void> {
  for (const { run } of await stagingLeftovers(folder)) if (run !== kept) await removeStaging(folder, run);
  for (const parent of [folder.root, folder.runs, folder.staging]) {
    const debris = (await entriesOf(parent)).filter((name) => DEBRIS.test(name));
    for (const name of debris) await removeTree(join(parent, name));
  }
}
