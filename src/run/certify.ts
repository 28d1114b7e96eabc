/**
 * When a run is complete. One pass over a list that changes cannot know what it missed, whatever its count says: an
 * item that is edited can jump from a page that is still to come to one that was read. Two clean passes in a row that
 * saw the same items, each of the same time, cannot both have missed it: what they saw is what there was in between.
 */
import type { Sightings } from "./catalogue.ts";

export type SweepMode = "dynamic" | "full" | "basic";

/** One pass, as far as the verdict needs it. */
export interface Passed {
  readonly sweep: number;
  readonly mode: SweepMode;
  readonly sightings: Sightings;
  /** Why the pass is not clean; empty: it is. */
  readonly reasons: readonly string[];
}

/** What the run holds of the items: the views that were staged, by their times. */
export interface Holdings {
  /** IDs whose staged views are not those that the pass saw, and IDs that it did not see and that are not known gone. */
  stale(pass: Passed, ignoreDynamic: boolean): string[];
}

export interface CertifyPorts<Pass extends Passed> {
  sweep(sweep: number, mode: SweepMode): Promise<Pass>;
  readonly holdings: Holdings;
  /** Asks for items singly, in both shapes, so that their staged views are new ones, or they are known to be gone. */
  repair(sweep: number, ids: readonly string[]): Promise<void>;
}

export interface Certificate<Pass extends Passed> {
  readonly sweeps: readonly Pass[];
  /** Why the run is unsettled; empty: it is complete. */
  readonly reasons: readonly string[];
}

export const SWEEPS_AT_MOST = 6;
/** Stale items that are asked for singly at most, as a share of all, and in any case. */
const REPAIR_SHARE = 0.2;
const REPAIR_ANYWAY = 200;
/** From this share of items on whose time differs, while the IDs agree, the modes mean different instants. */
const OTHER_INSTANT_SHARE = 0.5;
const EXAMPLES = 3;

/**
 * Reads the dynamic and the full listing, and while the last two passes do not agree, asks for what changed singly and
 * passes once more over the cheap basic listing.
 */
export async function certify<Pass extends Passed>(ports: CertifyPorts<Pass>): Promise<Certificate<Pass>> {
  const sweeps = [await ports.sweep(1, "dynamic"), await ports.sweep(2, "full")];
  let ignoreDynamic = false;
  for (;;) {
    const [before, last] = sweeps.slice(-2);
    if (before === undefined || last === undefined) throw new RangeError("two passes were made");
    ignoreDynamic ||= before.mode === "dynamic" && meanOtherInstants(before.sightings, last.sightings);
    const stale = ports.holdings.stale(last, ignoreDynamic);
    const reasons = disagreements(before, last, stale);
    if (reasons.length === 0 || sweeps.length === SWEEPS_AT_MOST) return { sweeps, reasons };
    const bearable = Math.max(REPAIR_ANYWAY, last.sightings.distinct * REPAIR_SHARE);
    if (stale.length > 0 && stale.length <= bearable) await ports.repair(sweeps.length, stale);
    sweeps.push(await ports.sweep(sweeps.length + 1, "basic"));
  }
}

/** Whether nearly every item has another time in the two passes, while both saw the same items. */
function meanOtherInstants(a: Sightings, b: Sightings): boolean {
  if (a.distinct !== b.distinct) return false;
  let different = 0;
  for (const id of a.differences(b)) {
    if (!a.saw(id) || !b.saw(id)) return false;
    different += 1;
  }
  return different > a.distinct * OTHER_INSTANT_SHARE;
}

function disagreements(before: Passed, last: Passed, stale: readonly string[]): string[] {
  const reasons = [before, last].flatMap((pass) =>
    pass.reasons.map((reason) => `pass ${pass.sweep} (${pass.mode}) is not clean: ${reason}`),
  );
  const different = [...before.sightings.differences(last.sightings)];
  if (different.length > 0) {
    reasons.push(`passes ${before.sweep} and ${last.sweep} differ in ${named(different)}`);
  }
  if (stale.length > 0) reasons.push(`what was read is not what pass ${last.sweep} saw of ${named(stale)}`);
  return reasons;
}

function named(ids: readonly string[]): string {
  const more = ids.length > EXAMPLES ? ", ..." : "";
  return `${ids.length} items (${ids.slice(0, EXAMPLES).join(", ")}${more})`;
}
