/** Reads the state of a table from its newest checkpoint and the commits after it. */
import { mapLimited } from "../../../storage/parallel.ts";
import type { Store } from "../../store/store.ts";
import { type DeltaAction, parseActions } from "./actions.ts";
import { readCheckpoint } from "./checkpoint-file.ts";
import { assertReadable } from "./features.ts";
import { commitKey, type DeltaLogListing, damagedLog, lastCheckpointVersion, listLog } from "./log-files.ts";
import { applyCommit, copyReplay, type DeltaReplay, newReplay, type TableState } from "./state.ts";

/** Commits that are read in parallel, and the maximum number in memory. */
const READERS = 16;
const COMMITS_IN_MEMORY = 1024;

/**
 * Reads the newest state of a table; `null` if there is no table. Throws `target.refused` if its log is damaged, or needs
 * more than reader version 1.
 */
export async function readTable(store: Store, table: string): Promise<TableState | null> {
  for (let files = await listFromCheckpoint(store, table); ; ) {
    const last = Math.max(files.commits.at(-1)?.version ?? -1, lastCheckpoint(files));
    if (last < 0) return null;
    try {
      return await read(store, table, files, last);
    } catch (thrown) {
      const listed = files;
      files = await listFromCheckpoint(store, table);
      // Listed files may have been removed since, if there is a later checkpoint.
      if (lastCheckpoint(files) <= lastCheckpoint(listed)) throw thrown;
    }
  }
}

function lastCheckpoint({ checkpoints }: DeltaLogListing): number {
  return checkpoints.at(-1)?.version ?? -1;
}

/** Reads the versions after a state; gives the same object if there are none. */
export async function readNewer(store: Store, state: TableState): Promise<TableState> {
  const replay = copyReplay(state);
  for (;;) {
    const version = replay.version + 1;
    const commit = await readCommit(store, state.table, version);
    if (commit === null) break;
    applyTo(store, replay, version, commit);
  }
  return replay.version === state.version ? state : finished(store, replay);
}

/** Lists the log from the hinted checkpoint on, or the whole log if the hint is wrong. */
async function listFromCheckpoint(store: Store, table: string): Promise<DeltaLogListing> {
  const hint = await lastCheckpointVersion(store, table);
  if (hint === null) return listLog(store, table, 0);
  const files = await listLog(store, table, hint);
  return files.checkpoints.length > 0 ? files : listLog(store, table, 0);
}

async function read(
  store: Store,
  table: string,
  { checkpoints }: DeltaLogListing,
  version: number,
): Promise<TableState> {
  const checkpoint = checkpoints.findLast((each) => each.version <= version);
  const replay = newReplay(table, checkpoint?.version ?? null);
  if (checkpoint !== undefined)
    applyTo(store, replay, checkpoint.version, await readCheckpoint(store, table, checkpoint));
  while (replay.version < version) {
    const first = replay.version + 1;
    const count = Math.min(COMMITS_IN_MEMORY, version - replay.version);
    const versions = Array.from({ length: count }, (_, index) => first + index);
    const commits = await mapLimited(versions, (each) => readCommit(store, table, each), READERS);
    for (const [index, commit] of commits.entries()) {
      if (commit === null) throw damagedLog(store, table, `version ${first + index} is missing`);
      applyTo(store, replay, first + index, commit);
    }
  }
  return finished(store, replay);
}

/** `null` if there is no such version. */
export async function readCommit(
  store: Store,
  table: string,
  version: number,
): Promise<DeltaAction[] | null> {
  const body = await store.get(commitKey(table, version));
  if (body === null) return null;
  try {
    return parseActions(body.toString());
  } catch (cause) {
    throw damagedLog(store, table, `version ${version} is not as the protocol says`, cause);
  }
}

function applyTo(store: Store, replay: DeltaReplay, version: number, actions: readonly DeltaAction[]): void {
  try {
    applyCommit(replay, version, actions);
  } catch (cause) {
    throw damagedLog(store, replay.table, `version ${version} has a path that is not encoded`, cause);
  }
}

function finished(store: Store, replay: DeltaReplay): TableState {
  const { protocol, metaData } = replay;
  if (protocol === null || metaData === null) {
    throw damagedLog(store, replay.table, "it has no protocol or no metadata");
  }
  const state = { ...replay, protocol, metaData };
  assertReadable(state);
  return state;
}
