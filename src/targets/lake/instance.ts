/** Step 1: what the lake has of the instance, and whether the run may be delivered now. */
import { WarehouseError } from "../../common/errors.ts";
import type { DeliveredRun, InstanceIdentity } from "../../pipeline.ts";
import { mapParallel } from "../../storage/parallel.ts";
import { describedInstance, sameInstance, sameRun } from "../../warehouse/identity.ts";
import { assertMayFollow } from "../fencing.ts";
import { verifyConditionalPut } from "../store/store.ts";
import { blockingReason } from "./delta/features.ts";
import { readTable } from "./delta/read.ts";
import type { DeltaTable } from "./delta/schema.ts";
import { activeFiles, deliveryNumber, type TableState } from "./delta/state.ts";
import { tableNames } from "./keys.ts";
import { LANES, type LakeSession } from "./session.ts";
import { type LakeRun, lastRunOf, RUN_SNAPSHOTS, readSnapshotRows } from "./snapshots.ts";

export interface InstanceState {
  /** Of `run_snapshots`; null: nothing was ever delivered to the lake. */
  readonly snapshots: TableState | null;
  /** The last run with rows; null: there is none. */
  readonly last: LakeRun | null;
  /** Number of the last delivery that was claimed; 0: none was. */
  readonly number: number;
  /** Whether that one did not finish: it is at work, or was killed. Tables may have some of it. */
  readonly isUnfinished: boolean;
}

/** Application whose `txn` has the number of the instance's last removal. */
export function removalId(instance: string): string {
  return `${instance}/removed`;
}

/** `service`: null if it is not known. Throws `target.fenced` if the instance's name belongs to another one. */
export async function readInstance(
  place: LakeSession,
  service: InstanceIdentity | null,
): Promise<InstanceState> {
  const { store, instance } = place;
  const snapshots = await readTable(store, RUN_SNAPSHOTS.name);
  const last = lastRunOf(await readSnapshotRows(place, snapshots, instance));
  if (service !== null && last !== null) assertSameService(place, last.service, service);
  const number = deliveryNumber(snapshots, instance);
  const finished = Math.max(last?.delivery ?? 0, deliveryNumber(snapshots, removalId(instance)));
  return { snapshots, last, number, isUnfinished: number > finished };
}

/**
 * Looks before a run is delivered; null: the lake has it, and there is nothing to do. Throws `target.fenced` if another run
 * is in its place, and `target.refused` if a table or the store cannot take it. Nothing was written then.
 */
export async function readBeforeDelivery(
  place: LakeSession,
  run: DeliveredRun,
  tables: readonly DeltaTable[],
): Promise<InstanceState | null> {
  const { store } = place;
  const look = await readInstance(place, run.instance);
  const { last, isUnfinished } = look;
  const isThere = last !== null && sameRun(last, run);
  if (isThere && !isUnfinished) return null;
  if (!isThere) assertMayFollow({ name: store.address, keepsRuns: true }, last, run);
  await assertDeliverable(place, look, tables);
  return look;
}

/** Throws `target.refused` if a table cannot take a run with these tables, or the store overwrites objects. */
export async function assertDeliverable(
  place: LakeSession,
  { snapshots }: Pick<InstanceState, "snapshots">,
  tables: readonly DeltaTable[],
): Promise<void> {
  for (const table of tables) assertFreeNames(table);
  const own = { declared: RUN_SNAPSHOTS, state: snapshots };
  const blocked = [own, ...(await tablesToCommit(place, tables))].flatMap(
    ({ declared, state }) => blockingReason(state, declared) ?? [],
  );
  if (blocked.length > 0) throw new WarehouseError("target.refused", blocked.join(" "));
  if (snapshots === null) await verifyConditionalPut(place.store);
}

/** The name of the lake's own table, and that of the column which partitions every table. */
function assertFreeNames({ name, columns }: DeltaTable): void {
  const taken = columns.find((column) => column.name.toLowerCase() === "instance")?.name;
  if (name !== RUN_SNAPSHOTS.name && taken === undefined) return;
  const what = taken === undefined ? `The table ${name}` : `The column ${taken} of the table ${name}`;
  throw new WarehouseError(
    "target.refused",
    `${what} cannot be delivered: the lake has one of its own by that name; give it another name in the pipeline.`,
  );
}

export interface LakeTable<Declared extends DeltaTable = DeltaTable> {
  /** Without columns if the run does not have the table. */
  readonly declared: Declared | DeltaTable;
  /** Null: the table is not there yet. */
  readonly state: TableState | null;
}

/** The tables of a run, and every other table of the lake in which the instance has files or a `txn`. */
export async function tablesToCommit<Declared extends DeltaTable>(
  place: LakeSession,
  tables: readonly Declared[],
): Promise<LakeTable<Declared>[]> {
  const { store } = place;
  const ofRun = await mapParallel(LANES, tables, async (_, declared) => {
    return { declared, state: await readTable(store, declared.name) };
  });
  const names = new Set([RUN_SNAPSHOTS.name, ...tables.map(({ name }) => name)]);
  const others = (await tableNames(store)).filter((name) => !names.has(name));
  const found = await mapParallel(LANES, others, async (_, name) => {
    const state = await readOther(place, name);
    return state === null ? [] : [{ declared: { name, comment: "", columns: [] }, state }];
  });
  return [...ofRun, ...found.flat()];
}

/** A table that a run does not have; null: nothing in it is the instance's. */
async function readOther({ store, instance }: LakeSession, table: string): Promise<TableState | null> {
  try {
    const state = await readTable(store, table);
    if (state === null) return null;
    return deliveryNumber(state, instance) > 0 || activeFiles(state, instance).length > 0 ? state : null;
  } catch (thrown) {
    // Another program's table, which nobody here has to read.
    if (!(await store.folders(`${table}/`)).includes(`instance=${instance}/`)) return null;
    throw thrown;
  }
}

/** By the ID, or by the address if one of them has none. */
function assertSameService(
  { store, instance }: LakeSession,
  there: InstanceIdentity,
  service: InstanceIdentity,
): void {
  if (sameInstance(there, service)) return;
  throw new WarehouseError(
    "target.fenced",
    `The instance ${instance} in ${store.address} is ${describedInstance(there)}, and this one is ${describedInstance(service)}; ${wayOut(instance, service)}.`,
  );
}

/** Without an ID, it may be the same service at another address. */
function wayOut(instance: string, { id }: InstanceIdentity): string {
  const moved = id === null ? ", or run once with --accept-new-address if the service has moved" : "";
  return `give this one another instance name in the configuration${moved}, or, if that one is given up for good, take it out with "content-warehouse lake remove ${instance}"`;
}

/** Names of instances that `run_snapshots` knows, removed ones left out. */
export function instanceNames(snapshots: TableState | null): string[] {
  if (snapshots === null) return [];
  const names = [...snapshots.transactions.keys()].filter((name) => !name.includes("/"));
  return names
    .filter((name) => deliveryNumber(snapshots, name) > deliveryNumber(snapshots, removalId(name)))
    .toSorted();
}
