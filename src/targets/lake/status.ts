/** What a lake has: its tables, and the last run of each instance. Changes nothing. */
import { type Answer, col, type RowOf, section } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { minuteOf } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import { compareUtf8 } from "../../common/utf8-order.ts";
import { inParallel } from "../../storage/parallel.ts";
import { TABLE_NAME } from "../../storage/parquet-sql.ts";
import type { Store } from "../store/store.ts";
import type { ClaimedTable } from "./claim.ts";
import { BlockedTable, blockedText } from "./delta/blocked.ts";
import { readTable } from "./delta/read.ts";
import { instancesOf, sequenceOf, type TableState } from "./delta/state.ts";
import { recordsOf } from "./delta/statistics.ts";
import { LANES } from "./finish.ts";
import { historyOf } from "./history.ts";
import { INSTANCES } from "./keys.ts";
import { registeredService } from "./registration.ts";
import { lacksTables, RUN_SNAPSHOTS, snapshotOf } from "./snapshots.ts";
import { missingIn, type Waiting, waitingFor } from "./waiting.ts";

const required = { required: true } as const;

const DAMAGE_COLUMNS = {
  what: col.text({ ...required, of: ["table", "instance"] }),
  name: col.text(required),
  /** A sentence with the way out. */
  problem: col.text(required),
} as const;
export type Damage = RowOf<typeof DAMAGE_COLUMNS>;

const TABLE_COLUMNS = {
  table: col.text(required),
  version: col.count(required),
  /** Version of the checkpoint that readers begin with; null: there is none. */
  checkpoint: col.count({ hidden: true }),
  /** Those that have files in it. */
  instances: col.count(required),
  /** Null: another program wrote files that do not say. */
  rows: col.count(),
  files: col.count(required),
  bytes: col.bytes({ ...required, head: "size" }),
} as const;
type TableStatus = RowOf<typeof TABLE_COLUMNS>;

const INSTANCE_COLUMNS = {
  instance: col.name(required),
  /** The last run that was claimed; null: none. */
  run: col.name({ head: "last run" }),
  verdict: col.name(),
  /** When, or what became of it. */
  delivered: col.name(required),
  /** Address of the service; null: nobody has delivered yet. */
  origin: col.text({ head: "service" }),
  id: col.text({ hidden: true }),
  sequence: col.count({ hidden: true }),
  pipeline: col.text({ hidden: true }),
  /** ISO 8601, UTC: when it was claimed. */
  deliveredAt: col.text({ hidden: true }),
  /** Whether all tables have it but those that wait; null: `run_snapshots`, which says so, is damaged. */
  finished: col.flag({ hidden: true }),
  /** Names of the tables that wait for it. */
  missing: col.list({ ...required, hidden: true }),
  /** Whether a removal was begun and has not ended. */
  removing: col.flag({ ...required, hidden: true }),
} as const;
type InstanceStatus = RowOf<typeof INSTANCE_COLUMNS>;

const WAITING_COLUMNS = { table: col.text(required), why: col.text(required) } as const;

export interface LakeStatus {
  readonly address: string;
  /** By name. */
  readonly tables: readonly TableStatus[];
  /** By name. */
  readonly instances: readonly InstanceStatus[];
  /** Tables and instances that are in neither list, because their files cannot be read. */
  readonly damaged: readonly Damage[];
  /**
   * By name: tables to which nothing can be delivered, or that do not have the last run of an instance. Those that we cannot
   * read are not in the list of tables.
   */
  readonly waiting: readonly Waiting[];
}

export async function lakeStatus(store: Store): Promise<LakeStatus> {
  const tables = await eachUndamaged("table", await tablesIn(store), (table) => readTable(store, table));
  const unread = [...tables.damaged.map(({ name }) => name), ...tables.waiting.map(({ table }) => table)];
  const snapshots = unread.includes(RUN_SNAPSHOTS.name)
    ? undefined
    : (tables.found.find((state) => state?.table === RUN_SNAPSHOTS.name) ?? null);
  const instances = await eachUndamaged("instance", await instancesIn(store), (instance) =>
    instanceStatus(store, instance, snapshots),
  );
  const unwritten = tables.found.flatMap((state) => {
    const why = state && blockedText(state);
    return why ? [{ table: state.table, why }] : [];
  });
  const waiting = [...tables.waiting, ...unwritten];
  const named = new Set([...unread, ...waiting.map(({ table }) => table)]);
  const lacking = instances.found
    .flatMap((each) => each?.lacking ?? [])
    .filter(({ name }) => !named.has(name));
  const late = await inParallel(LANES, lacking, (_, table) => missingIn(store, table));
  return {
    address: store.address,
    tables: tables.found.flatMap((state) => (state === null ? [] : [tableStatus(state)])),
    instances: instances.found.flatMap((each) => each?.status ?? []),
    damaged: [...tables.damaged, ...instances.damaged],
    waiting: [...waiting, ...new Map(late.flat().map((each) => [each.why, each])).values()].toSorted((a, b) =>
      compareUtf8(a.table, b.table),
    ),
  };
}

/** Whatever else lies beside them, which we may not be allowed to read, is none of the lake's. */
export async function tablesIn(store: Store): Promise<string[]> {
  const names = (await store.folders("")).map((folder) => folder.slice(0, -1));
  return names.filter((name) => TABLE_NAME.test(name) && !name.startsWith("_"));
}

