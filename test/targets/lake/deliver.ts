import type { DeliveredRun, Target } from "../../../src/pipeline.ts";
import { type LakeTarget, lakeIn } from "../../../src/targets/lake/lake.ts";
import type { Store } from "../../../src/targets/store/store.ts";

export const INSTANCE = "one";

export function on(store: Store, instance = INSTANCE): LakeTarget {
  return lakeIn(async () => store, { instance });
}

/** As a delivery is made: what fails is taken back. */
export async function deliver(target: Target, run: DeliveredRun): Promise<void> {
  const staged = await target.stage(run);
  try {
    await staged.commit();
  } catch (thrown) {
    await staged.abort();
    throw thrown;
  }
}
