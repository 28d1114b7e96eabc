/**
 * Compares runs. A run is its instance, sequence number and the SHA-256 of its manifest, never its name, because two
 * machines can give one name to two runs. Targets are asked for one instance, so equal digests are equal runs.
 */
import { WarehouseError } from "../common/errors.ts";
import { DIGEST_DIGITS, nameOf, parseRunName } from "./layout.ts";
import type { Manifest } from "./manifest.ts";

export function instanceText({ id, origin }: Manifest["instance"]): string {
  const service = origin === "sample" ? "the sample" : origin;
  return id === null ? service : `${service} (instance ${id})`;
}

/** Compares IDs; compares addresses if one ID is unknown, because a service may move. */
export function sameInstance(one: Manifest["instance"], other: Manifest["instance"]): boolean {
  return one.id !== null && other.id !== null ? one.id === other.id : one.origin === other.origin;
}

export interface RunKey {
  /** Name of the run, or of its folder. */
  readonly run: string;
  readonly sequence: number;
  /** SHA-256 of the manifest. If it is `undefined`, names are compared. */
  readonly sha256?: string | undefined;
}

export function sameRun(one: RunKey, other: RunKey): boolean {
  if (one.sequence !== other.sequence) return false;
  if (one.sha256 !== undefined && other.sha256 !== undefined) return one.sha256 === other.sha256;
  return nameOf(one.run) === nameOf(other.run);
}

interface TargetRunKey extends RunKey {
  /** Latest run of the target when it was rolled back to this one. */
  readonly rollbackOf?: RunKey | undefined;
}

/** Run that a target was rolled back from, once `run` is its last one. */
export function rollbackOrigin(last: TargetRunKey | null, run: RunKey): RunKey | undefined {
  const latest = last?.rollbackOf ?? last ?? undefined;
  return latest && isLaterRun(latest, run)
    ? { run: latest.run, sequence: latest.sequence, sha256: latest.sha256 }
    : undefined;
}

/** Orders runs by number, never by a clock. */
export function isLaterRun(one: RunKey, other: RunKey): boolean {
  return one.sequence > other.sequence;
}

export function isAmong(run: RunKey, runs: readonly RunKey[]): boolean {
  return runs.some((each) => sameRun(each, run));
}

/** A run, and the runs of its warehouse that it is related to. */
export interface RunAncestry extends RunKey {
  /** All runs that it continues, newest first, up to one whose manifest could not be read. */
  readonly past: readonly RunKey[];
  /**
   * All runs of the folder, and pruned runs that had been rolled back. A run made beside one of these was a decision.
   */
  readonly known: readonly RunKey[];
}

/**
 * The last run of a target compared with a run of a warehouse. `earlier`: the run may replace it. `other`: it has the
 * same number and was made elsewhere. `apart`: it has a lower number, and nothing proves that the run continues it.
 * `undone`: it was rolled back from the run, or from a later one.
 */
export type RunStanding = "same" | "earlier" | "other" | "later" | "apart" | "undone";

export function standingOf(last: TargetRunKey, run: RunAncestry): RunStanding {
  if (sameRun(last, run)) return "same";
  if (isLaterRun(last, run)) return "later";
  if (last.rollbackOf !== undefined && !isLaterRun(run, last.rollbackOf)) return "undone";
  if (!isLaterRun(run, last)) return "other";
  if (goesOnFromUndone(last, run)) return "apart";
  return isAmong(last, [...run.past, ...run.known]) ? "earlier" : "apart";
}

/** Whether the run is the one that a target was rolled back from, or continues it. */
export function goesOnFromUndone({ rollbackOf }: TargetRunKey, run: RunAncestry): boolean {
  return rollbackOf !== undefined && isAmong(rollbackOf, [run, ...run.past]);
}

export function runText({ run, sequence, sha256 }: RunKey): string {
  const manifest = sha256 === undefined ? "" : `, manifest ${sha256.slice(0, DIGEST_DIGITS)}`;
  return `run ${sequence} (${nameOf(run)}${manifest})`;
}

type PreviousRunRef = Pick<Manifest, "previousRun" | "previousSha256">;
type AncestorsRef = PreviousRunRef & Pick<Manifest, "ancestors">;

/** `ancestors` in the manifest of a run that continues the run with this manifest. */
export function nextAncestors({ previousRun, previousSha256, ancestors }: AncestorsRef): string[] {
  if (previousRun === null || previousSha256 === undefined) return [];
  return [`${previousRun} ${previousSha256}`, ...ancestors];
}

/** Runs that a run continues, newest first. `manifest`: that of the run, or why it cannot be read. */
export function ancestorsOf(manifest: AncestorsRef | WarehouseError): RunKey[] {
  if (manifest instanceof WarehouseError) return [];
  const others = manifest.ancestors.map((line) => {
    const [previousRun = "", previousSha256] = line.split(" ");
    return previousKey({ previousRun, previousSha256 });
  });
  return [previousKey(manifest), ...others].filter((each) => each !== undefined);
}

/** A run, followed by the runs that it continues. */
export function withAncestors(
  run: (RunKey & { readonly manifest: AncestorsRef | WarehouseError }) | undefined,
): readonly RunKey[] {
  return run === undefined ? [] : [run, ...ancestorsOf(run.manifest)];
}

/** Whether the history has another run of the same number. */
export function isReplaced(run: RunKey, past: readonly RunKey[]): boolean {
  return past.some((each) => each.sequence === run.sequence && !sameRun(each, run));
}

function previousKey({ previousRun, previousSha256: sha256 }: PreviousRunRef): RunKey | undefined {
  const named = parseRunName(previousRun ?? "");
  return named && { run: named.run, sequence: named.sequence, sha256 };
}

/** Kept run that another run was compared with; `undefined` if there was none, or it was removed. */
export function previousOf<Run extends RunKey>(
  stated: PreviousRunRef,
  runs: readonly Run[],
): Run | undefined {
  const before = previousKey(stated);
  return before && runs.find((each) => sameRun(each, before));
}
