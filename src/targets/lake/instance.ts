/** Step 1 of a delivery: what the lake has of the instance, and whether a run may be delivered. */
import { randomUUID } from "node:crypto";
import type { Clock } from "../../common/clock.ts";
import { WarehouseError } from "../../common/errors.ts";
import { duration } from "../../common/figures.ts";
import type { InstanceIdentity } from "../../pipeline.ts";
import { mapLimited } from "../../storage/parallel.ts";
import { instanceText, sameInstance } from "../../warehouse/identity.ts";
import { type FileContent, overwriteError, type Store } from "../store/store.ts";
import { blockingReason } from "./delta/features.ts";
import { readTable } from "./delta/log.ts";
import { DAY_MS, type DeltaTable } from "./delta/metadata.ts";
import { activeFiles, deliveryNumber, type TableState } from "./delta/state.ts";
import { tableNames } from "./keys.ts";
import { type LakeRun, lastRunOf, RUN_SNAPSHOTS, readSnapshotRows } from "./snapshots.ts";

/** An open lake with one instance: what each step of a delivery works with. */
export interface LakeSession {
  readonly store: Store;
  readonly instance: string;
  /** Days for which earlier versions of the tables stay readable. */
  readonly logRetentionDays: number;
  readonly clock: Clock;
}

export interface InstanceState {
  /** State of `run_snapshots`; `null` if nothing was ever delivered to the lake. */
  readonly snapshots: TableState | null;
  /** Last run whose delivery has finished; `null` if there is none. */
  readonly last: LakeRun | null;
  /** Number of the last delivery that began; 0 if none did. */
  readonly number: number;
  /** Whether that delivery has not finished: it is under way or was killed, and tables may have some of its files. */
  readonly isUnfinished: boolean;
}

/** Application whose `txn` has the number of the instance's last removal. */
export function removalId(instance: string): string {
  return `${instance}/removed`;
}

/** `service`: `null` if unknown. Throws `target.fenced` if the instance's name belongs to another service. */
export async function readInstance(
  session: LakeSession,
  service: InstanceIdentity | null,
): Promise<InstanceState> {
  const { store, instance } = session;
  const snapshots = await readTable(store, RUN_SNAPSHOTS.name);
  const last = lastRunOf(await readSnapshotRows(store, snapshots, instance));
  if (service !== null && last !== null) assertSameService(session, last.service, service);
  const number = deliveryNumber(snapshots, instance);
  const finished = Math.max(last?.delivery ?? 0, deliveryNumber(snapshots, removalId(instance)));
  return { snapshots, last, number, isUnfinished: number > finished };
}

/** Throws `target.refused` if a table cannot take a run with these tables, or as {@link probeStore} does. */
export async function assertDeliverable(
  session: LakeSession,
  { snapshots }: Pick<InstanceState, "snapshots">,
  tables: readonly DeltaTable[],
): Promise<void> {
  for (const table of tables) assertFreeNames(table);
  const own = { declared: RUN_SNAPSHOTS, state: snapshots };
  const others = await tablesToCommit(
    session,
    tables.map((table) => ({ ...table, files: [] })),
  );
  const reasons = [own, ...others].flatMap(({ declared, state }) => blockingReason(state, declared) ?? []);
  if (reasons.length > 0) throw new WarehouseError("target.refused", reasons.join(" "));
  await probeStore(session);
}

/** The lake has a table `run_snapshots` and a partition column `instance` of its own. */
function assertFreeNames({ name, columns }: DeltaTable): void {
  const taken = columns.find((column) => column.name.toLowerCase() === "instance")?.name;
  if (name !== RUN_SNAPSHOTS.name && taken === undefined) return;
  const what = taken === undefined ? `The table ${name}` : `The column ${taken} of the table ${name}`;
  throw new WarehouseError(
    "target.refused",
    `${what} cannot be delivered: the lake uses this name itself; rename it in the pipeline.`,
  );
}

export interface DeliveryTable extends DeltaTable {
  /** `file`: absolute path on this machine. */
  readonly files: readonly (FileContent & { readonly file: string; readonly rows: number })[];
}

interface LakeTable {
  /** Without columns and files if the run does not have the table. */
  readonly declared: DeliveryTable;
  /** `null` if the lake does not have the table yet. */
  readonly state: TableState | null;
}

/** The tables of a run, and every other table of the lake in which the instance has files or a `txn`. */
export async function tablesToCommit(
  session: LakeSession,
  tables: readonly DeliveryTable[],
): Promise<readonly LakeTable[]> {
  const { store } = session;
  const ofRun = await mapLimited(tables, async (declared) => ({
    declared,
    state: await readTable(store, declared.name),
  }));
  const names = new Set([RUN_SNAPSHOTS.name, ...tables.map(({ name }) => name)]);
  const others = (await tableNames(store)).filter((name) => !names.has(name));
  const found = await mapLimited(others, async (name) => {
    const state = await readOther(session, name);
    return state === null ? [] : [{ declared: { name, comment: "", columns: [], files: [] }, state }];
  });
  return [...ofRun, ...found.flat()];
}

