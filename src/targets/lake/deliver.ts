/**
 * START HERE: a delivery, in five steps.
 *
 * 1. read    `instance.ts`: which run has the lake? The new run must descend from it, or replace it by a rollback.
 * 2. upload  `delivery.ts`: files that the tables do not name are uploaded under new names.
 * 3. claim   `commits.ts`: the next delivery number is taken, by a commit to `run_snapshots` that holds only a `txn`.
 * 4. commit  Each table is committed with that number.
 * 5. finish  The rows of the run are committed to `run_snapshots`, with the same number.
 *
 * Every commit is put only if its version does not exist yet. The log of `run_snapshots` puts the deliveries of an instance
 * in order: a delivery stops when it finds a higher number than its own. No process finishes the delivery of another one.
 * A killed delivery is repeated. The repetition commits every table, so that late writes of the killed one collide.
 */
import type { DeliveredRun, StagedLoad } from "../../pipeline.ts";
import { claimNumber, commitTables, finishDelivery } from "./commits.ts";
import { describeTables, type LakeDelivery, uploadCopy, uploadTables } from "./delivery.ts";
import { type InstanceState, type LakeSession, readBeforeDelivery } from "./instance.ts";
import { isCopied } from "./keys.ts";

/** Opens a session for one step and closes it. Once the signal is aborted, every call to the store throws its reason. */
export type LakeOpener = <Result>(
  signal: AbortSignal,
  use: (session: LakeSession) => Promise<Result>,
) => Promise<Result>;

/** Steps 1 and 2; `commit` does the others. After a failure `lake vacuum` removes what was uploaded. */
export async function stageDelivery(open: LakeOpener, run: DeliveredRun): Promise<StagedLoad> {
  const tables = describeTables(run);
  const copied = [...run.files.filter(({ path }) => isCopied(path)), run.manifest];
  const total = [...copied, ...tables.flatMap(({ files }) => files)].reduce(
    (sum, { bytes }) => sum + bytes,
    0,
  );
  let done = 0;
  const onUpload = (bytes: number) => {
    done += bytes;
    run.onProgress(done, total);
  };
  return await open(run.signal, async (session) => {
    const beganMs = session.clock.now();
    const delivery = { run, tables, uploaded: new Map(), beganMs, signal: run.signal, onUpload };
    const seen = await readAndUpload(session, delivery, run);
    const commit = async () => {
      if (seen !== null) await open(run.signal, (again) => commitDelivery(again, delivery, run, seen));
    };
    return { commit, abort: async () => {} };
  });
}

/** `null` if the lake has the run. */
async function readAndUpload(
  session: LakeSession,
  delivery: LakeDelivery,
  run: DeliveredRun,
): Promise<InstanceState | null> {
  const seen = await readBeforeDelivery(session, run, delivery.tables);
  if (seen !== null) await uploadTables(session, delivery);
  return seen;
}

async function commitDelivery(
  session: LakeSession,
  delivery: LakeDelivery,
  run: DeliveredRun,
  first: InstanceState,
): Promise<void> {
  let seen: InstanceState | null = first;
  while (seen !== null) {
    const claim = await claimNumber(session, delivery, seen);
    if (claim !== null) {
      await uploadCopy(session, delivery, claim.number);
      const tables = await commitTables(session, delivery, claim);
      return await finishDelivery(session, delivery, claim, tables);
    }
    seen = await readAndUpload(session, delivery, run);
  }
}
