/**
 * Removes data files that no version within the retention names, and copies of all runs but the last of each instance.
 * It may run during deliveries: a file that a version named is never named again, and one that none named yet is only
 * removed after a week. What the last whole run of an instance needs stays, whatever the tables name.
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

export type Vacuumed = Awaited<ReturnType<typeof vacuumLake>>;

/** Age of a file that no version ever named: it may be an upload of a delivery, or of another program, that commits it yet. */
const YOUNG_MS = 7 * DAY_MS;

/**
 * Works on all instances of the lake. `allVersions`: only the newest versions can be read afterwards. Throws `target.refused`
 * if a table cannot be read or written; nothing was removed then.
 */
export async function vacuumLake(session: LakeSession, { allVersions }: { readonly allVersions: boolean }) {
  const { store } = session;
  const found = await mapLimited(await tableNames(store), (name) => unusedFiles(session, name, allVersions));
  const tables = found.filter((each) => each !== null);
  // Read last: what a run needs that finishes now was active above, or is young.
  const { needed, instances } = await neededFiles(session);
  const ours = tables.filter(({ state }) => instances.some((name) => deliveryNumber(state, name) > 0));
  const unused = ours.flatMap(({ files }) => files.filter(({ key }) => !needed.has(key)));
  await store.remove(unused.map(({ key }) => key));
  const logs = allVersions
    ? await mapLimited(ours, ({ state }) => shortenLog(store, state, session.clock.now()))
    : [];
  let copies = 0;
  for (const instance of await instancesWithCopies(store))
    copies += await removeCopies({ ...session, instance });
  return {
    /** Data files of tables. */
    files: unused.length,
    bytes: unused.reduce((sum, { bytes }) => sum + bytes, 0),
    /** Files of the tables' logs. */
    logFiles: logs.reduce((sum, each) => sum + each, 0),
    /** Copies of runs. */
    copies,
  };
}

/**
 * Null: nothing in the folder is the lake's. Lists before it reads the state, so that a file which is uploaded and committed
 * meanwhile is not in the list.
 */
async function unusedFiles(
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
  const since = allVersions ? Number.POSITIVE_INFINITY : nowMs - retentionOf(state.metaData).filesMs;
  const isUnused = ({ key, modifiedMs }: StoredObject) => {
    const path = key.slice(table.length + 1);
    if (active.has(path)) return false;
    const endedMs = removedMs.get(path);
    return endedMs === undefined ? modifiedMs < nowMs - YOUNG_MS : endedMs < since;
  };
  return { state, files: objects.filter(isUnused) };
}

/** Keys of files that the last whole runs need. `instances`: all that were ever delivered. */
async function neededFiles(session: LakeSession) {
  const snapshots = await readTable(session.store, RUN_SNAPSHOTS.name);
  const runs = await mapLimited(
    instanceNames(snapshots),
    async (instance) => (await readInstance({ ...session, instance }, null)).last,
  );
  const files = runs.flatMap((run) => (run === null ? [] : filesOfRun(run)));
  const instances = [...(snapshots?.transactions.keys() ?? [])];
  return { needed: new Set(files.map(({ key }) => key)), instances };
}

/** Removes the copies of an instance's runs but those of the last one, and of a delivery at work. Gives their number. */
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
