/** Replaces runs by others that are made of them: of all of them, or of none. */
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { WarehouseError } from "../../common/errors.ts";
import { removeTree } from "../../common/tree.ts";
import { assertFree, type FreeBytes } from "../disk.ts";
import type { OutputFolder, StagingFolder } from "../layout.ts";
import { finishPublication } from "../publish.ts";
import { listRuns, type PublishedRun } from "../retention.ts";
import { commitPlan, finishReplacement, replacementPlace, stagedReplacement } from "./commit.ts";
import type { Numbered, Replaceable } from "./numbers.ts";

/** `commit`: it is decided, and from then on carried out. */
export interface ReplaceStep {
  readonly kind: "search" | "prove" | "make" | "commit" | "replace" | "done";
  readonly run: string;
}

export type OnReplaceStep = (step: ReplaceStep) => void;

/** All runs of a folder, and a folder for what is needed while replacements are made. */
export interface Replacing {
  /** The oldest first. */
  readonly runs: readonly PublishedRun[];
  readonly temporary: string;
}

/**
 * Opens a folder, so that its runs can be replaced. Needs the lock; whatever `work` throws, nothing is left of it unless
 * it was decided.
 */
export async function replacing<Result>(
  folder: OutputFolder,
  work: (replacing: Replacing) => Promise<Result>,
): Promise<Result> {
  await finishPublication(folder);
  const runs = (await listRuns(folder)).toReversed();
  const temporary = join(replacementPlace(folder), "tmp");
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  try {
    return await work({ runs, temporary });
  } finally {
    // What was decided is carried out even so, now or by the next command that changes the warehouse.
    await finishReplacement(folder);
  }
}

/** Removes what runs that were killed or failed have left: the lock is held, so nobody is at work on it. */
export async function clearStaging(folder: OutputFolder): Promise<void> {
  const paths = (await readdir(folder.staging)).map((name) => join(folder.staging, name));
  for (const path of paths) if (path !== replacementPlace(folder)) await removeTree(path);
}

/** Throws why a run cannot be read. */
export function replaceable(run: PublishedRun): Replaceable {
  const { manifest } = run;
  if (manifest instanceof WarehouseError) throw manifest;
  return { ...run, manifest };
}

export interface ReplaceOptions<Run extends Numbered> {
  /** Makes what takes the place of a run, with its manifest; the oldest first. */
  readonly make: (run: Run, staging: StagingFolder) => Promise<void>;
  readonly freeBytes: FreeBytes;
  /** What is said where `room` is not free: "the runs take 3 GB; nothing was changed". */
  readonly noRoom: (room: string) => string;
  readonly onStep: OnReplaceStep;
}

/** Within {@link replacing}. The old runs go once all new ones are made, on the disk, and have their names. */
export async function replaceRuns<Run extends Numbered>(
  folder: OutputFolder,
  planned: readonly Run[],
  { make, freeBytes, noRoom, onStep }: ReplaceOptions<Run>,
): Promise<void> {
  const bytes = planned.flatMap(({ from }) => from.manifest.files.map((file) => file.bytes));
  const needed = bytes.reduce((sum, each) => sum + each, 0);
  await assertFree(folder.root, needed, freeBytes, noRoom);
  for (const each of planned) {
    onStep({ kind: "make", run: each.from.run });
    const staging = stagedReplacement(folder, each.to);
    await make(each, staging);
  }
  await removeTree(join(replacementPlace(folder), "tmp"));
  const replacements = planned.map(({ from, to }) => ({ from: from.run, to }));
  const run = replacements.at(-1)?.to ?? "";
  onStep({ kind: "commit", run });
  await commitPlan(folder, replacements);
  onStep({ kind: "replace", run });
  await finishReplacement(folder);
  onStep({ kind: "done", run });
}
