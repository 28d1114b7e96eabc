/** Making a local run from what a target keeps of it. */
import type { InstanceIdentity, Target, TargetRun } from "../pipeline.ts";
import { assertSameInstance, readBaseline } from "../warehouse/baseline.ts";
import {
  createStaging,
  currentRun,
  type OutputFolder,
  parseRunName,
  removeStaging,
  runsIn,
} from "../warehouse/layout.ts";
import { type Manifest, readManifest } from "../warehouse/manifest.ts";
import { discardStaging, publishCopy } from "../warehouse/publish.ts";
import { targetError } from "./deliver.ts";

/** A target that keeps published runs. */
export type KeepingTarget = Target & Required<Pick<Target, "restore">>;

export function keepsRuns(target: Target): target is KeepingTarget {
  return target.restore !== undefined;
}

/**
 * Publishes in the warehouse folder a run that a target keeps, verified, and makes it current. Throws `target.*`,
 * `verify.failed` where what came is not what was published, and `config.other_instance` where the folder has the content
 * of another instance; then nothing was changed. Needs the lock.
 */
export async function restoreRun(
  folder: OutputFolder,
  target: KeepingTarget,
  run: TargetRun,
  signal: AbortSignal,
): Promise<Manifest> {
  await removeStaging(folder, run.run);
  const staging = await createStaging(folder, run.run);
  try {
    await target.restore(run, staging.result, signal).catch((thrown: unknown) => {
      signal.throwIfAborted();
      throw targetError(target, thrown);
    });
    const { instance } = await readManifest(staging.result);
    assertSameInstance(await readBaseline(folder), instance, folder.root, "moved");
    return await publishCopy(folder, staging);
  } finally {
    await discardStaging(folder, run.run);
  }
}

/** What a target said before a run. */
export interface TargetState {
  readonly target: Target;
  /** The last run that its readers see; null: none. */
  readonly last: TargetRun | null;
  /** The highest number that it knows of any run. */
  readonly taken: number;
}

export interface MeetOptions {
  /** Null: it is not known. */
  readonly instance: InstanceIdentity | null;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
}

/**
 * Asks each target for its last run. One that cannot be asked is told of, and is no reason not to run: unless the folder
 * has no run and the target may keep some. Throws `target.*` then.
 */
export async function askTargets(
  folder: OutputFolder,
  targets: readonly Target[],
  { instance, signal, warn }: MeetOptions,
): Promise<readonly TargetState[]> {
  const isEmpty = (await runsIn(folder)).length === 0;
  const states: TargetState[] = [];
  for (const target of targets) {
    try {
      const last = await target.last(instance, signal);
      states.push({ target, last, taken: (await target.taken?.(signal)) ?? last?.sequence ?? 0 });
    } catch (thrown) {
      signal.throwIfAborted();
      const error = targetError(target, thrown);
      if (isEmpty && keepsRuns(target)) throw error;
      warn(`${error.message} The run goes on, and its delivery is tried when it is published.`);
    }
  }
  return states;
}

/**
 * Where a target keeps a run that the folder does not have and that is not before the current one, another machine made
 * it: it is restored, so that history, removals and numbers go on from it.
 */
export async function restoreNewest(
  folder: OutputFolder,
  states: readonly TargetState[],
  { signal, warn }: MeetOptions,
): Promise<void> {
  const current = parseRunName((await currentRun(folder)) ?? "");
  const known = new Set((await runsIn(folder)).map(({ run }) => run));
  const [newest] = states
    .flatMap(({ target, last }) => (keepsRuns(target) && last !== null ? [{ target, last }] : []))
    .filter(({ last }) => !known.has(last.run) && last.sequence >= (current?.sequence ?? 0))
    .toSorted((a, b) => b.last.sequence - a.last.sequence);
  if (newest === undefined) return;
  const { target, last } = newest;
  await restoreRun(folder, target, last, signal);
  const instead = current === undefined ? "" : `, and not from ${current.run}, which it does not know`;
  warn(`Restored the run ${last.run} from the target ${target.name}: this run goes on from it${instead}.`);
}