export async function instancesIn(store: Store): Promise<string[]> {
  const folders = await store.folders(INSTANCES);
  return folders.flatMap((folder) => /^instance=(.+)\/$/.exec(folder)?.[1] ?? []);
}

/** Works on tables or instances beside each other. One that is damaged or waits keeps no other from it; all else is thrown. */
export async function eachUndamaged<Found>(
  what: Damage["what"],
  names: readonly string[],
  work: (name: string) => Promise<Found>,
): Promise<{
  readonly found: readonly Found[];
  readonly damaged: readonly Damage[];
  readonly waiting: readonly Waiting[];
}> {
  type Outcome = { readonly found: Found } | Damage | Waiting;
  const all = await inParallel(LANES, names, async (_, name): Promise<Outcome> => {
    try {
      return { found: await work(name) };
    } catch (thrown) {
      if (thrown instanceof BlockedTable) return waitingFor(name, thrown);
      if (!(thrown instanceof WarehouseError) || thrown.code !== "target.refused") throw thrown;
      return { what, name, problem: thrown.message };
    }
  });
  return {
    found: all.flatMap((each) => ("found" in each ? [each.found] : [])),
    damaged: all.flatMap((each) => ("what" in each ? [each] : [])),
    waiting: all.flatMap((each) => ("why" in each ? [each] : [])),
  };
}

function tableStatus(state: TableState): TableStatus {
  const files = [...state.files.values()];
  const rows = files.map(({ add }) => recordsOf(add));
  return {
    table: state.table,
    version: state.version,
    checkpoint: state.checkpoint,
    instances: instancesOf(state).length,
    files: files.length,
    bytes: files.reduce((sum, { add }) => sum + add.size, 0),
    rows: rows.every((each) => each !== null) ? rows.reduce((sum, each) => sum + each, 0) : null,
  };
}

/** With the tables that do not have its last run. Null: it was removed. */
async function instanceStatus(
  store: Store,
  instance: string,
  snapshots: TableState | null | undefined,
): Promise<{ readonly status: InstanceStatus; readonly lacking: readonly ClaimedTable[] } | null> {
  const { claim, removal, since } = await historyOf(store, instance);
  const removing = removal?.removal === "begun";
  const service = await registeredService(store, { instance, since: removing ? removal.since : since });
  if (removal?.removal === "ended" && service === null) return null;
  const last = (snapshots && sequenceOf(snapshots, instance)) ?? 0;
  const isFinished = claim !== null && last >= claim.sequence;
  const isLacking = isFinished && lacksTables(snapshots ?? null, claim);
  const missing = isLacking ? (await snapshotOf(store, claim)).missing : [];
  const status = {
    instance,
    origin: service?.origin ?? null,
    id: service?.id ?? null,
    run: claim?.run ?? null,
    sequence: claim?.sequence ?? null,
    verdict: claim?.verdict ?? null,
    pipeline: claim?.pipeline ?? null,
    deliveredAt: claim === null ? null : new Date(claim.atMs).toISOString(),
    finished: claim !== null && snapshots === undefined ? null : isFinished,
    missing,
    removing,
  };
  const claimed = claim === null || removing ? [] : claim.tables;
  return {
    status: { ...status, delivered: deliveryText(status) },
    lacking: claimed.filter(({ name }) => missing.includes(name)),
  };
}

/** Keys of the parts of the answer. */
export const LAKE_STATUS = ["instances", "tables", "damaged", "waiting"] as const;

/** What `lake status` answers. */
export function lakeStatusAnswer({ address, tables, instances, damaged, waiting }: LakeStatus): Answer {
  const isEmpty = instances.length + tables.length + damaged.length + waiting.length === 0;
  const removing = instances.filter((each) => each.removing);
  return {
    lead: isEmpty ? `Nothing was delivered to ${address} yet.` : `The lake in ${address}.`,
    facts: { address },
    sections: [
      section({
        key: "instances",
        title: "Instances",
        none: "",
        columns: INSTANCE_COLUMNS,
        rows: instances,
        keys: 2,
        limit: 1000,
      }),
      section({
        key: "tables",
        title: "Tables",
        none: "",
        columns: TABLE_COLUMNS,
        rows: tables,
        limit: 1000,
      }),
      section({
        key: "damaged",
        title: "DAMAGED",
        none: "",
        columns: DAMAGE_COLUMNS,
        rows: damaged,
        limit: 0,
      }),
      section({
        key: "waiting",
        title: "WAITS",
        none: "",
        columns: WAITING_COLUMNS,
        rows: waiting,
        limit: 0,
      }),
    ],
    next: [
      ...removing.map(
        ({ instance }) =>
          `${instance} is being removed: "content-warehouse lake remove ${instance}" ends that, where nothing does so now.`,
      ),
      ...damaged.map(({ problem }) => `DAMAGED: ${problem}`),
      ...waiting.map(({ why }) => `WAITS: ${why}`),
    ],
  };
}

function deliveryText({
  run,
  deliveredAt,
  finished,
  missing,
  removing,
}: Omit<InstanceStatus, "delivered">): string {
  if (removing) return "being removed";
  if (run === null) return "nothing yet";
  if (finished === null) return "unknown";
  if (!finished || deliveredAt === null) return "not finished";
  const minute = minuteOf(new Date(deliveredAt));
  return missing.length === 0 ? minute : `${minute}, but not ${listed(missing, "and")}`;
}
