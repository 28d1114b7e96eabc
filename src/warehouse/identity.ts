/**
 * Which run is which. A run is its instance, its sequence number and the SHA-256 of its manifest, never its name: two
 * machines that begin in the same second give one name to two runs. The manifest says the instance, so equal digests are
 * of one instance; whoever asks a target has been told that it is the same.
 */
import { DIGEST_DIGITS, nameOf } from "./layout.ts";

/** The service that a run was read from. */
export interface Instance {
  /** As the items name it; null where they name none, or several. */
  readonly id: string | null;
  /** Address of the service: scheme, host and port. */
  readonly origin: string;
}

/** By the ID, or by the address where one of them has none: a service may move. */
export function sameInstance(one: Instance, other: Instance): boolean {
  return one.id !== null && other.id !== null ? one.id === other.id : one.origin === other.origin;
}

/** A run of an instance. */
export interface RunKey {
  /** Its name, or that of its folder. */
  readonly run: string;
  readonly sequence: number;
  /** Of its manifest; undefined where that cannot be read, or an earlier version did not note it: then the name decides. */
  readonly sha256?: string | undefined;
}

export function sameRun(one: RunKey, other: RunKey): boolean {
  if (one.sequence !== other.sequence) return false;
  if (one.sha256 !== undefined && other.sha256 !== undefined) return one.sha256 === other.sha256;
  return nameOf(one.run) === nameOf(other.run);
}

/** Runs are in the order of their numbers, never of a clock. */
export function laterRun(one: RunKey, other: RunKey): boolean {
  return one.sequence > other.sequence;
}

export function isAmong(run: RunKey, runs: readonly RunKey[]): boolean {
  return runs.some((each) => sameRun(each, run));
}

/** A run with what its warehouse folder tells of others. */
export interface RunInHistory extends RunKey {
  /** Runs that it goes on from, the newest first, as far as that is known without doubt. */
  readonly past: readonly RunKey[];
  /** All runs of the folder: whoever made a run beside one of these had decided so, by a rollback. */
  readonly known: readonly RunKey[];
}

/**
 * The last run of a target, against one of a warehouse. `earlier`: this one may take its place. `other`: it has the
 * number of this one, and was made elsewhere. `apart`: it has a lower number and was made elsewhere too, for where it
 * would be in the history of this one there is another.
 */
export type Standing = "same" | "earlier" | "other" | "later" | "apart";

export function standingOf(last: RunKey, run: RunInHistory): Standing {
  if (sameRun(last, run)) return "same";
  if (laterRun(last, run)) return "later";
  if (!laterRun(run, last)) return "other";
  const isPassed = run.past.some((each) => !laterRun(each, last));
  return isPassed && !isAmong(last, [...run.past, ...run.known]) ? "apart" : "earlier";
}

/** `run 3 (000003-20261125T160203Z, manifest 1f2e3d4c)`. */
export function described({ run, sequence, sha256 }: RunKey): string {
  const manifest = sha256 === undefined ? "" : `, manifest ${sha256.slice(0, DIGEST_DIGITS)}`;
  return `run ${sequence} (${nameOf(run)}${manifest})`;
}
