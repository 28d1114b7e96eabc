/** Writes checkpoints, and removes the log before them. */
import type { Store } from "../../store/store.ts";
import { metaDataLine } from "./actions.ts";
import { checkpointBytes } from "./checkpoint-file.ts";
import { blockingReason, protectedBefore } from "./features.ts";
import {
  checkpointKey,
  type DeltaLogListing,
  lastCheckpointKey,
  lastCheckpointVersion,
  listLog,
} from "./log-files.ts";
import { readTable } from "./read.ts";
import { retentionOf } from "./retention.ts";
import type { TableState } from "./state.ts";

export const VERSIONS_PER_CHECKPOINT = 50;

/**
 * Writes a checkpoint after a commit if one is due, and removes the log that is older than the table's retention. Each
 * fiftieth version gets a checkpoint; if that was missed, a later commit writes one. A crash leaves a readable log.
 */
export async function keepLogShort(
  store: Store,
  table: string,
  { version, nowMs }: { readonly version: number; readonly nowMs: number },
): Promise<void> {
  const behind = version - ((await lastCheckpointVersion(store, table)) ?? 0);
  // An unchanged table keeps its version for many nights.
  if (behind === 0) return;
  const due = version % VERSIONS_PER_CHECKPOINT === 0 || behind >= 2 * VERSIONS_PER_CHECKPOINT;
  const state = due ? await readTable(store, table) : null;
  // Our checkpoint would lose actions of features that we do not know.
  if (state === null || blockingReason(state, { columns: [] }) !== null) return;
  await writeCheckpoint(store, state, nowMs);
  await cleanLog(store, state, nowMs);
}

/** Writes a checkpoint of a state, and points `_last_checkpoint` to it unless that names a later one. */
export async function writeCheckpoint(store: Store, state: TableState, nowMs: number): Promise<void> {
  const { table, version, files } = state;
  const actions = checkpointActions(state, nowMs);
  const body = await checkpointBytes(actions);
  // An existing checkpoint of this version has the same content.
  await store.putNew(checkpointKey(table, version), body);
  if (((await lastCheckpointVersion(store, table)) ?? -1) >= version) return;
  const hint = { version, size: actions.length, sizeInBytes: body.length, numOfAddFiles: files.size };
  await store.put(lastCheckpointKey(table), Buffer.from(JSON.stringify(hint)));
}

/** Removes the log before the newest checkpoint that is older than the retention, so that younger versions stay readable. */
export async function cleanLog(store: Store, state: TableState, nowMs: number): Promise<void> {
  const { files, commits, checkpoints } = await listLog(store, state.table, 0);
  const { logMs } = retentionOf(state.metaData);
  const old = commits.findLast(({ modifiedMs }) => modifiedMs < nowMs - logMs);
  const kept = checkpoints.findLast(({ version }) => old !== undefined && version <= old.version);
  if (kept === undefined || kept.version < protectedBefore(state)) return;
  await removeBefore(store, files, kept.version);
}

/**
 * Removes the log before this state, so that earlier versions and the bounds in them can no longer be read. Gives the
 * number of removed files.
 */
export async function shortenLog(store: Store, state: TableState, nowMs: number): Promise<number> {
  const { table, version } = state;
  if (version < protectedBefore(state)) return 0;
  const { files } = await listLog(store, table, 0);
  if (files.every((file) => file.version >= version)) return 0;
  await writeCheckpoint(store, state, nowMs);
  return removeBefore(store, files, version);
}

async function removeBefore(store: Store, files: DeltaLogListing["files"], first: number): Promise<number> {
  const keys = files.filter(({ version }) => version < first).map(({ key }) => key);
  if (keys.length > 0) await store.remove(keys);
  return keys.length;
}

function checkpointActions(state: TableState, nowMs: number): object[] {
  const { protocol, metaData, transactions, files, removed } = state;
  const since = nowMs - retentionOf(metaData).filesMs;
  return [
    { protocol },
    metaDataLine(metaData),
    ...[...transactions].map(([appId, { number, lastUpdatedMs }]) => ({
      txn: { appId, version: number, lastUpdated: lastUpdatedMs },
    })),
    ...[...removed.values()]
      .filter((file) => file.removedMs > since)
      .map(({ remove }) => ({
        remove: { ...remove, dataChange: false, extendedFileMetadata: remove.size !== null },
      })),
    ...[...files.values()].map(({ add }) => ({ add: { ...add, dataChange: false } })),
  ];
}
