/** Writes checkpoints, and removes the log before them. */
import type { Store } from "../../store/store.ts";
import { checkpointBytes } from "./checkpoint-file.ts";
import { blockingReason, protectedBefore } from "./features.ts";
import { checkpointKey, lastCheckpointKey, lastCheckpointVersion, listLog, readTable } from "./log.ts";
import { retentionOf } from "./metadata.ts";
import { metaDataLine, type TableState } from "./state.ts";

const VERSIONS_PER_CHECKPOINT = 50;

/** Writes a checkpoint after a commit if the last one is 50 versions old. A crash leaves a readable log. */
export async function writeDueCheckpoint(
  store: Store,
  table: string,
  { version, nowMs }: { readonly version: number; readonly nowMs: number },
): Promise<void> {
  const last = (await lastCheckpointVersion(store, table)) ?? 0;
  if (version - last < VERSIONS_PER_CHECKPOINT) return;
  const state = await readTable(store, table);
  // Our checkpoint would lose actions of features that we do not know.
  if (state === null || blockingReason(state, { columns: [] }) !== null) return;
  await writeCheckpoint(store, state, nowMs);
}

/** Writes a checkpoint of a state, and points `_last_checkpoint` to it unless that names a later one. */
export async function writeCheckpoint(store: Store, state: TableState, nowMs: number): Promise<void> {
  const { table, version, files, removed, protocol, metaData, transactions } = state;
  const since = nowMs - retentionOf(metaData).filesMs;
  const actions = [
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
  const body = await checkpointBytes(actions);
  // An existing checkpoint of this version has the same content.
  await store.putNew(checkpointKey(table, version), body);
  if (((await lastCheckpointVersion(store, table)) ?? -1) >= version) return;
  const hint = { version, size: actions.length, sizeInBytes: body.length, numOfAddFiles: files.size };
  await store.put(lastCheckpointKey(table), Buffer.from(JSON.stringify(hint)));
}

/**
 * Removes the log before the newest checkpoint that is older than the retention, so that younger versions stay readable.
 * `allVersions`: the log before this state, after a checkpoint of it. Gives the number of removed files.
 */
export async function cleanLog(
  store: Store,
  state: TableState,
  { nowMs, allVersions }: { readonly nowMs: number; readonly allVersions: boolean },
): Promise<number> {
  const { files, commits, checkpoints } = await listLog(store, state.table, 0);
  const sinceMs = nowMs - retentionOf(state.metaData).logMs;
  const old = commits.findLast(({ modifiedMs }) => modifiedMs < sinceMs)?.version ?? -1;
  const checkpoint = checkpoints.findLast(({ version }) => version <= old)?.version ?? 0;
  const first = allVersions ? state.version : checkpoint;
  const keys = files.filter(({ version }) => version < first).map(({ key }) => key);
  if (keys.length === 0 || first < protectedBefore(state)) return 0;
  if (allVersions) await writeCheckpoint(store, state, nowMs);
  await store.remove(keys);
  return keys.length;
}
