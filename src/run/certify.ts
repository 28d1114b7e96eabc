/**
 * When a run is complete. One pass over a list that changes cannot know what it missed, whatever its count says: an
 * item that is edited can jump from a page that is still to come to one that was read. Two clean passes in a row that
 * saw the same items, each of the same time, cannot both have missed it: what they saw is what there was in between.
 * Of a run that was taken up, the pass after that moment must be wholly of the time since, however slow the one before.
 */
import type { Holdings } from "./catalogue.ts";
import { type ComparedPass, disagreements } from "./verdict.ts";

export type SweepMode = "dynamic" | "full" | "basic";

export interface CertifyPorts<Pass extends ComparedPass> {
  sweep(sweep: number, mode: SweepMode): Promise<Pass>;
  readonly holdings: Holdings;
  /**
   * Asks for items singly, in both shapes, so that new views of them are held, or they are known to be gone. `sweep`:
   * the pass that it comes after.
   */
  repair(sweep: number, ids: readonly string[]): Promise<void>;
}

export interface Certificate<Pass extends ComparedPass> {
  readonly sweeps: readonly Pass[];
  /** Why the run is unsettled; empty: it is complete. */
  readonly disagreements: readonly string[];
}

export const SWEEPS_AT_MOST = 6;
/** Stale items that are asked for singly at most: a share of all, and so many in any case. Else both are read anew. */
const REPAIR_SHARE = 0.2;
const REPAIR_ANYWAY = 200;
/** From this share of items on whose time differs, while the IDs agree, the modes mean different instants by it. */
const OTHER_INSTANT_SHARE = 0.5;
const OTHER_INSTANT_ANYWAY = 20;
const EXAMPLES = 3;

/**
 * Reads the dynamic and the full listing, and while the last two passes do not agree, asks singly for what changed and
 * passes once more over the cheap basic listing, six passes in all. Where much changed, both listings are read anew.
 */
export async function certify<Pass extends ComparedPass>(
  ports: CertifyPorts<Pass>,
): Promise<Certificate<Pass>> {
  const { holdings } = ports;
  const sweeps: Pass[] = [];
  const pass = async (mode: SweepMode): Promise<Pass> => {
    const made = await ports.sweep(sweeps.length + 1, mode);
    sweeps.push(made);
    return made;
  };
  let before = await pass("dynamic");
  let last = await pass("full");
  const fullOnly = meanOtherInstants(before, last);
  for (;;) {
    const stale = holdings.stale(last.sightings, fullOnly);
    const reasons = [...disagreements(before, last), ...staleReasons(last, stale), ...keptReasons(last)];
    if (reasons.length === 0 || sweeps.length === SWEEPS_AT_MOST) return { sweeps, disagreements: reasons };
    const bearable = Math.max(REPAIR_ANYWAY, last.sightings.distinct * REPAIR_SHARE);
    if (stale.length > bearable && sweeps.length + 2 <= SWEEPS_AT_MOST) {
      before = await pass("dynamic");
      last = await pass("full");
      continue;
    }
    if (stale.length > 0 && stale.length <= bearable) await ports.repair(sweeps.length, stale);
    before = last;
    last = await pass("basic");
  }
}

/** What was read before the run was taken up says nothing of what there is now: the last pass must be one of now. */
function keptReasons({ mode, keptPages }: ComparedPass): string[] {
  return keptPages === 0 ? [] : [`the ${mode} pass was begun before the run was taken up again`];
}

/** Whether nearly every item has another time in the two passes, while both saw the same items. */
function meanOtherInstants(a: ComparedPass, b: ComparedPass): boolean {
  let different = 0;
  for (const id of a.sightings.differences(b.sightings)) {
    if (!a.sightings.saw(id) || !b.sightings.saw(id)) return false;
    different += 1;
  }
  return different > Math.max(OTHER_INSTANT_ANYWAY, a.sightings.distinct * OTHER_INSTANT_SHARE);
}

function staleReasons(last: ComparedPass, stale: readonly string[]): string[] {
  if (stale.length === 0) return [];
  const examples = stale.slice(0, EXAMPLES).join(", ") + (stale.length > EXAMPLES ? ", ..." : "");
  const what = stale.length === 1 ? "1 item is" : `${stale.length} items are`;
  return [
    `${what} not held as the ${last.mode} pass saw ${stale.length === 1 ? "it" : "them"} (${examples})`,
  ];
}
