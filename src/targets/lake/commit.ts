/** Claims the number of a run that was uploaded, and commits each table. */
import { WarehouseError } from "../../common/errors.ts";
import type { DeliveredRun } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import { rolledBackFrom, sameRun } from "../../warehouse/identity.ts";
import { assertMayFollow } from "../fenced.ts";
import type { Store } from "../store/store.ts";
import { droppedSince } from "./check.ts";
import { type Claim, newClaim, runOf } from "./claim.ts";
import { finish, LANES, type LakePlace, settle } from "./finish.ts";
import { historyOf, putClaim } from "./history.ts";
import type { Plan } from "./plan.ts";
import { snapshotOf } from "./snapshots.ts";
import { planAfter, uploadAll } from "./upload.ts";
import { assertWhole, waitingOf } from "./waiting.ts";

/** `planned`: what was uploaded; where others claimed since, it is planned anew. Throws `target.fenced` where another run came first, `target.waits` where tables do. */
export async function commitDelivery(
  place: LakePlace,
  delivered: DeliveredRun,
  planned: Plan,
  made: Pick<Claim, "attempt" | "atMs">,
): Promise<void> {
  const { store, instance } = place;
  const { signal } = delivered;
  let plan = planned;
  for (;;) {
    const settled = await settle(place, delivered.instance, signal);
    const { since } = settled;
    if (since !== planned.since) throw removedMeanwhile(place, delivered);
    if (isOf(delivered, settled.claim)) {
      if (settled.fault !== null) throw settled.fault;
      return assertWhole(settled.waiting);
    }
    assertNext(store, settled.claim, delivered);
    const before = plan;
    plan = await planAfter(place, delivered, settled, before);
    if (plan !== before) await uploadAll(store, plan.uploads, delivered);
    const tables = [...plan.tables, ...droppedSince(settled, plan.tables)];
    const rollbackOf = settled.claim === null ? undefined : rolledBackFrom(runOf(settled.claim), delivered);
    const claim = newClaim({
      ...delivered,
      ...made,
      sequence: plan.number,
      since,
      published: delivered.sha256,
      instance,
      tables,
      rollbackOf,
    });
    if (!(await putClaim(store, claim, settled))) continue;
    const waiting = await finish(place, claim, signal);
    if (waiting !== null) return assertWhole(waiting);
    const { versions, missing } = await snapshotOf(store, claim);
    const lacking = tables.filter(({ name }) => missing.includes(name));
    assertWhole((await inParallel(LANES, lacking, (_, table) => waitingOf(store, table))).flat());
    if (versions.size > 0 && lacking.length === 0) return;
    const isRemoved = (await historyOf(store, instance)).since !== since;
    throw isRemoved ? removedMeanwhile(place, delivered) : givenUp(store, delivered);
  }
}

function removedMeanwhile({ store, instance }: LakePlace, { run }: DeliveredRun): WarehouseError {
  return new WarehouseError(
    "target.fenced",
    `The instance ${instance} was removed from ${store.address} while ${run} was delivered; to have it there again, repeat it: content-warehouse deliver.`,
  );
}

function givenUp({ address }: Store, { run }: DeliveredRun): WarehouseError {
  return new WarehouseError(
    "target.fenced",
    `${address} went on to a later run, because a file or a table of ${run} was changed before all tables had it; run again, and deliver the new run.`,
  );
}

/** Whether a claim is of this very run. */
export function isOf(run: DeliveredRun, claim: Claim | null): boolean {
  return claim !== null && sameRun(runOf(claim), run);
}

/** Throws `target.fenced` where the last claim leaves no place for the run. */
export function assertNext({ address }: Store, last: Claim | null, run: DeliveredRun): void {
  assertMayFollow({ name: address, keepsRuns: true }, last && runOf(last), run);
}
