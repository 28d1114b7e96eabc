/**
 * Which run is which. A run is its instance, its sequence number and the SHA-256 of its manifest, never its name: two
 * machines that begin in the same second give one name to two runs. The manifest says the instance, so equal digests are
 * of one instance; whoever asks a target has been told that it is the same.
 */
import { WarehouseError } from "../common/errors.ts";
import { DIGEST_DIGITS, nameOf, parseRunName } from "./layout.ts";
import type { Manifest } from "./manifest.ts";

/** The service that a run was read from. */
export interface SourceInstance {
  /** As the items name it; null where they name none, or several. */
  readonly id: string | null;
  /** Address of the service: scheme, host and port. */
  readonly origin: string;
}

/** `https://example.org (instance 42)`. */
export function instanceText({ id, origin }: SourceInstance): string {
  return id === null ? origin : `${origin} (instance ${id})`;
}

/** By the ID, or by the address where one of them has none: a service may move. */
export function sameInstance(one: SourceInstance, other: SourceInstance): boolean {
  return one.id !== null && other.id !== null ? one.id === other.id : one.origin === other.origin;
}

/** A run of an instance. */
export interface RunKey {
  /** Its name, or that of its folder. */
  readonly run: string;
  readonly sequence: number;
  /** Of its manifest; undefined where that cannot be read: then the name decides. */
  readonly sha256?: string | undefined;
}

export function sameRun(one: RunKey, other: RunKey): boolean {
  if (one.sequence !== other.sequence) return false;
  if (one.sha256 !== undefined && other.sha256 !== undefined) return one.sha256 === other.sha256;
  return nameOf(one.run) === nameOf(other.run);
}

/** The last run of a target. */
interface TargetRunKey extends RunKey {
  /** The latest run that was there when somebody rolled the target back to this one. */
  readonly rollbackOf?: RunKey | undefined;
}

/** What the last run of a target says that it was rolled back from, once this one is in its place. */
export function rolledBackFrom(last: TargetRunKey | null, run: RunKey): RunKey | undefined {
  const latest = last?.rollbackOf ?? last ?? undefined;
  return latest && laterRun(latest, run)
    ? { run: latest.run, sequence: latest.sequence, sha256: latest.sha256 }
    : undefined;
}

/** Runs are in the order of their numbers, never of a clock. */
export function laterRun(one: RunKey, other: RunKey): boolean {
  return one.sequence > other.sequence;
}

export function isAmong(run: RunKey, runs: readonly RunKey[]): boolean {
  return runs.some((each) => sameRun(each, run));
}

/** A run with what its warehouse folder tells of others. */
export interface RunAncestry extends RunKey {
  /** Runs that it goes on from, the newest first, as far as that is known without doubt. */
  readonly past: readonly RunKey[];
  /**
   * All runs of the folder, and those that were rolled back before they were pruned: whoever made a run beside one of these
   * had decided so, by a rollback.
   */
  readonly known: readonly RunKey[];
}

/**
 * The last run of a target, against one of a warehouse. `earlier`: this one may take its place. `other`: it has the
 * number of this one, and was made elsewhere. `apart`: it has a lower number and is not in the history of this one, for where
 * it would be there is another, or a run that the target was rolled back from. `undone`: it was rolled back from this one, or
 * from a later one.
 */
export type RunStanding = "same" | "earlier" | "other" | "later" | "apart" | "undone";

export function standingOf(last: TargetRunKey, run: RunAncestry): RunStanding {
  if (sameRun(last, run)) return "same";
  if (laterRun(last, run)) return "later";
  if (last.rollbackOf !== undefined && !laterRun(run, last.rollbackOf)) return "undone";
  if (!laterRun(run, last)) return "other";
  if (goesOnFromUndone(last, run)) return "apart";
  const isPassed = run.past.some((each) => !laterRun(each, last));
  return isPassed && !isAmong(last, [...run.past, ...run.known]) ? "apart" : "earlier";
}

/** Whether a run is the one that a target was rolled back from, or goes on from it. */
export function goesOnFromUndone({ rollbackOf }: TargetRunKey, run: RunAncestry): boolean {
  return rollbackOf !== undefined && isAmong(rollbackOf, [run, ...run.past]);
}

