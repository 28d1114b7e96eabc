/** Delivers a run in three steps: upload where no reader looks, claim its number, commit each table. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../common/clock.ts";
import { WarehouseError } from "../../common/errors.ts";
import type { DeliveredRun, StagedLoad } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import { laterRun, sameRun, standingOf } from "../../warehouse/identity.ts";
import { fenced } from "../fenced.ts";
import { proveConditionalPut, type Store } from "../store/store.ts";
import { droppedSince, tablesTaken } from "./check.ts";
import { type Claim, claimOf, isPast, keyedFiles, lastClaim, newClaim, putClaim, runOf } from "./claim.ts";
import { finish, LANES, type LakePlace, settle } from "./finish.ts";
import { type Plan, planDelivery, type Upload } from "./plan.ts";
import { register, registeredService } from "./registration.ts";
import { snapshotVersions } from "./snapshots.ts";

/** Opens the lake for one step. Once the signal is aborted, whatever the step asks of the store throws its reason. */
export type OpenLake = <Result>(
  signal: AbortSignal,
  use: (place: LakePlace) => Promise<Result>,
) => Promise<Result>;

/** What is taken back may be so after the delivery's own signal; what stays is dead, and `lake vacuum` removes it. */
const TAKE_BACK_MS = 10_000;

/** Uploads a run. Throws `target.fenced` where the lake has a later run, or another one of its number. */
export function stageDelivery(open: OpenLake, run: DeliveredRun, clock: Clock): Promise<StagedLoad> {
  return open(run.signal, async (place) => {
    const { store, instance } = place;
    const settled = await settle(place, run.instance, run.signal);
    if (isOf(run, settled.claim) && settled.fault === null) return NOTHING_TO_DO;
    assertNext(store, settled.claim, run);
    const plan = await planDelivery(run, instance);
    await tablesTaken(store, settled, plan.tables);
    if ((await registeredService(store, instance)) === null) await proveConditionalPut(store);
    await register(store, instance, run.instance);
    await uploadAll(store, plan.uploads, run);
    const attempt = randomUUID();
    return {
      commit: () =>
        open(run.signal, (again) => commitDelivery(again, run, plan, { attempt, atMs: clock.now() })),
      abort: () => open(AbortSignal.timeout(TAKE_BACK_MS), (again) => discard(again, run, plan)),
    };
  });
}

const NOTHING_TO_DO: StagedLoad = { commit: async () => {}, abort: async () => {} };

function isOf(run: DeliveredRun, claim: Claim | null): boolean {
  return claim !== null && sameRun(runOf(claim), run);
}

/** Throws `target.fenced` where the last claim leaves no place for the run. */
function assertNext({ address }: Store, last: Claim | null, run: DeliveredRun): void {
  if (last === null || isOf(run, last) || standingOf(runOf(last), run) === "earlier") return;
  throw fenced(address, runOf(last), run);
}

/** The manifest comes after everything that it names. */
async function uploadAll(store: Store, uploads: readonly Upload[], run: DeliveredRun): Promise<void> {
  const total = uploads.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const upload = async (_: number, { key, file, bytes, sha256 }: Upload) => {
    await store.upload(key, file, { bytes, sha256 });
    done += bytes;
    run.onProgress(done, total);
  };
  await inParallel(LANES, uploads.slice(0, -1), upload);
  await inParallel([0], uploads.slice(-1), upload);
}

async function commitDelivery(
  place: LakePlace,
  delivered: DeliveredRun,
  plan: Plan,
  made: Pick<Claim, "attempt" | "atMs">,
): Promise<void> {
  const { store, instance } = place;
  const { signal } = delivered;
  for (;;) {
    const settled = await settle(place, delivered.instance, signal);
    if (isOf(delivered, settled.claim)) {
      if (settled.fault !== null) throw settled.fault;
      return;
    }
    assertNext(store, settled.claim, delivered);
    const tables = [...plan.tables, ...droppedSince(settled, plan.tables)];
    const claim = newClaim({ ...delivered, ...made, instance, tables });
    if (!(await putClaim(store, claim, settled.claim))) continue;
    const isFinished = await finish(place, claim, signal);
    if (!isFinished && (await snapshotVersions(store, claim)).size === 0) throw givenUp(store, delivered);
    return;
  }
}

function givenUp({ address }: Store, { run }: DeliveredRun): WarehouseError {
  return new WarehouseError(
    "target.fenced",
    `${address} went on to a later run, because a file or a table of ${run} was changed before all tables had it; run again, and deliver the new run.`,
  );
}

/**
 * Removes the uploads of a run that the lake has gone past: nobody can claim it any more. Others stay: the next attempt
 * at this run goes on with them, or another one is doing so now.
 */
async function discard({ store, instance }: LakePlace, run: DeliveredRun, { uploads }: Plan): Promise<void> {
  const last = await lastClaim(store, instance);
  if (last === null || laterRun(run, last)) return;
  const winner = await claimOf(store, instance, run.sequence);
  if (winner !== undefined && (isPast(winner) || isOf(run, winner))) return;
  const named = new Set(keyedFiles(winner?.tables ?? []).map(({ key }) => key));
  await store.remove(uploads.map(({ key }) => key).filter((key) => !named.has(key)));
}
