/**
 * Removes files that nobody reads any more: data files that no version within the retention names, and copies of all runs
 * but the last of each instance. It may run during deliveries. A file that a version has named is never named again, and a
 * file that no version has named is removed only after a week. Files of the last whole run of an instance always stay.
 */
import { mapLimited } from "../../storage/parallel.ts";
import type { StoredObject } from "../store/store.ts";
import { shortenLog } from "./delta/checkpoint.ts";
import { assertWritable } from "./delta/features.ts";
import { readTable } from "./delta/read.ts";
import { DAY_MS, retentionOf } from "./delta/retention.ts";
import { deliveryNumber, type TableState } from "./delta/state.ts";
import { instanceNames, readInstance } from "./instance.ts";
import { copiesFolder, instancesWithCopies, tableNames } from "./keys.ts";
import type { LakeSession } from "./session.ts";
import { filesOfRun, RUN_SNAPSHOTS } from "./snapshots.ts";

/** Age from which a file that no version has named is removed. Until then it may be an upload that is yet to be committed. */
const UNNAMED_MS = 7 * DAY_MS;

/**
 * Removes unused files of all instances of the lake. `allVersions`: also files of all versions but the newest, and those
 * versions in the logs. Throws `target.refused` if a table cannot be read or written; then nothing was removed.
 */
export async function vacuumLake(session: LakeSession, { allVersions }: { readonly allVersions: boolean }) {
  const { store, clock } = session;
  const found = await mapLimited(await tableNames(store), (name) =>
    findUnusedFiles(session, name, allVersions),
  );
  // Read after the tables: what a run needs that finishes now was active in them, or is young.
  const { needed, instances } = await findNeededFiles(session);
  const ours = found
    .filter((each) => each !== null)
    .filter(({ state }) => instances.some((name) => deliveryNumber(state, name) > 0));
  const unused = ours.flatMap(({ files }) => files.filter(({ key }) => !needed.has(key)));
  await store.remove(unused.map(({ key }) => key));
  const logs = allVersions
    ? await mapLimited(ours, ({ state }) => shortenLog(store, state, clock.now()))
    : [];
  let copies = 0;
  for (const instance of await instancesWithCopies(store))
    copies += await removeCopies({ ...session, instance });
  return {
    /** Number of data files. */
    files: unused.length,
    bytes: unused.reduce((sum, { bytes }) => sum + bytes, 0),
    logFiles: logs.reduce((sum, each) => sum + each, 0),
    /** Number of runs whose copies were removed. */
    copies,
  };
}

/** `null` if the folder is no table of the lake. Lists first, so that a file that is committed meanwhile is not listed. */
async function findUnusedFiles(
  { store, clock }: LakeSession,
  table: string,
  allVersions: boolean,
): Promise<{ readonly state: TableState; readonly files: readonly StoredObject[] } | null> {
  const objects = await Array.fromAsync(store.list(`${table}/instance=`));
  let state: TableState | null;
  try {
    state = await readTable(store, table);
    assertWritable(state, { columns: [] });
  } catch (thrown) {
    if (objects.length === 0) return null;
    throw thrown;
  }
  if (state === null) return null;
  const active = new Set(Array.from(state.files.values(), ({ path }) => path));
  const removedMs = new Map(Array.from(state.removed.values(), (each) => [each.path, each.removedMs]));
  const nowMs = clock.now();
  const sinceMs = allVersions ? Number.POSITIVE_INFINITY : nowMs - retentionOf(state.metaData).filesMs;
  const isUnused = ({ key, modifiedMs }: StoredObject) => {
    const path = key.slice(table.length + 1);
    if (active.has(path)) return false;
    const endedMs = removedMs.get(path);
    return endedMs === undefined ? modifiedMs < nowMs - UNNAMED_MS : endedMs < sinceMs;
  };
  return { state, files: objects.filter(isUnused) };
}

/** Keys of the files of the last whole runs, and the names of all instances that were ever delivered. */
async function findNeededFiles(session: LakeSession) {
  const snapshots = await readTable(session.store, RUN_SNAPSHOTS.name);
  const runs = await mapLimited(
    instanceNames(snapshots),
    async (instance) => (await readInstance({ ...session, instance }, null)).last,
  );
  const files = runs.flatMap((run) => (run === null ? [] : filesOfRun(run)));
  return {
    needed: new Set(files.map(({ key }) => key)),
    instances: [...(snapshots?.transactions.keys() ?? [])],
  };
}

/** Removes the copies of an instance's runs but for the last run and a delivery under way. Gives the number of runs. */
export async function removeCopies(session: LakeSession): Promise<number> {
  const { store, instance } = session;
  const { last, number, isUnfinished } = await readInstance(session, null);
  let removed = 0;
  for (const name of await store.folders(copiesFolder(instance))) {
    const delivery = Number.parseInt(name, 10);
    const isKept = delivery === last?.delivery || (isUnfinished && delivery === number);
    if (isKept || !(delivery <= number)) continue;
    const objects = await Array.fromAsync(store.list(copiesFolder(instance) + name));
    await store.remove(objects.map(({ key }) => key));
    removed++;
  }
  return removed;
}