/** `run 3 (000003-20261125T160203Z, manifest 1f2e3d4c)`. */
export function runText({ run, sequence, sha256 }: RunKey): string {
  const manifest = sha256 === undefined ? "" : `, manifest ${sha256.slice(0, DIGEST_DIGITS)}`;
  return `run ${sequence} (${nameOf(run)}${manifest})`;
}

/** A run in `runs/`. */
interface StoredRun extends RunKey {
  /** The manifest, or why it cannot be read. */
  readonly manifest: PreviousRunRef | WarehouseError;
}

type PreviousRunRef = Pick<Manifest, "previousRun" | "previousSha256">;

/**
 * The runs that one goes on from, the newest first, as far as the manifests that are kept tell: not beyond one that is
 * gone or damaged.
 */
export function ancestorsOf(run: StoredRun, runs: readonly StoredRun[]): RunKey[] {
  const past: RunKey[] = [];
  let at: StoredRun | undefined = run;
  while (at !== undefined) {
    const before: RunKey | undefined =
      at.manifest instanceof WarehouseError ? undefined : previousKey(at.manifest);
    if (before === undefined || !laterRun(at, before)) break;
    past.push(before);
    at = runs.find((each) => sameRun(each, before));
  }
  return past;
}

/** Whether a kept run goes on from runs among which another one surely is not. What is not kept may say otherwise. */
export function excludesRun(other: RunKey, run: StoredRun, runs: readonly StoredRun[]): boolean {
  const past = ancestorsOf(run, runs);
  if (sameRun(other, run) || isAmong(other, past)) return false;
  const oldest = past.at(-1) ?? run;
  if (!laterRun(oldest, other)) return true;
  const manifest = runs.find((each) => sameRun(each, oldest))?.manifest;
  return !(manifest instanceof WarehouseError) && manifest?.previousRun === null;
}

/** A run of the folder, for comparing it with those of targets. `pruned`: runs that were rolled back, and are gone. */
export function ancestryOf(
  run: StoredRun,
  runs: readonly StoredRun[],
  pruned: readonly RunKey[],
): RunAncestry {
  const known = [...runs, ...pruned];
  return { run: run.run, sequence: run.sequence, sha256: run.sha256, past: ancestorsOf(run, runs), known };
}

/** A run, and after it those that it goes on from. */
export function withAncestors(run: StoredRun | undefined, runs: readonly StoredRun[]): readonly RunKey[] {
  return run === undefined ? [] : [run, ...ancestorsOf(run, runs)];
}

/** Whether a kept run is surely not in this past: it was put aside, or rolled back. Of one from before it nobody can tell. */
export function isNoAncestor(run: RunKey, past: readonly RunKey[]): boolean {
  const oldest = past.at(-1);
  return oldest !== undefined && !isAmong(run, past) && !laterRun(oldest, run);
}

/** Whether a kept run was made elsewhere: where it would be in this past, with the run that has it, there is another. */
export function isReplaced(run: RunKey, past: readonly RunKey[]): boolean {
  return past.some((each) => each.sequence === run.sequence && !sameRun(each, run));
}

/** The kept run that a history means by a name, with the run that has it as the first of its past; undefined: its files are gone. */
export function runNamed<Run extends RunKey>(
  name: string,
  runs: readonly Run[],
  past: readonly RunKey[],
): Run | undefined {
  return runs.find((each) => nameOf(each.run) === name && !isReplaced(each, past));
}

function previousKey({ previousRun, previousSha256: sha256 }: PreviousRunRef): RunKey | undefined {
  const named = parseRunName(previousRun ?? "");
  return named && { run: named.run, sequence: named.sequence, sha256 };
}

/** The kept run that another was compared with when it was made; undefined: it is no longer kept, or there was none. */
export function previousOf<Run extends RunKey>(
  stated: PreviousRunRef,
  runs: readonly Run[],
): Run | undefined {
  const before = previousKey(stated);
  return before && runs.find((each) => sameRun(each, before));
}
