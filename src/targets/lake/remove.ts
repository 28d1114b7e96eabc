/**
 * Takes an instance out of a lake. A removal is claimed as a run is, so that whoever delivers the instance meanwhile is
 * fenced, and it says all that anybody needs to finish it. The rows in `run_snapshots` go first, as they come
 * last: a run that stands there is whole. Then each table has one commit without the instance, then its claims, its copies
 * of runs and the service of its name go. The removal itself stays: numbers go on from it.
 */
import { WarehouseError } from "../../common/errors.ts";
import { listed, suggestion } from "../../common/nearest.ts";
import { inParallel } from "../../storage/parallel.ts";
import type { Store } from "../store/store.ts";
import { type ClaimedTable, newRemoval, type Removal } from "./claim.ts";
import { assertWritable } from "./delta/blocked.ts";
import { commitReplacement } from "./delta/commit.ts";
import { readTable } from "./delta/read.ts";
import { type ActiveFile, filesOf, type TableState } from "./delta/state.ts";
import { recordsOf } from "./delta/statistics.ts";
import { keepShort, LANES, type LakePlace, type Settled, settle } from "./finish.ts";
import { endRemoval, type History, highestNumber, historyOf, putClaim } from "./history.ts";
import { claimNumberOf, instanceFolder, isBefore, registrationKey } from "./keys.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";
import { lakeStatus, tablesIn } from "./status.ts";

/** What a lake has of an instance. */
export interface Removable {
  readonly instance: string;
  /** ISO 8601, UTC: when the first delivery began; null: that is not known any more. */
  readonly since: string | null;
  readonly tables: number;
  /** Of the tables. */
  readonly files: number;
  /** Null: another program wrote files that do not say. */
  readonly rows: number | null;
  readonly bytes: number;
  /** Copies of published runs. */
  readonly copies: number;
  readonly copyBytes: number;
  /** Number of the removal that it was delivered after; 0: there was none. */
  readonly previous: number;
}

