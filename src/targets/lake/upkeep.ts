/** Lists the instances of a lake, and removes what nobody reads any more: unused files, and instances. */
import { type Answer, type AnswerRow, col, section } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { nearestSentence } from "../../common/nearest.ts";
import { mapLimited } from "../../storage/parallel.ts";
import type { Store, StoredObject } from "../store/store.ts";
import { commitDelivery } from "./commits.ts";
import type { LakeDelivery } from "./delivery.ts";
import { assertWritable } from "./delta/features.ts";
import { cleanLog, readTable } from "./delta/log.ts";
import { DAY_MS, retentionOf } from "./delta/metadata.ts";
import { activeFiles, deliveryNumber, recordsOf, type TableState } from "./delta/state.ts";
import {
  assertDeliverable,
  instanceNames,
  type LakeSession,
  probeStore,
  readInstance,
  strayTables,
  tablesToCommit,
} from "./instance.ts";
import { copiesFolder, tableNames } from "./keys.ts";
import { filesOfRun, RUN_SNAPSHOTS } from "./snapshots.ts";

/** Age from which a file that no version has named is removed. Until then it may be an upload that is yet to be committed. */
const UNNAMED_MS = 7 * DAY_MS;

/**
 * Removes data files and logs of versions that are older than the retention, and copies of all runs but the last of each
 * instance. `allVersions`: of all versions but the newest. It may run during deliveries: a file that a version has named is
 * never named again, and one that no version has named is removed only after a week. Ages are by the store's clock. Files
 * of the last whole run of an instance always stay. Throws `target.refused` if a table cannot be read or written, or as
 * `probeStore` does; then nothing was removed.
 */
