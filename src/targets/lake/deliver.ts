/**
 * START HERE: a delivery, in five steps, each in the file of its name.
 *
 * 1. look    Which run has the lake? The new one must descend from it, or take its place by a rollback.
 * 2. upload  What the tables do not name is uploaded under new names.
 * 3. claim   The next delivery number is taken, by a commit to `run_snapshots` that holds only a `txn`.
 * 4. commit  Each table is committed with that number.
 * 5. finish  The rows of the run are committed to `run_snapshots`, with the same number.
 *
 * Every commit is put if its version is not there yet. The log of `run_snapshots` puts the deliveries of an instance in
 * order: whoever finds a higher number than its own stops. Nobody finishes the delivery of another process; one that was
 * killed is done again, and commits every table, so that whatever of the killed one is still on its way collides.
 */
import type { DeliveredRun, StagedLoad } from "../../pipeline.ts";
import { claimNumber } from "./claim.ts";
import { commitTables } from "./commits.ts";
import type { LakeDelivery } from "./delivery.ts";
import { type DeliveryTable, describeTables } from "./delivery-tables.ts";
import { finishDelivery } from "./finish.ts";
import { type InstanceState, readBeforeDelivery } from "./instance.ts";
import { isCopied } from "./keys.ts";
import type { LakeOpener, LakeSession } from "./session.ts";
import { uploadCopy, uploadTables } from "./upload.ts";

/** Steps 1 and 2; `commit` does the others. What stays after a failure, `lake vacuum` removes. */
export async function stageDelivery(open: LakeOpener, run: DeliveredRun): Promise<StagedLoad> {
  return await stageTables(open, run, await describeTables(run));
}

export function stageTables(
  open: LakeOpener,
  run: DeliveredRun,
  tables: readonly DeliveryTable[],
): Promise<StagedLoad> {
  return open(run.signal, async (place) => {
    const delivery = newDelivery(place, run, tables);
    const look = await lookAndUpload(place, delivery, run);
    const commit = async () => {
      if (look !== null) await open(run.signal, (again) => commitDelivery(again, delivery, run, look));
    };
    return { commit, abort: async () => {} };
  });
}

function newDelivery(
  { clock }: LakeSession,
  run: DeliveredRun,
  tables: readonly DeliveryTable[],
): LakeDelivery {
  const copied = [...run.files.filter(({ path }) => isCopied(path)), run.manifest];
  const files = [...copied, ...tables.flatMap((table) => table.files)];
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const onUpload = (bytes: number) => {
    done += bytes;
    run.onProgress(done, total);
  };
  return { run, tables, uploaded: new Map(), beganMs: clock.now(), signal: run.signal, onUpload };
}

/** Null: the lake has the run. */
async function lookAndUpload(
  place: LakeSession,
  delivery: LakeDelivery,
  run: DeliveredRun,
): Promise<InstanceState | null> {
  const look = await readBeforeDelivery(place, run, delivery.tables);
  if (look !== null) await uploadTables(place, delivery);
  return look;
}

async function commitDelivery(
  place: LakeSession,
  delivery: LakeDelivery,
  run: DeliveredRun,
  first: InstanceState,
): Promise<void> {
  let look: InstanceState | null = first;
  while (look !== null) {
    const claim = await claimNumber(place, delivery, look);
    if (claim !== null) {
      await uploadCopy(place, delivery, claim.number);
      const committed = await commitTables(place, delivery, claim);
      return await finishDelivery(place, delivery, claim, committed);
    }
    look = await lookAndUpload(place, delivery, run);
  }
}
