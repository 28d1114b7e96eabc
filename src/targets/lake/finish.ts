/** From a claim to its commits: by whoever put it, or by anybody who finds it unfinished. */
import { WarehouseError } from "../../common/errors.ts";
import type { InstanceIdentity, TargetRun } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import type { Store } from "../store/store.ts";
import { type Claim, type ClaimedTable, claimOf, isPast, lastClaim } from "./claim.ts";
import { checkpointIfDue, cleanLog } from "./delta/checkpoint.ts";
import { commitReplacement } from "./delta/commit.ts";
import { assertSameService, registeredService } from "./registration.ts";
import { commitSnapshot, RUN_SNAPSHOTS, snapshotSequence } from "./snapshots.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;

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

/** The last run that all tables have; null: there is none. Finishes the last claim first, as far as that can be done. */
export async function lastRun(
  place: LakePlace,
  service: InstanceIdentity | null,
  signal: AbortSignal,
): Promise<TargetRun | null> {
  const { store, instance } = place;
  const { claim, fault } = await settle(place, service, signal);
  const seen =
    fault === null ? claim : await claimOf(store, instance, await snapshotSequence(store, instance));
  if (!seen) return null;
  const sha256 = isPast(seen) ? undefined : seen.manifest.sha256;
  return { run: seen.run, sequence: seen.sequence, sha256 };
}

/**
 * Commits each table of a claim, then the run's rows in `run_snapshots`. What is committed already stays. False: a later
 * claim has been put meanwhile, by others who finished this one or could not.
 */
export async function finish(place: LakePlace, claim: Claim, signal: AbortSignal): Promise<boolean> {
  const { store } = place;
  const outcomes = await inParallel(LANES, claim.tables, async (_, table) => {
    const outcome = await commitReplacement(store, replacementOf(place, claim, table), signal);
    return { table: table.name, ...outcome };
  });
  const committed = outcomes.filter((outcome) => outcome.kind === "done");
  if (committed.length < outcomes.length) return false;
  const versions = new Map(committed.map(({ table, version }) => [table, version]));
  const last = await commitSnapshot(place, claim, versions, signal);
  const newest = [...committed, ...(last.kind === "done" ? [{ table: RUN_SNAPSHOTS.name, ...last }] : [])];
  await inParallel(LANES, newest, (_, { table, version }) => keepShort(place, table, version));
  return true;
}

function replacementOf(
  { logRetentionDays: retentionDays }: LakePlace,
  { instance, sequence, run, attempt, atMs }: Claim,
  table: ClaimedTable,
) {
  return { table, instance, sequence, run, files: table.files, attempt, atMs, retentionDays };
}

async function keepShort(
  { store, logRetentionDays }: LakePlace,
  table: string,
  version: number,
): Promise<void> {
  const retention = { nowMs: Date.now(), retentionMs: logRetentionDays * DAY_MS };
  if (await checkpointIfDue(store, table, version, retention)) await cleanLog(store, table, retention);
}

/** A claim of another process: a table must never name a file that is not there. Throws `target.refused`. */
async function assertUploaded(store: Store, claim: Claim): Promise<void> {
  const files = claim.tables.flatMap(({ name, files }) =>
    files.map((file) => ({ ...file, key: `${name}/${file.path}` })),
  );
  await inParallel(LANES, files, async (_, { key, bytes }) => {
    for await (const found of store.list(key)) if (found.key === key && found.bytes === bytes) return;
    throw new WarehouseError(
      "target.refused",
      `${key} in ${store.address} is missing, so the delivery of ${claim.run} cannot be finished; repeat it where that run is published: content-warehouse deliver ${claim.run}.`,
    );
  });
}
