/** Uploads a run where no reader looks; its commit claims its number, and then commits each table. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../common/clock.ts";
import type { DeliveredRun, StagedLoad } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import { laterRun } from "../../warehouse/identity.ts";
import { proveConditionalPut, type Store } from "../store/store.ts";
import { tablesTaken } from "./check.ts";
import { claimOf, isPast, keyedFiles, lastClaim } from "./claim.ts";
import { assertNext, commitDelivery, isOf } from "./commit.ts";
import { LANES, type LakePlace, settle } from "./finish.ts";
import { type Plan, planDelivery, type Upload } from "./plan.ts";
import { register, registeredService } from "./registration.ts";

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