/** Changes nothing. Throws `config.not_found` where the lake has no such instance. */
export async function removable({ store, instance }: LakePlace): Promise<Removable> {
  const history = await historyOf(store, instance);
  const begun = begunOf(history);
  const objects = await Array.fromAsync(store.list(instanceFolder(instance)));
  const previous = begun?.since ?? history.since;
  const registered = objects.find(({ key }) => key === registrationKey({ instance, since: previous }));
  if (history.claim === null && begun === null && registered === undefined)
    throw await notThere(store, instance);
  const owned = await tablesWith(store, instance);
  const rows = owned.flatMap(({ files }) => files.map(({ add }) => recordsOf(add)));
  const number = begun?.sequence ?? highestNumber(history) + 1;
  const copied = objects.filter(({ key }) => isBefore(key, number) && claimNumberOf(key) === undefined);
  const runs = copied.flatMap(({ key }) => /\/runs\/[^/]+\//.exec(key) ?? []);
  return {
    instance,
    since: registered === undefined ? null : new Date(registered.modifiedMs).toISOString(),
    tables: owned.length,
    files: rows.length,
    rows: rows.every((each) => each !== null) ? rows.reduce((sum, each) => sum + each, 0) : null,
    bytes: owned.flatMap(({ files }) => files).reduce((sum, { add }) => sum + add.size, 0),
    copies: new Set(runs).size,
    copyBytes: copied.reduce((sum, { bytes }) => sum + bytes, 0),
    previous,
  };
}

/**
 * Removes what was found, with what is delivered until then, or goes on with a removal that was begun. What is delivered after
 * another removal stays. Throws `target.refused` where a table cannot be written: nothing is removed then.
 */
export async function removeInstance(
  place: LakePlace,
  { previous }: Pick<Removable, "previous">,
  made: Pick<Removal, "attempt" | "atMs">,
  signal: AbortSignal,
): Promise<void> {
  const { store, instance } = place;
  for (;;) {
    const history = await historyOf(store, instance);
    const begun = begunOf(history);
    if (begun?.since === previous) return await finishRemoval(place, begun, signal);
    if (history.since !== previous) return;
    const settled = await settle(place, null, signal);
    if (settled.since !== previous) return;
    const removal = newRemoval({
      ...made,
      instance,
      since: previous,
      sequence: highestNumber(settled) + 1,
      tables: await tablesToLeave(place, settled),
    });
    if (await putClaim(store, removal, settled)) return await finishRemoval(place, removal, signal);
  }
}

/** A removal that has not ended; null: there is none. */
function begunOf({ removal }: History): Removal | null {
  return removal?.removal === "begun" ? removal : null;
}

interface TableWith {
  readonly state: TableState;
  readonly files: readonly ActiveFile[];
}

/** Tables that have files of the instance. One that it was never delivered to is another program's. */
async function tablesWith(store: Store, instance: string): Promise<readonly TableWith[]> {
  const found = await inParallel(LANES, await tablesIn(store), async (_, table) => {
    const state = await readTable(store, table);
    const files = state?.transactions.has(instance) ? filesOf(state, instance) : [];
    return state === null || files.length === 0 ? [] : [{ state, files }];
  });
  return found.flat();
}

/**
 * Those that have something of the instance, and, where not all tables have the last claim, what others may still commit of
 * it. Throws `target.refused` where one cannot be written.
 */
async function tablesToLeave({ store, instance }: LakePlace, settled: Settled): Promise<ClaimedTable[]> {
  const { claim, fault, waiting } = settled;
  const isWhole = fault === null && waiting.length === 0;
  const there = (await tablesWith(store, instance)).map(({ state }) => existing(state.table));
  const claimed = [...(isWhole ? [] : (claim?.tables ?? [])), ...(claim === null ? [] : [RUN_SNAPSHOTS])];
  const tables = new Map([...there, ...claimed].map((table) => [table.name, { ...table, files: [] }]));
  return await inParallel(LANES, [...tables.values()], async (_, table) => {
    const state = await readTable(store, table.name);
    assertWritable(state, { columns: [] });
    return state === null ? table : existing(table.name);
  });
}

/** Of a table that is there: its columns stay as they are. */
function existing(name: string): ClaimedTable {
  return { name, comment: "", columns: [], files: [] };
}

/** What is done already is left, and what a later instance of the name has. */
async function finishRemoval(place: LakePlace, removal: Removal, signal: AbortSignal): Promise<void> {
  const { store, instance, logRetentionDays: retentionDays } = place;
  const versions = new Map<string, number>();
  const commit = async (_: number, table: ClaimedTable) => {
    const { sequence, attempt, atMs } = removal;
    const replacement = { instance, sequence, run: null, attempt, atMs, table, files: [], retentionDays };
    const version = await commitReplacement(store, replacement, signal);
    if (version !== null) versions.set(table.name, version);
  };
  const isSnapshots = ({ name }: ClaimedTable) => name === RUN_SNAPSHOTS.name;
  await inParallel(LANES, removal.tables.filter(isSnapshots), commit);
  await inParallel(
    LANES,
    removal.tables.filter((table) => !isSnapshots(table)),
    commit,
  );
  await keepShort(place, versions);
  await removeBefore(store, instance, removal.sequence);
  await endRemoval(store, removal);
}

/** Claims, copies of runs, and the service, as far as they are of before a removal. */
export async function removeBefore(store: Store, instance: string, removal: number): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of store.list(instanceFolder(instance)))
    if (isBefore(key, removal)) keys.push(key);
  if (keys.length > 0) await store.remove(keys);
}

async function notThere(store: Store, instance: string): Promise<WarehouseError> {
  const names = (await lakeStatus(store)).instances.map((each) => each.instance);
  const all = `It has ${listed(names, "and")}.`;
  const near = suggestion(instance, names, names.length === 0 ? "" : all);
  return new WarehouseError(
    "config.not_found",
    `There is no instance "${instance}" in ${store.address}.${near} "content-warehouse lake status" lists what is there.`,
  );
}
