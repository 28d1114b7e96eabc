/**
 * Removes what nobody reads any more: data files that no version in the retention names, uploads of dead attempts, copies
 * of old runs. It may run while runs are delivered, and needs no clock for that: a run whose number the lake has gone
 * past can never be claimed again, so its uploads are dead, and those of later numbers stay.
 */
import { inParallel } from "../../storage/parallel.ts";
import { parseRunName } from "../../warehouse/layout.ts";
import type { Store, StoredObject } from "../store/store.ts";
import { isPast, keyedFiles } from "./claim.ts";
import { assertWritable } from "./delta/blocked.ts";
import { shortenLog } from "./delta/checkpoint.ts";
import { readTable } from "./delta/read.ts";
import { DAY_MS, type OwnRetention, type RetentionSetting, retentionOf } from "./delta/retention.ts";
import type { TableState } from "./delta/state.ts";
import { LANES, type LakePlace } from "./finish.ts";
import { highestNumber, historyOf, readClaim, shortenClaim } from "./history.ts";
import { runsFolder, uploadOf } from "./keys.ts";
import { removeBefore } from "./remove.ts";
import { folderOf } from "./restore.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";
import { type Damage, eachUndamaged, instancesIn, tablesIn } from "./status.ts";
import type { Waiting } from "./waiting.ts";

