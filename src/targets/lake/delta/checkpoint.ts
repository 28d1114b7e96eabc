/** Keeps logs short: checkpoints, and what they make superfluous. */
import type { Store } from "../../store/store.ts";
import { metaDataLine } from "./actions.ts";
import { blockedText, protectedBefore } from "./blocked.ts";
import { checkpointBytes } from "./checkpoint-file.ts";
import {
  checkpointKey,
  type LogFiles,
  lastCheckpointKey,
  lastCheckpointVersion,
  listLog,
} from "./log-files.ts";
import { readTable } from "./read.ts";
import { namedMs } from "./retention.ts";
import type { TableState } from "./state.ts";
import { type Parsed, parsedMembers } from "./statistics.ts";

export const VERSIONS_PER_CHECKPOINT = 50;

export interface Retention {
  readonly nowMs: number;
  /** How long earlier versions can be read. */
  readonly retentionMs: number;
}

/**
 * Writes a checkpoint where one is due; true: it did. Called after a commit, with its version: whoever commits every
 * fiftieth version writes one, and anybody does once that was left out. A crash between its steps leaves a checkpoint
 * that readers find in the list, or none.
 */
export async function checkpointIfDue(
  store: Store,
  table: string,
  version: number,
  retention: Retention,
): Promise<boolean> {
  const behind = version - ((await lastCheckpointVersion(store, table)) ?? 0);
  // A table without change has its version for many nights.
  if (behind === 0) return false;
  const due = version % VERSIONS_PER_CHECKPOINT === 0 || behind >= 2 * VERSIONS_PER_CHECKPOINT;
  const state = due ? await readTable(store, table) : null;
  // Another program may have given it actions since that we would leave out.
  if (state === null || blockedText(state) !== null) return false;
  await writeCheckpoint(store, state, retention);
  return true;
}

/** Writes a checkpoint of a state, and has readers begin with it. */
export async function writeCheckpoint(store: Store, state: TableState, retention: Retention): Promise<void> {
  const { table, version, files } = state;
  const parsed = parsedMembers(state);
  const actions = checkpointActions(state, parsed, retention);
  const body = await checkpointBytes(actions, parsed.types);
  // Where it is there already, it says the same.
  await store.putNew(checkpointKey(table, version), body);
  if (((await lastCheckpointVersion(store, table)) ?? -1) >= version) return;
  const hint = { version, size: actions.length, sizeInBytes: body.length, numOfAddFiles: files.size };
  await store.put(lastCheckpointKey(table), Buffer.from(JSON.stringify(hint)));
}

/**
 * Removes the files of the log before the newest checkpoint that is older than the retention, so that each younger
 * version can still be read. Gives how many.
 */
export async function cleanLog(
  store: Store,
  table: string,
  { nowMs, retentionMs }: Retention,
): Promise<number> {
  const { files, commits, checkpoints } = await listLog(store, table, 0);
  const old = commits.findLast(({ modifiedMs }) => modifiedMs < nowMs - retentionMs);
  const kept = checkpoints.findLast(({ version }) => old !== undefined && version <= old.version);
  if (kept === undefined) return 0;
  const state = await readTable(store, table);
  if (state === null || kept.version < protectedBefore(state)) return 0;
  return removeBefore(store, files, kept.version);
}

/** Leaves a state alone in the log: versions before it cannot be read any more, nor what their files say of their data. */
export async function shortenLog(store: Store, state: TableState, retention: Retention): Promise<number> {
  const { table, version } = state;
  if (version < protectedBefore(state)) return 0;
  const { files } = await listLog(store, table, 0);
  if (files.every((file) => file.version >= version)) return 0;
  await writeCheckpoint(store, state, retention);
  return removeBefore(store, files, version);
}

async function removeBefore(store: Store, files: LogFiles["files"], first: number): Promise<number> {
  const keys = files.filter(({ version }) => version < first).map(({ key }) => key);
  if (keys.length > 0) await store.remove(keys);
  return keys.length;
}

function checkpointActions(state: TableState, parsed: Parsed, retention: Retention): object[] {
  const { protocol, metaData, transactions, files, removed } = state;
  const since = retention.nowMs - Math.max(retention.retentionMs, namedMs(metaData.configuration));
  return [
    { protocol },
    metaDataLine(metaData),
    ...[...transactions].map(([appId, { sequence, lastUpdatedMs }]) => ({
      txn: { appId, version: sequence, lastUpdated: lastUpdatedMs },
    })),
    ...[...removed.values()]
      .filter((file) => file.removedMs > since)
      .map(({ remove }) => ({
        remove: { ...remove, dataChange: false, extendedFileMetadata: remove.size !== null },
      })),
    ...[...files.values()].map(({ add }) => ({ add: { ...add, ...parsed.of(add), dataChange: false } })),
  ];
}
