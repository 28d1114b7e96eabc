/** From the last claim to the uploads of the run after it. */
import type { DeliveredRun } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import type { Store } from "../store/store.ts";
import type { Claim } from "./claim.ts";
import { LANES, type LakePlace, type Settled } from "./finish.ts";
import { numberAfter } from "./history.ts";
import { type Plan, planDelivery, type Upload } from "./plan.ts";

/** `earlier`: of the same run; it holds where nothing was claimed since. */
export async function planAfter(
  { instance }: LakePlace,
  run: DeliveredRun,
  settled: Settled,
  earlier?: Plan,
): Promise<Plan> {
  const last = finished(settled);
  const number = numberAfter(settled, run);
  if (earlier?.number === number && earlier.after === (last?.attempt ?? null)) return earlier;
  return planDelivery(run, instance, { last, number, since: settled.since, waiting: settled.waiting });
}

function finished({ claim, fault }: Settled): Claim | null {
  return fault === null ? claim : null;
}

/** What is there stays. The manifest comes after everything that it names. */
export async function uploadAll(
  store: Store,
  uploads: readonly Upload[],
  run: Pick<DeliveredRun, "onProgress">,
): Promise<void> {
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
