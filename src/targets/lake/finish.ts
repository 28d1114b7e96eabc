/** From a claim to its commits: by whoever put it, or by anybody who finds it unfinished. */
import { WarehouseError } from "../../common/errors.ts";
import { minuteOf } from "../../common/figures.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import type { InstanceIdentity } from "../../pipeline.ts";
import { inParallel } from "../../storage/parallel.ts";
import { bytesOf, type Store } from "../store/store.ts";
import { type Claim, keyedFiles } from "./claim.ts";
import { checkpointIfDue, cleanLog } from "./delta/checkpoint.ts";
import { commitReplacement } from "./delta/commit.ts";
import { readTable } from "./delta/read.ts";
import { DAY_MS, retentionOf } from "./delta/retention.ts";
import { sequenceOf } from "./delta/state.ts";
import { type History, historyOf } from "./history.ts";
import { assertSameService, registeredService } from "./registration.ts";
import { commitSnapshot, lacksTables, RUN_SNAPSHOTS, type Snapshot, snapshotOf } from "./snapshots.ts";
import { type Waiting, waitingFor } from "./waiting.ts";

/** Tables or files at a time. */
export const LANES = Array.from({ length: 8 }, (_, lane) => lane);

export interface LakePlace {
  readonly store: Store;
  readonly instance: string;
  /** Days that the versions of the tables are kept. */
  readonly logRetentionDays: number;
}

/** What is claimed, with the claim that was put last. */
export interface Settled extends History {
  /** Why it cannot be finished, whoever tries: a file of it or a log was changed by hand. Null: it is finished. */
  readonly fault: WarehouseError | null;
  /** Where it is finished: the tables that do not have it. */
  readonly waiting: readonly Waiting[];
}

/**
 * Finishes the last claim, and brings it to the tables that waited and can be written now. `service`: null where it is not
 * known. Throws `target.refused` where the instance's name belongs to another service, `target.fenced` where the instance is
 * being removed.
 */
export async function settle(
  place: LakePlace,
  service: InstanceIdentity | null,
  signal: AbortSignal,
): Promise<Settled> {
  const { store, instance } = place;
  const history = await historyOf(store, instance);
  assertStays(store, history);
  const { claim, since } = history;
  if (service !== null) {
    assertSameService(store, instance, await registeredService(store, { instance, since }), service);
  }
  const settled = { ...history, fault: null, waiting: [] };
  if (claim === null) return settled;
  const snapshots = await readTable(store, RUN_SNAPSHOTS.name);
  const isSeen = ((snapshots && sequenceOf(snapshots, instance)) ?? 0) >= claim.sequence;
  if (isSeen && !lacksTables(snapshots, claim)) return settled;
  const { versions, missing } = isSeen ? await snapshotOf(store, claim) : NOTHING_YET;
  const left = isSeen ? claim.tables.filter(({ name }) => missing.includes(name)) : claim.tables;
  try {
    await assertUploaded(store, claim, left);
    const waiting = await finish(place, claim, signal, { tables: left, versions });
    return waiting === null ? await settle(place, service, signal) : { ...settled, waiting };
  } catch (thrown) {
    if (!(thrown instanceof WarehouseError) || thrown.code !== "target.refused") throw thrown;
    if (!isSeen) return { ...settled, fault: thrown };
    return { ...settled, waiting: missing.map((table) => ({ table, why: thrown.message })) };
  }
}

/** Throws `target.fenced` where the instance is being removed. */
export function assertStays({ address }: Store, { removal }: Pick<History, "removal">): void {
  if (removal?.removal !== "begun") return;
  const { instance, atMs } = removal;
  throw new WarehouseError(
    "target.fenced",
    `The instance ${instance} is being removed from ${address} since ${minuteOf(new Date(atMs))}; "content-warehouse lake remove ${instance}" ends that.`,
  );
}

const NOTHING_YET = { versions: new Map<string, number>(), missing: [] } satisfies Snapshot;

/**
 * Commits tables of a claim, then the run's rows in `run_snapshots`. What is committed already stays. `versions`: those of
 * the other tables. Gives the tables that another program keeps from it; null: a later claim has been put meanwhile, by
 * others who finished this one or could not.
 */
export async function finish(
  place: LakePlace,
  claim: Claim,
  signal: AbortSignal,
  { tables, versions: others }: { readonly tables: Claim["tables"] } & Pick<Snapshot, "versions"> = {
    ...claim,
    ...NOTHING_YET,
  },
): Promise<readonly Waiting[] | null> {
  const { store, logRetentionDays: retentionDays } = place;
  const versions = new Map(others);
  const waiting: Waiting[] = [];
  let isPassed = false;
  await inParallel(LANES, tables, async (_, table) => {
    try {
      const replacement = { ...claim, table, files: table.files, retentionDays };
      const version = await commitReplacement(store, replacement, signal);
      if (version === null) isPassed = true;
      else versions.set(table.name, version);
    } catch (thrown) {
      waiting.push(waitingFor(table.name, thrown));
    }
  });
  if (isPassed) return null;
  waiting.sort((a, b) => compareUtf8(a.table, b.table));
  const missing = waiting.map(({ table }) => table);
  const last = await commitSnapshot(place, claim, { versions, missing }, signal);
  if (last !== null) versions.set(RUN_SNAPSHOTS.name, last);
  await keepShort(place, versions);
  return waiting;
}

/** Writes the checkpoints that are due. `versions`: those that were committed, by table. */
export async function keepShort(
  { store, instance, logRetentionDays: retentionDays }: LakePlace,
  versions: ReadonlyMap<string, number>,
): Promise<void> {
  const nowMs = Date.now();
  await inParallel(LANES, [...versions], async (_, [table, version]) => {
    const isMade = await checkpointIfDue(store, table, version, {
      nowMs,
      retentionMs: retentionDays * DAY_MS,
    });
    const state = isMade ? await readTable(store, table) : null;
    if (state === null) return;
    const { logMs } = retentionOf(state.metaData.configuration, { instance, retentionDays });
    await cleanLog(store, table, { nowMs, retentionMs: logMs });
  });
}

/** A claim of another process: a table must never name a file that is not there. Throws `target.refused`. */
async function assertUploaded(store: Store, claim: Claim, tables: Claim["tables"]): Promise<void> {
  await inParallel(LANES, keyedFiles(tables), async (_, { key, bytes }) => {
    if ((await bytesOf(store, key)) === bytes) return;
    throw new WarehouseError(
      "target.refused",
      `${key} in ${store.address} is missing, so the delivery of ${claim.run} cannot be finished; repeat it where that run is published: content-warehouse deliver ${claim.run}.`,
    );
  });
}