/**
 * Those of `tables` in which the instance has files although its last run does not have them: a delivery that was overtaken
 * created them. None during a delivery, which may be that of a run that has them.
 */
export async function strayTables(
  session: LakeSession,
  { last, isUnfinished }: Pick<InstanceState, "last" | "isUnfinished">,
  tables: readonly string[],
): Promise<string[]> {
  if (isUnfinished) return [];
  const names = new Set([RUN_SNAPSHOTS.name, ...(last?.rows ?? []).map((row) => row.table_name)]);
  const found = await mapLimited(
    tables.filter((name) => !names.has(name)),
    async (name) => (activeFiles(await readOther(session, name), session.instance).length > 0 ? [name] : []),
  );
  return found.flat();
}

/** A table that a run does not have; `null` if the instance has nothing in it. */
async function readOther({ store, instance }: LakeSession, table: string): Promise<TableState | null> {
  try {
    const state = await readTable(store, table);
    if (state === null) return null;
    return deliveryNumber(state, instance) > 0 || activeFiles(state, instance).length > 0 ? state : null;
  } catch (thrown) {
    // A table of another program may be unreadable.
    if (!(await store.folders(`${table}/`)).includes(`instance=${instance}/`)) return null;
    throw thrown;
  }
}

/** Compares the IDs, or the addresses if one of the two has no ID. */
function assertSameService(
  { store, instance }: LakeSession,
  there: InstanceIdentity,
  service: InstanceIdentity,
): void {
  if (sameInstance(there, service)) return;
  // Without an ID, it may be the same service at another address.
  const moved = service.id === null ? ", or run once with --accept-new-address if the service has moved" : "";
  throw new WarehouseError(
    "target.fenced",
    `The instance ${instance} in ${store.address} is ${instanceText(there)}, and this service is ${instanceText(service)}; give this one another instance name in the configuration${moved}, or, if the other one is given up for good, remove it with "content-warehouse lake remove ${instance}".`,
  );
}

/** Names of the instances in `run_snapshots` that were not removed, in order. */
export function instanceNames(snapshots: TableState | null): string[] {
  if (snapshots === null) return [];
  const names = [...snapshots.transactions.keys()].filter((name) => !name.includes("/"));
  return names
    .filter((name) => deliveryNumber(snapshots, name) > deliveryNumber(snapshots, removalId(name)))
    .toSorted();
}

/** Folder and beginning of the names of probes. */
const PROBES = "_published/.probe-";

/** Largest difference between this machine's clock and the store's. */
const MAX_SKEW_MS = 60 * 60 * 1000;

/**
 * Throws `target.refused` if the store replaces an object that is put as new: deliveries rely on that to stay apart; or if
 * its clock is over an hour from this machine's, which stamps what `lake vacuum` measures the age of. Puts a new key twice
 * and reads it. Gives the store's time in milliseconds since 1970.
 */
export async function probeStore({ store, clock }: Pick<LakeSession, "store" | "clock">): Promise<number> {
  const key = PROBES + randomUUID();
  const [first, second] = [Buffer.from("first"), Buffer.from("second")];
  const done = [key];
  try {
    // After a lost answer the first put may report an existing object; its bytes decide.
    await store.putNew(key, first);
    const isPutTwice = await store.putNew(key, second);
    const there = await store.get(key);
    const probes = await Array.fromAsync(store.list(PROBES));
    const storeMs = probes.find((each) => each.key === key)?.modifiedMs;
    if (isPutTwice || there === null || !there.equals(first) || storeMs === undefined)
      throw overwriteError(store.address);
    // Those of killed processes.
    const old = probes.filter(({ modifiedMs }) => modifiedMs < storeMs - DAY_MS);
    done.push(...old.map((each) => each.key));
    assertSameTime(store.address, clock.now() - storeMs);
    return storeMs;
  } finally {
    await store.remove(done);
  }
}

function assertSameTime(address: string, aheadMs: number): void {
  if (Math.abs(aheadMs) <= MAX_SKEW_MS) return;
  const difference = `${duration(Math.abs(aheadMs) / 1000)} ${aheadMs > 0 ? "ahead of" : "behind"}`;
  throw new WarehouseError(
    "target.refused",
    `The clock of this machine is ${difference} that of ${address}, and the ages of files decide what "content-warehouse lake vacuum" deletes; set the clock, and try again.`,
  );
}
