/** Uploads a run where no reader looks; its commit claims its number, and then commits each table. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../common/clock.ts";
import type { DeliveredRun, StagedLoad } from "../../pipeline.ts";
import { proveConditionalPut } from "../store/store.ts";
import { assertTaken } from "./check.ts";
import { isPast, keyedFiles } from "./claim.ts";
import { assertNext, commitDelivery, isOf } from "./commit.ts";
import { type LakePlace, settle } from "./finish.ts";
import { claimOf, highestNumber, historyOf } from "./history.ts";
import type { Plan } from "./plan.ts";
import { register, registeredService } from "./registration.ts";
import { planAfter, uploadAll } from "./upload.ts";

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
    const isWhole = settled.fault === null && settled.waiting.length === 0;
    if (isWhole && isOf(run, settled.claim)) return NOTHING_TO_DO;
    assertNext(store, settled.claim, run);
    const plan = await planAfter(place, run, settled);
    await assertTaken(store, plan.tables);
    const name = { instance, since: plan.since };
    if ((await registeredService(store, name)) === null) await proveConditionalPut(store);
    await register(store, name, run.instance);
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

/**
 * Removes the uploads of a run that the lake has gone past: nobody can claim it any more. Others stay: the next attempt
 * at this run goes on with them, or another one is doing so now; and files of the run before are not its own.
 */
async function discard(
  { store, instance }: LakePlace,
  run: DeliveredRun,
  { number, uploads }: Plan,
): Promise<void> {
  if (number > highestNumber(await historyOf(store, instance))) return;
  const winner = await claimOf(store, instance, number);
  if (winner !== undefined && (isPast(winner) || isOf(run, winner))) return;
  const named = new Set(keyedFiles(winner?.tables ?? []).map(({ key }) => key));
  const own = uploads.flatMap(({ key, isKept }) => (isKept ? [] : [key]));
  await store.remove(own.filter((key) => !named.has(key)));
}
