/** Making a local run from what a target keeps of it. */
import { WarehouseError } from "../common/errors.ts";
import type { InstanceIdentity, Target, TargetRun } from "../pipeline.ts";
import { assertOfOneKind, assertSameInstance, instanceOf, readBaseline } from "../warehouse/baseline.ts";
import {
  described,
  goesOnFromUndone,
  goesOnWithout,
  isAmong,
  type RunInHistory,
  sameRun,
  standingOf,
} from "../warehouse/identity.ts";
import {
  createStaging,
  folderBeside,
  type OutputFolder,
  removeStaging,
  runsIn,
} from "../warehouse/layout.ts";
import { readManifestFile } from "../warehouse/manifest.ts";
import { discardStaging, publishCopy } from "../warehouse/publish.ts";
import { goOnFrom, listRuns } from "../warehouse/retention.ts";
import { targetError } from "./deliver.ts";
import { latestIn } from "./published-run.ts";
import { restoreDatabase } from "./restored-database.ts";

/** A target that keeps published runs. */
export type KeepingTarget = Target & Required<Pick<Target, "restore">>;

export function keepsRuns(target: Target): target is KeepingTarget {
  return target.restore !== undefined;
}

/**
 * Publishes in the warehouse folder a run that a target keeps and the folder has not, verified, and makes it current,
 * unless another is pinned: the next run goes on from it either way.
 * Gives the name of its folder, which is another than the run's where another run has that. Throws `target.*`,
 * `verify.failed` where what came is not what was published, `config.other_instance` where the folder has the content of
 * another instance, and `config.invalid` where it has limited runs; then nothing was changed. Needs the lock.
 */
export async function restoreRun(
  folder: OutputFolder,
  target: KeepingTarget,
  run: TargetRun,
  signal: AbortSignal,
): Promise<string> {
  const before = await readBaseline(folder);
  assertOfOneKind(before, { isLimited: false, root: folder.root });
  const name = await freeName(folder, run);
  await removeStaging(folder, name);
  const staging = await createStaging(folder, name);
  try {
    await target.restore(run, staging.result, signal).catch((thrown: unknown) => {
      signal.throwIfAborted();
      throw targetError(target, thrown);
    });
    await restoreDatabase(staging, signal);
    const { manifest, sha256 } = await readManifestFile(staging.result);
    const restored = { run: manifest.run, sequence: manifest.sequence, sha256 };
    if (!sameRun(restored, run)) throw notAsked(target, restored, run);
    assertSameInstance(instanceOf(before), manifest.instance, folder.root, "moved");
    await publishCopy(folder, staging);
    return name;
  } finally {
    await discardStaging(folder, name);
  }
}

/** The folder of another run stays where it is: a reader may be about to open its files. */
async function freeName(folder: OutputFolder, { run, sha256 }: TargetRun): Promise<string> {
  const isTaken = (await runsIn(folder)).some((each) => each.run === run);
  return isTaken && sha256 !== undefined ? folderBeside(run, sha256) : run;
}

function notAsked({ name }: Target, found: TargetRun, wanted: TargetRun): WarehouseError {
  return new WarehouseError(
    "verify.failed",
    `The target ${name} gave the ${described(found)} for the ${described(wanted)}; nothing was restored: restore another run.`,
  );
}

/** What a target said before a run. */
export interface TargetState {
  readonly target: Target;
  /** The last run that its readers see; null: none, or it is not known. */
  readonly last: TargetRun | null;
  /** The highest number that it knows of any run. */
  readonly taken: number;
  /** Why it could not be asked; null: it was. */
  readonly failure: WarehouseError | null;
}

export interface AskOptions {
  /** Null: it is not known. */
  readonly instance: InstanceIdentity | null;
  readonly signal: AbortSignal;
}

/**
 * Asks each target for its last run. One that cannot be asked is no reason not to run: unless the folder has no run and
 * the target may keep some. Throws `target.*` then.
 */