export interface VacuumOptions {
  /** Leaves the newest version alone: earlier ones cannot be read any more. */
  readonly allVersions: boolean;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

export interface Vacuumed {
  /** Data files of tables. */
  readonly files: number;
  readonly bytes: number;
  /** Files of the tables' logs. */
  readonly logFiles: number;
  /** Copies of published runs, and of attempts that never became one. */
  readonly runs: number;
  /** What other programs set for a table, and whether it was kept to: not where all versions are to go. */
  readonly own: readonly (OwnRetention & { readonly table: string; readonly isKept: boolean })[];
  /** Tables and instances of which nothing was removed, because their files cannot be read. */
  readonly damaged: readonly Damage[];
  /** Tables of which nothing was removed, because another program gave them what may forbid that. */
  readonly waiting: readonly Waiting[];
}

/** Copies of runs that stay whatever their age. */
const RUNS_KEPT = 3;
/** Uploads of dead attempts, and files that other programs have not committed yet. */
export const YOUNG_MS = DAY_MS;

/** Of all instances of the lake. What is damaged is left as it is, with all files of a damaged instance. */
export async function vacuumLake(
  { store, instance: of, logRetentionDays }: LakePlace,
  { allVersions, nowMs }: VacuumOptions,
): Promise<Vacuumed> {
  const since = allVersions ? Number.POSITIVE_INFINITY : nowMs - logRetentionDays * DAY_MS;
  const youngSince = allVersions ? Number.POSITIVE_INFINITY : nowMs - YOUNG_MS;
  const claims = await eachUndamaged("instance", await instancesIn(store), async (instance) => {
    await removeBefore(store, instance, (await historyOf(store, instance)).since);
    return [instance, await readClaims(store, instance, since)] as const;
  });
  const instances = new Map(claims.found);
  let runs = 0;
  for (const [instance, { old }] of instances) runs += await removeRuns({ store, instance }, old, youngSince);
  const moments = {
    allVersions,
    setting: { instance: of, retentionDays: logRetentionDays },
    youngSince,
    nowMs,
  };
  const tables = await eachUndamaged("table", await tablesIn(store), async (table) => {
    const { state, unused } = await unusedFiles(store, table, instances, moments);
    await store.remove(unused.map(({ key }) => key));
    return { state, unused };
  });
  const retention = { nowMs, retentionMs: logRetentionDays * DAY_MS };
  const states = new Map(tables.found.flatMap(({ state }) => (state === null ? [] : [[state.table, state]])));
  const logs = await eachUndamaged("table", allVersions ? [...states.keys()] : [], async (table) => {
    const state = states.get(table) ?? null;
    return state === null ? 0 : await shortenLog(store, state, retention);
  });
  const unused = tables.found.flatMap((each) => each.unused);
  const own = [...states.values()].flatMap(({ table, metaData }) =>
    retentionOf(metaData.configuration, moments.setting).own.map((each) => ({
      table,
      ...each,
      isKept: !allVersions,
    })),
  );
  return {
    files: unused.length,
    bytes: unused.reduce((sum, each) => sum + each.bytes, 0),
    logFiles: logs.found.reduce((sum, each) => sum + each, 0),
    runs,
    own,
    damaged: [...tables.damaged, ...logs.damaged, ...claims.damaged],
    waiting: tables.waiting,
  };
}

/**
 * The claims were read before the list, and the list before the state, so that nothing is lost which is delivered meanwhile.
 * What was uploaded after the claims were read is of a later run than the last one, or of a new instance, and stays. What
 * was committed before the state was read is active in it; what is committed after that is of the last claim, which names
 * it, or of a later run.
 */
async function unusedFiles(
  store: Store,
  table: string,
  instances: ReadonlyMap<string, Claims>,
  moments: Moments,
): Promise<{ readonly state: TableState | null; readonly unused: readonly StoredObject[] }> {
  const objects = await Array.fromAsync(store.list(`${table}/instance=`));
  const state = await readTable(store, table);
  const isOurs = state !== null && [...instances.keys()].some((instance) => state.transactions.has(instance));
  if (!isOurs) return { state: null, unused: [] };
  assertWritable(state, { columns: [] });
  const isKept = keeper(state, instances, moments);
  return { state, unused: objects.filter((object) => !isKept(object)) };
}

interface Claims {
  /** Number of the last claim's run, or of the removal after it; 0: there is none. */
  readonly last: number;
  /** Keys of files of tables that runs have which are read, or whose copies stay: those are whole with these alone. */
  readonly named: ReadonlySet<string>;
  /** Numbers of claims whose copies go. */
  readonly old: readonly number[];
}

/** A run is read until the one after it is there, and as long as the retention from then on. */
async function readClaims(store: Store, instance: string, since: number): Promise<Claims> {
  const history = await historyOf(store, instance);
  const named = new Set<string>();
  const old: number[] = [];
  let last = highestNumber(history);
  let replacedMs = Number.POSITIVE_INFINITY;
  for (const [place, number] of history.numbers.toReversed().entries()) {
    const claim = await readClaim(store, instance, number);
    if (claim === null) continue;
    last = Math.max(last, claim.sequence);
    if (isPast(claim)) continue;
    const isRead = place === 0 || replacedMs > since;
    if (!isRead && (place >= RUNS_KEPT || since === Number.POSITIVE_INFINITY)) old.push(number);
    else for (const { key } of keyedFiles(claim.tables)) named.add(key);
    replacedMs = claim.atMs;
  }
  return { last, named, old };
}

/** Removes copies of old runs, by the numbers of their claims, and of attempts that the lake has gone past. Gives how many. */
export async function removeRuns(
  { store, instance }: Pick<LakePlace, "store" | "instance">,
  old: readonly number[],
  youngSince: number,
): Promise<number> {
  let removed = 0;
  const remove = async (folder: string, youngSince: number) => {
    const copies = await Array.fromAsync(store.list(folder));
    if (copies.some(({ modifiedMs }) => modifiedMs > youngSince)) return;
    await store.remove(copies.map(({ key }) => key));
    removed++;
  };
  for (const number of old) {
    const claim = await readClaim(store, instance, number);
    if (claim === null || isPast(claim)) continue;
    await shortenClaim(store, number, claim);
    await remove(folderOf(claim), Number.POSITIVE_INFINITY);
  }
  // Read after the old ones are gone.
  const history = await historyOf(store, instance);
  const { numbers } = history;
  const claims = await inParallel(LANES, numbers, (_, number) => readClaim(store, instance, number));
  const last = highestNumber(history);
  const kept = new Set(claims.flatMap((claim) => (claim === null || isPast(claim) ? [] : [folderOf(claim)])));
  for (const name of await store.folders(runsFolder(instance))) {
    const folder = runsFolder(instance) + name;
    const sequence = parseRunName(name.slice(0, name.lastIndexOf("-")))?.sequence;
    if (!kept.has(folder) && sequence !== undefined && sequence <= last) await remove(folder, youngSince);
  }
  return removed;
}

interface Moments {
  readonly allVersions: boolean;
  readonly setting: RetentionSetting;
  readonly youngSince: number;
  readonly nowMs: number;
}

/** Which data files of a table stay. */
function keeper(
  { table, files, removed, metaData }: TableState,
  instances: ReadonlyMap<string, Claims>,
  { allVersions, setting, youngSince, nowMs }: Moments,
): (file: StoredObject) => boolean {
  const { filesMs, own } = retentionOf(metaData.configuration, setting);
  if (!allVersions && own.some(({ keptMs }) => keptMs === null)) return () => true;
  const since = allVersions ? Number.POSITIVE_INFINITY : nowMs - filesMs;
  const active = new Set(Array.from(files.values(), ({ path }) => path));
  const removedMs = new Map(Array.from(removed.values(), (each) => [each.path, each.removedMs]));
  return ({ key, modifiedMs }) => {
    const path = key.slice(table.length + 1);
    const endedMs = removedMs.get(path);
    if (active.has(path) || (endedMs !== undefined && endedMs > since)) return true;
    const upload = uploadOf(path);
    // Another program's: it may be about to commit it, and nobody but the log says when it was removed.
    if (upload === undefined)
      return modifiedMs > (endedMs === undefined ? Math.min(since, nowMs - YOUNG_MS) : since);
    const claims = instances.get(upload.instance);
    if (claims === undefined || upload.sequence > claims.last || claims.named.has(key)) return true;
    // Claims do not name these: whoever finishes the last claim may be about to commit one.
    if (table === RUN_SNAPSHOTS.name && upload.sequence === claims.last) return true;
    return modifiedMs > youngSince;
  };
}
