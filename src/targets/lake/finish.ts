/** From a claim to its commits: by whoever put it, or by anybody who finds it unfinished. */
import { WarehouseError } from "../../common/errors.ts";
import type { InstanceIdentity } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import type { Store } from "../store/store.ts";
import { type Claim, keyedFiles, lastClaim } from "./claim.ts";
import { checkpointIfDue, cleanLog } from "./delta/checkpoint.ts";
import { commitReplacement } from "./delta/commit.ts";
import { readTable } from "./delta/read.ts";
import { DAY_MS, retentionOf } from "./delta/retention.ts";
import { assertSameService, registeredService } from "./registration.ts";
import { commitSnapshot, RUN_SNAPSHOTS, snapshotSequence } from "./snapshots.ts";

/** Tables or files at a time. */
export const LANES = Array.from({ length: 8 }, (_, lane) => lane);

export interface LakePlace {
  readonly store: Store;
  readonly instance: string;
  /** Days that the versions of the tables are kept. */
  readonly logRetentionDays: number;
}

/** The claim that was put last. */
export interface Settled {
  /** Null: nothing was delivered yet. */
  readonly claim: Claim | null;
  /** Why it cannot be finished, whoever tries: a file of it or a table was changed by hand. Null: it is finished. */
  readonly fault: WarehouseError | null;
}

/**
 * Finishes the last claim. `service`: null where it is not known. Throws `target.refused` where the instance's name belongs
 * to another service.
 */
export async function settle(
  place: LakePlace,
  service: InstanceIdentity | null,
  signal: AbortSignal,
): Promise<Settled> {
  const { store, instance } = place;
  if (service !== null) {
    assertSameService(store, instance, await registeredService(store, instance), service);
  }
  const claim = await lastClaim(store, instance);
  if (claim === null || (await snapshotSequence(store, instance)) >= claim.sequence) {
    return { claim, fault: null };
  }
  try {
    await assertUploaded(store, claim);
    const isFinished = await finish(place, claim, signal);
    return isFinished ? { claim, fault: null } : await settle(place, service, signal);
  } catch (thrown) {
    if (thrown instanceof WarehouseError && thrown.code === "target.refused") return { claim, fault: thrown };
    throw thrown;
  }
}

/**
 * Commits each table of a claim, then the run's rows in `run_snapshots`. What is committed already stays. False: a later
 * claim has been put meanwhile, by others who finished this one or could not.
 */
export async function finish(place: LakePlace, claim: Claim, signal: AbortSignal): Promise<boolean> {
  const { store, logRetentionDays: retentionDays } = place;
  const versions = new Map<string, number>();
  await inParallel(LANES, claim.tables, async (_, table) => {
    const replacement = { ...claim, table, files: table.files, retentionDays };
    const version = await commitReplacement(store, replacement, signal);
    if (version !== null) versions.set(table.name, version);
  });
  if (versions.size < claim.tables.length) return false;
  const last = await commitSnapshot(place, claim, versions, signal);
  if (last !== null) versions.set(RUN_SNAPSHOTS.name, last);
  const nowMs = Date.now();
  await inParallel(LANES, [...versions], async (_, [table, version]) => {
    const isMade = await checkpointIfDue(store, table, version, {
      nowMs,
      retentionMs: retentionDays * DAY_MS,
    });
    const state = isMade ? await readTable(store, table) : null;
    if (state === null) return;
    const { logMs } = retentionOf(state.metaData.configuration, { ...place, retentionDays });
    await cleanLog(store, table, { nowMs, retentionMs: logMs });
  });
  return true;
}

/** A claim of another process: a table must never name a file that is not there. Throws `target.refused`. */
async function assertUploaded(store: Store, claim: Claim): Promise<void> {
  await inParallel(LANES, keyedFiles(claim.tables), async (_, { key, bytes }) => {
    for await (const found of store.list(key)) if (found.key === key && found.bytes === bytes) return;
    throw new WarehouseError(
      "target.refused",
      `${key} in ${store.address} is missing, so the delivery of ${claim.run} cannot be finished; repeat it where that run is published: content-warehouse deliver ${claim.run}.`,
    );
  });
}
