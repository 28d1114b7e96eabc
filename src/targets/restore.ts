/** Making a local run from what a target keeps of it. */
import { join } from "node:path";
import { WarehouseError } from "../common/errors.ts";
import type { InstanceIdentity, Target, TargetRun } from "../pipeline.ts";
import {
  assertOfOneKind,
  assertSameInstance,
  type Baseline,
  baselineOf,
  instanceOf,
  readBaseline,
} from "../warehouse/baseline.ts";
import {
  excludesRun,
  goesOnFromUndone,
  isAmong,
  type RunAncestry,
  runText,
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
import { MANIFEST_FILE, type ManifestFile, parseManifest, readManifestFile } from "../warehouse/manifest.ts";
import { discardStaging, publishCopy } from "../warehouse/publish.ts";
import { assertReadable, listRuns, type PublishedRun, rollback } from "../warehouse/retention.ts";
import { targetError } from "./deliver.ts";
import { type CurrentRun, readCurrentRun } from "./published-run.ts";
import { restoreDatabase } from "./restored-database.ts";

/** A target that keeps published runs. */
export type ArchiveTarget = Target & Required<Pick<Target, "restore">>;

export function isArchive(target: Target): target is ArchiveTarget {
  return target.restore !== undefined;
}

/**
 * Publishes in the warehouse folder a run that a target keeps and the folder has not, verified, and makes it current,
 * so that the next run goes on from it.
 * Gives the name of its folder, which is another than the run's where another run has that. Throws `target.*`,
 * `verify.failed` where what came is not what was published, `config.other_instance` where the folder has the content of
 * another instance, and `config.invalid` where it has limited runs; then nothing was changed. Needs the lock.
 */
export async function restoreRun(
  folder: OutputFolder,
  target: ArchiveTarget,
  run: TargetRun,
  signal: AbortSignal,
): Promise<string> {
  const before = await readBaseline(folder);
  assertOfOneKind(before, { isLimited: false, root: folder.root });
  const name = await freeName(folder, run);
  await removeStaging(folder, name);
  const staging = await createStaging(folder, name);
  try {
    await callTarget(target, signal, () => target.restore(run, staging.result, signal));
    await restoreDatabase(staging, signal);
    const found = await readManifestFile(staging.result);
    assertAsked(target, found, run);
    assertSameInstance(instanceOf(before), found.manifest.instance, folder.root, "moved");
    await publishCopy(folder, staging);
    return name;
  } finally {
    await discardStaging(folder, name);
  }
}

/** A target may be anybody's code, that gives no promise or throws at once. Throws `target.*`. */
export async function callTarget<T>(
  target: Target,
  signal: AbortSignal,
  ask: () => T | Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (thrown) {
    signal.throwIfAborted();
    throw targetError(target, thrown);
  }
}

/** The folder of another run stays where it is: a reader may be about to open its files. */
async function freeName(folder: OutputFolder, { run, sha256 }: TargetRun): Promise<string> {
  const isTaken = (await runsIn(folder)).some((each) => each.run === run);
  return isTaken && sha256 !== undefined ? folderBeside(run, sha256) : run;
}

function assertAsked({ name }: Target, { manifest, sha256 }: ManifestFile, wanted: TargetRun): void {
  const given = { run: manifest.run, sequence: manifest.sequence, sha256 };
  if (sameRun(given, wanted)) return;
  throw new WarehouseError(
    "verify.failed",
    `The target ${name} gave the ${runText(given)} for the ${runText(wanted)}; nothing was restored: restore another run.`,
  );
}

/** What a target said before a run. */
export interface TargetProbe {
  readonly target: Target;
  /** The last run that its readers see; null: none, or it is not known. */
  readonly last: TargetRun | null;
  /** The highest number that it knows of any run. */
  readonly taken: number;
  /** Why it could not be asked; null: it was. */
  readonly failure: WarehouseError | null;
}

/**
 * Asks each target for its last run. `instance`: null if it is not known. A target that cannot be asked is no reason not to
 * run, unless the folder has no run and the target may keep some. Throws `target.*` then.
 */
export async function probeTargets(
  folder: OutputFolder,
  targets: readonly Target[],
  { instance, signal }: { readonly instance: InstanceIdentity | null; readonly signal: AbortSignal },
): Promise<readonly TargetProbe[]> {
  const isEmpty = (await runsIn(folder)).length === 0;
  const states: TargetProbe[] = [];
  for (const target of targets) {
    try {
      const last = await target.last(instance, signal);
      const taken = Math.max(last?.sequence ?? 0, last?.rollbackOf?.sequence ?? 0);
      states.push({ target, last, taken, failure: null });
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = targetError(target, thrown);
      if (isEmpty && isArchive(target)) throw failure;
      states.push({ target, last: null, taken: 0, failure });
    }
  }
  return states;
}

/**
 * Where the last run of a target was made elsewhere and is not before the current one in its history, this run goes on
 * from that: it is restored, so that history, removals and numbers do. So it does where somebody rolled the target back
 * from the current run, or from one before it: what was delivered holds for every machine. Where the target keeps no runs,
 * or could not be asked, that is told.
 */
export async function restoreNewest(
  folder: OutputFolder,
  states: readonly TargetProbe[],
  { signal, warn }: { readonly signal: AbortSignal; readonly warn: (message: string) => void },
): Promise<void> {
  for (const { failure } of states) {
    if (failure !== null)
      warn(`${failure.message} The run goes on, and its delivery is tried when it is published.`);
  }
  const current = await readCurrentRun(folder);
  const foreign = foreignTo(current, states);
  const newest = newestOf(current, foreign);
  if (newest !== undefined) {
    const { target, last, here } = newest;
    const name = await (newest.here === undefined
      ? restoreRun(folder, newest.target, last, signal)
      : (await rollback(folder, newest.here.run)).run);
    const runs = await listRuns(folder);
    const restored = runs.find((each) => each.current);
    const isFork = current && restored && excludesRun(current, restored, runs);
    const got = here
      ? `The target ${target.name} was rolled back to the run ${last.run}`
      : restoredFrom(target, last);
    warn(restoredText(got, last, { name, fork: isFork ? current : undefined }));
  }
  if (current === undefined) return;
  for (const { target, last } of foreign) {
    if (isArchive(target) || (newest !== undefined && sameRun(last, newest.last))) continue;
    warn(
      `The target ${target.name} has the ${runText(last)}, which was made elsewhere, and keeps no runs, so this run cannot go on from it: what it says of changes does not tell what changes there.`,
    );
  }
}

type Told = Pick<TargetProbe, "target"> & { readonly last: TargetRun };

/** What a run goes on from, by a target. `here`: the same in the folder; undefined: the target keeps it. */
type NewestRun = { readonly last: TargetRun } & (
  | { readonly target: Target; readonly here: PublishedRun }
  | { readonly target: ArchiveTarget; readonly here: undefined }
);

/** Targets whose last run was made elsewhere, or that were rolled back. */
function foreignTo(current: CurrentRun | undefined, states: readonly TargetProbe[]): readonly Told[] {
  return states.flatMap(({ target, last }) =>
    last !== null && isForeign(last, current) ? [{ target, last }] : [],
  );
}

function newestOf(current: CurrentRun | undefined, foreign: readonly Told[]): NewestRun | undefined {
  const found = foreign.flatMap(({ target, last }): NewestRun[] => {
    const here = current?.kept.find((each) => sameRun(each, last));
    if (here !== undefined) return [{ target, last, here }];
    return isArchive(target) ? [{ target, last, here }] : [];
  });
  return found.toSorted((a, b) => b.last.sequence - a.last.sequence)[0];
}

/** What a run would go on from, by a target. */
export interface TargetBaseline {
  readonly target: string;
  readonly run: string;
  /** Whether the folder has it. */
  readonly isHere: boolean;
  /** By its manifest; `none` where the target does not show that. Where it is not here, nothing is in its directory. */
  readonly baseline: Baseline;
}

/**
 * What {@link restoreNewest} would make the latest run, as far as names and sizes of its files tell; null: nothing.
 * Changes nothing. Throws what that would throw.
 */
export async function readTargetBaseline(
  folder: OutputFolder,
  states: readonly TargetProbe[],
  signal: AbortSignal,
): Promise<TargetBaseline | null> {
  const current = await readCurrentRun(folder);
  const newest = newestOf(current, foreignTo(current, states));
  if (newest === undefined) return null;
  const { target, last, here } = newest;
  const said = { target: target.name, run: last.run };
  if (here !== undefined) {
    assertReadable(here);
    return { ...said, isHere: true, baseline: await baselineOf(folder, here.run) };
  }
  return { ...said, isHere: false, baseline: await keptBaseline(folder, newest.target, last, signal) };
}

async function keptBaseline(
  folder: OutputFolder,
  target: ArchiveTarget,
  run: TargetRun,
  signal: AbortSignal,
): Promise<Baseline> {
  const before = await readBaseline(folder);
  assertOfOneKind(before, { isLimited: false, root: folder.root });
  const bytes = await callTarget(target, signal, () => target.manifest?.(run, signal));
  if (bytes === undefined) return { kind: "none" };
  const found = parseManifest(bytes, `${target.name}: ${MANIFEST_FILE}`);
  const { manifest, sha256 } = found;
  assertAsked(target, found, run);
  assertSameInstance(instanceOf(before), manifest.instance, folder.root, "moved");
  return { kind: "run", run: manifest.run, directory: join(folder.runs, run.run), manifest, sha256 };
}

/** What the folder knows was made here, or rolled back by a person; but that may have been in the target since. */
function isForeign(last: TargetRun, current: RunAncestry | undefined): boolean {
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
  { name, fork }: { readonly name: string; readonly fork: RunAncestry | undefined },
): string {
  if (fork === undefined) return `${got}: this run goes on from it.`;
  const place = name === last.run ? "" : ` as runs/${name}`;
  const which = standingOf(last, fork) === "other" ? `, which is another run ${fork.sequence}` : "";
  return `${got}${place}: this run goes on from it, and not from ${fork.run} of this machine${which}; that stays in runs/ until it is old, and is in no later history.`;
}