export async function askTargets(
  folder: OutputFolder,
  targets: readonly Target[],
  { instance, signal }: AskOptions,
): Promise<readonly TargetState[]> {
  const isEmpty = (await runsIn(folder)).length === 0;
  const states: TargetState[] = [];
  for (const target of targets) {
    try {
      const last = await target.last(instance, signal);
      const taken = (await target.taken?.(signal)) ?? last?.sequence ?? 0;
      states.push({ target, last, taken, failure: null });
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = targetError(target, thrown);
      if (isEmpty && keepsRuns(target)) throw failure;
      states.push({ target, last: null, taken: 0, failure });
    }
  }
  return states;
}

export interface RestoreOptions {
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
}

/**
 * Where the last run of a target was made elsewhere and is not before the current one in its history, this run goes on
 * from that: it is restored, so that history, removals and numbers do. So it does where somebody rolled the target back
 * from the current run, or from one before it: what was delivered holds for every machine. Where the target keeps no runs,
 * or could not be asked, that is told.
 */
export async function restoreNewest(
  folder: OutputFolder,
  states: readonly TargetState[],
  { signal, warn }: RestoreOptions,
): Promise<void> {
  for (const { failure } of states) {
    if (failure !== null)
      warn(`${failure.message} The run goes on, and its delivery is tried when it is published.`);
  }
  const current = await latestIn(folder);
  const foreign = states.flatMap(({ target, last }) =>
    last !== null && isForeign(last, current) ? [{ target, last }] : [],
  );
  const [newest] = foreign
    .flatMap(({ target, last }) => {
      const here = current?.kept.find((each) => sameRun(each, last));
      const get = here
        ? () => goOnFrom(folder, here.run)
        : keepsRuns(target) && (() => restoreRun(folder, target, last, signal));
      return get ? [{ target, last, get, isHere: here !== undefined }] : [];
    })
    .toSorted((a, b) => b.last.sequence - a.last.sequence);
  if (newest !== undefined) {
    const { target, last, get, isHere } = newest;
    const name = await get();
    const runs = await listRuns(folder);
    const restored = runs.find((each) => each.latest);
    const isFork = current && restored && goesOnWithout(current, restored, runs);
    const got = isHere
      ? `The target ${target.name} was rolled back to the run ${last.run}`
      : restoredFrom(target, last);
    warn(restoredText(got, last, { name, fork: isFork ? current : undefined }));
  }
  if (current === undefined) return;
  for (const { target, last } of foreign) {
    if (keepsRuns(target) || (newest !== undefined && sameRun(last, newest.last))) continue;
    warn(
      `The target ${target.name} has the ${described(last)}, which was made elsewhere, and keeps no runs, so this run cannot go on from it: what it says of changes does not tell what changes there.`,
    );
  }
}

/** What the folder knows was made here, or rolled back by a person; but that may have been in the target since. */
function isForeign(last: TargetRun, current: RunInHistory | undefined): boolean {
  if (current === undefined) return true;
  const standing = standingOf(last, current);
  if (standing === "same" || standing === "earlier") return false;
  return !isAmong(last, current.known) || goesOnFromUndone(last, current);
}

function restoredFrom({ name }: Target, { run }: TargetRun): string {
  return `Restored the run ${run} from the target ${name}`;
}

/** `got`: how, without the end of the sentence. */
function restoredText(
  got: string,
  last: TargetRun,
  { name, fork }: { readonly name: string; readonly fork: RunInHistory | undefined },
): string {
  if (fork === undefined) return `${got}: this run goes on from it.`;
  const place = name === last.run ? "" : ` as runs/${name}`;
  const which = standingOf(last, fork) === "other" ? `, which is another run ${fork.sequence}` : "";
  return `${got}${place}: this run goes on from it, and not from ${fork.run} of this machine${which}; that stays in runs/ until it is old, and is in no later history.`;
}
