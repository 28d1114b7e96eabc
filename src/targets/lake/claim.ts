/** Step 3: takes the next delivery number of the instance, by a commit to `run_snapshots` that holds only a `txn`. */

import type { LakeDelivery } from "./delivery.ts";
import { putNext, readAgain } from "./delta/commit.ts";
import { activeFiles, deliveryNumber, type TableState } from "./delta/state.ts";
import { type InstanceState, removalId } from "./instance.ts";
import type { LakeSession } from "./session.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";

export interface DeliveryClaim {
  /** Number of the delivery. */
  readonly number: number;
  /** Whether the delivery before never finished: then every table gets a commit, so that it collides and stops. */
  readonly followsUnfinished: boolean;
}

/** Null: another delivery of the instance began or finished since the look. */
export async function claimNumber(
  place: LakeSession,
  delivery: LakeDelivery,
  look: InstanceState,
): Promise<DeliveryClaim | null> {
  const { store, instance, logRetentionDays: retentionDays, clock } = place;
  const { run, signal } = delivery;
  const number = look.number + 1;
  let state = look.snapshots;
  for (let failed = 0; ; failed++) {
    if (isOvertaken(state, look, instance)) return null;
    const change = {
      table: RUN_SNAPSHOTS,
      instance,
      number,
      files: null,
      retentionDays,
      run: run?.run ?? null,
    };
    const put = await putNext(store, state, change, clock.now());
    if (typeof put === "object") return { number, followsUnfinished: look.isUnfinished };
    state = await readAgain(store, { table: RUN_SNAPSHOTS.name, state, put }, { clock, signal, failed });
  }
}

/** A finish has the number of its own claim, so the number alone does not tell: it also changes the rows, or is a removal. */
function isOvertaken(state: TableState | null, { snapshots }: InstanceState, instance: string): boolean {
  const rowsIn = (of: TableState | null) =>
    of === null ? [] : activeFiles(of, instance).map(({ path }) => path);
  return (
    deliveryNumber(state, instance) !== deliveryNumber(snapshots, instance) ||
    deliveryNumber(state, removalId(instance)) !== deliveryNumber(snapshots, removalId(instance)) ||
    rowsIn(state).join() !== rowsIn(snapshots).join()
  );
}
