/** What the readers of a lake see. */
import type { InstanceIdentity, LastRun } from "../../pipeline.ts";
import { runOf } from "./claim.ts";
import { type LakePlace, settle } from "./finish.ts";
import { claimOf, highestNumber, historyOf } from "./history.ts";
import { snapshotSequence } from "./snapshots.ts";
import { waitingText } from "./waiting.ts";

/**
 * The last run that all tables have but those that wait; null: there is none. Finishes the last claim first, as far as
 * that can be done.
 */
export async function lastRun(
  place: LakePlace,
  service: InstanceIdentity | null,
  signal: AbortSignal,
): Promise<LastRun | null> {
  const { store, instance } = place;
  const { claim, fault, waiting } = await settle(place, service, signal);
  const seen =
    fault === null ? claim : await claimOf(store, instance, await snapshotSequence(store, instance));
  const waits = waitingText(waiting);
  return seen ? { ...runOf(seen), ...(waits === null ? {} : { waits }) } : null;
}

/** The highest number of a run that was claimed, finished or not, or of a removal. */
export async function highestTaken({ store, instance }: LakePlace): Promise<number> {
  return highestNumber(await historyOf(store, instance));
}