export async function vacuumLake(session: LakeSession, { allVersions }: { readonly allVersions: boolean }) {
  const { store } = session;
  const ages = { nowMs: await probeStore(session), allVersions };
  const found = await mapLimited(await tableNames(store), (name) => findUnusedFiles(store, name, ages));
  // Read after the tables: what a run needs that finishes now was active in them, or is young.
  const { needed, instances } = await findNeededFiles(session);
  const ours = found
    .filter((each) => each !== null)
    .filter(({ state }) => instances.some((name) => deliveryNumber(state, name) > 0));
  const unused = ours.flatMap(({ files }) => files.filter(({ key }) => !needed.has(key)));
  await store.remove(unused.map(({ key }) => key));
  const logs = await mapLimited(ours, ({ state }) => cleanLog(store, state, ages));
  let copies = 0;
  for (const folder of await store.folders("_published/")) {
    const [, instance] = /^instance=(.+)\/$/.exec(folder) ?? [];
    if (instance !== undefined) copies += await removeCopies({ ...session, instance });
  }
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
  store: Store,
  table: string,
  { nowMs, allVersions }: { readonly nowMs: number; readonly allVersions: boolean },
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
async function removeCopies(session: LakeSession): Promise<number> {
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

/**
 * Counts what a lake has of an instance, and changes nothing. Throws `config.not_found` if the lake has no such instance,
 * and `target.refused` if a table cannot be written.
 */
export async function measureInstance(session: LakeSession) {
  const { instance } = session;
  const state = await readInstance(session, null);
  const names = instanceNames(state.snapshots);
  await assertDeliverable(session, state, []);
  const states = (await tablesToCommit(session, [])).flatMap((table) => table.state ?? []);
  const owned = states.map((each) => activeFiles(each, instance)).filter((files) => files.length > 0);
  // A delivery that a removal overtook may have created a table after it.
  if (!names.includes(instance) && owned.length === 0)
    throw new WarehouseError(
      "config.not_found",
      `There is no instance "${instance}" in ${session.store.address}.${nearestSentence(instance, names, "")} "content-warehouse lake status" lists the instances.`,
    );
  const adds = owned.flat().map(({ add }) => add);
  const rows = adds.map(recordsOf);
  return {
    instance,
    tables: owned.length,
    /** Number of data files. */
    files: adds.length,
    /** `null` if another program wrote files without their number of rows. */
    rows: rows.every((each) => each !== null) ? rows.reduce((sum, each) => sum + each, 0) : null,
    bytes: adds.reduce((sum, { size }) => sum + size, 0),
  };
}

/** Repeats what was interrupted. Throws `target.fenced` if the instance is delivered meanwhile. */
export async function removeInstance(session: LakeSession, signal: AbortSignal): Promise<void> {
  const delivery: LakeDelivery = {
    run: null,
    tables: [],
    uploaded: new Map(),
    beganMs: session.clock.now(),
    signal,
    onUpload: () => {},
  };
  const read = async () => {
    const state = await readInstance(session, null);
    await assertDeliverable(session, state, []);
    return state;
  };
  await commitDelivery(session, delivery, await read(), read);
  await removeCopies(session);
}

const required = { required: true } as const;

const INSTANCE_COLUMNS = {
  instance: col.name(required),
  /** NULL if no delivery has finished. */
  run: col.name({ head: "last run" }),
  verdict: col.name(),
  delivered: col.instant(),
  tables: col.count(required),
  rows: col.count(required),
  origin: col.text({ head: "service" }),
  id: col.text(),
  sequence: col.count(),
  delivery: col.count(),
  /** Whether a later delivery has not finished. */
  unfinished: col.flag(required),
  /** Tables with rows that the last run does not have. */
  stray_tables: col.list(required),
} as const;

/** `tables`: those in which the instance may have files. */
async function statusOf(
  session: LakeSession,
  tables: readonly string[],
): Promise<AnswerRow<typeof INSTANCE_COLUMNS>> {
  const state = await readInstance(session, null);
  const { last, isUnfinished } = state;
  return {
    instance: session.instance,
    run: last?.run ?? null,
    verdict: last?.verdict ?? null,
    delivered: last && new Date(last.deliveredMs),
    tables: last?.rows.length ?? 0,
    rows: last?.rows.reduce((sum, { rows }) => sum + rows, 0) ?? 0,
    origin: last?.service.origin ?? null,
    id: last?.service.id ?? null,
    sequence: last?.sequence ?? null,
    delivery: last?.delivery ?? null,
    unfinished: isUnfinished,
    stray_tables: await strayTables(session, state, tables),
  };
}

/** The instances of a lake, and those that were removed and have rows again. */
export async function lakeStatus(session: LakeSession): Promise<Answer> {
  const { store } = session;
  const { address } = store;
  const snapshots = await readTable(store, RUN_SNAPSHOTS.name);
  const folders = await mapLimited(await tableNames(store), async (table) => ({
    table,
    instances: await store.folders(`${table}/`),
  }));
  const names = instanceNames(snapshots);
  const everyone = [...(snapshots?.transactions.keys() ?? [])].filter((name) => !name.includes("/"));
  const found = await mapLimited(everyone.toSorted(), (instance) => {
    const own = folders.filter(({ instances }) => instances.includes(`instance=${instance}/`));
    return statusOf(
      { ...session, instance },
      own.map(({ table }) => table),
    );
  });
  const rows = found.filter((each) => names.includes(each.instance) || each.stray_tables.length > 0);
  const unfinished = rows.filter((each) => each.unfinished);
  const strays = rows.filter((each) => each.stray_tables.length > 0);
  return {
    lead: rows.length === 0 ? `Nothing was delivered to ${address} yet.` : `The lake in ${address}.`,
    facts: { address },
    sections: [
      section({
        key: "instances",
        title: "Instances",
        none: "",
        columns: INSTANCE_COLUMNS,
        shows: ["instance", "run", "verdict", "delivered", "tables", "rows", "origin"],
        rows,
        limit: 1000,
      }),
    ],
    next: [
      ...unfinished.map(
        ({ instance }) =>
          `${instance}: a delivery has not finished; its tables may mix two runs until the next delivery; "content-warehouse deliver" does it now.`,
      ),
      ...strays.map(
        ({ instance, stray_tables }) =>
          `${instance}: rows in ${stray_tables.join(", ")}, which the last run does not have; an overtaken delivery or another program wrote them; the next delivery removes them, and so does "content-warehouse lake remove ${instance}".`,
      ),
    ],
  };
}
