/** What a lake has: its tables, and the last run of each instance. Changes nothing. */
import { type Answer, col, section } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import { minuteOf } from "../../common/figures.ts";
import { inParallel } from "../../storage/parallel.ts";
import type { Store } from "../store/store.ts";
import { lastClaim } from "./claim.ts";
import { readTable } from "./delta/read.ts";
import { instancesOf, type TableState } from "./delta/state.ts";
import { recordsOf } from "./delta/statistics.ts";
import { LANES } from "./finish.ts";
import { INSTANCES } from "./keys.ts";
import { registeredService } from "./registration.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";

export interface LakeStatus {
  readonly address: string;
  /** By name. */
  readonly tables: readonly TableStatus[];
  /** By name. */
  readonly instances: readonly InstanceStatus[];
  /** Tables and instances that are in neither list, because their files cannot be read. */
  readonly damaged: readonly Damage[];
}

export interface Damage {
  readonly what: "table" | "instance";
  readonly name: string;
  /** A sentence with the way out. */
  readonly problem: string;
}

export interface TableStatus {
  readonly table: string;
  readonly version: number;
  /** Version of the checkpoint that readers begin with; null: there is none. */
  readonly checkpoint: number | null;
  /** Those that have files in it. */
  readonly instances: number;
  readonly files: number;
  readonly bytes: number;
  /** Null: another program wrote files that do not say. */
  readonly rows: number | null;
}

export interface InstanceStatus {
  readonly instance: string;
  /** Address of the service; null: nobody has delivered yet. */
  readonly origin: string | null;
  readonly id: string | null;
  /** The last run that was claimed; null: none. */
  readonly run: string | null;
  readonly sequence: number | null;
  readonly verdict: string | null;
  readonly pipeline: string | null;
  /** ISO 8601, UTC: when it was claimed. */
  readonly deliveredAt: string | null;
  /** Whether all tables have it; null: `run_snapshots`, which says so, is damaged. */
  readonly finished: boolean | null;
}

export async function lakeStatus(store: Store): Promise<LakeStatus> {
  const tables = await eachUndamaged("table", await tablesIn(store), (table) => readTable(store, table));
  const isUnknown = tables.damaged.some(({ name }) => name === RUN_SNAPSHOTS.name);
  const snapshots = tables.found.find((state) => state?.table === RUN_SNAPSHOTS.name);
  const isFinished = (instance: string, sequence: number) =>
    isUnknown ? null : (snapshots?.transactions.get(instance)?.sequence ?? 0) >= sequence;
  const instances = await eachUndamaged("instance", await instancesIn(store), (instance) =>
    instanceStatus(store, instance, isFinished),
  );
  return {
    address: store.address,
    tables: tables.found.flatMap((state) => (state === null ? [] : [tableStatus(state)])),
    instances: instances.found,
    damaged: [...tables.damaged, ...instances.damaged],
  };
}

export async function tablesIn(store: Store): Promise<string[]> {
  const folders = await store.folders("");
  return folders.filter((folder) => !/^[_.]/.test(folder)).map((folder) => folder.slice(0, -1));
}

export async function instancesIn(store: Store): Promise<string[]> {
  const folders = await store.folders(INSTANCES);
  return folders.flatMap((folder) => /^instance=(.+)\/$/.exec(folder)?.[1] ?? []);
}

/** Works on tables or instances beside each other. One that is damaged keeps no other from it; all else is thrown. */
export async function eachUndamaged<Found>(
  what: Damage["what"],
  names: readonly string[],
  work: (name: string) => Promise<Found>,
): Promise<{ readonly found: readonly Found[]; readonly damaged: readonly Damage[] }> {
  const all = await inParallel(LANES, names, async (_, name): Promise<{ readonly found: Found } | Damage> => {
    try {
      return { found: await work(name) };
    } catch (thrown) {
      if (!(thrown instanceof WarehouseError) || thrown.code !== "target.refused") throw thrown;
      return { what, name, problem: thrown.message };
    }
  });
  return {
    found: all.flatMap((each) => ("found" in each ? [each.found] : [])),
    damaged: all.flatMap((each) => ("found" in each ? [] : [each])),
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

async function instanceStatus(
  store: Store,
  instance: string,
  isFinished: (instance: string, sequence: number) => boolean | null,
): Promise<InstanceStatus> {
  const service = await registeredService(store, instance);
  const claim = await lastClaim(store, instance);
  return {
    instance,
    origin: service?.origin ?? null,
    id: service?.id ?? null,
    run: claim?.run ?? null,
    sequence: claim?.sequence ?? null,
    verdict: claim?.verdict ?? null,
    pipeline: claim?.pipeline ?? null,
    deliveredAt: claim === null ? null : new Date(claim.atMs).toISOString(),
    finished: claim !== null && isFinished(instance, claim.sequence),
  };
}

const required = { required: true } as const;

const INSTANCE_COLUMNS = {
  instance: col.name(required),
  run: col.name({ head: "last run" }),
  verdict: col.name(),
  delivered: col.name(required),
  origin: col.text({ head: "service" }),
  id: col.text({ hidden: true }),
  sequence: col.count({ hidden: true }),
  pipeline: col.text({ hidden: true }),
  deliveredAt: col.text({ hidden: true }),
  finished: col.flag({ hidden: true }),
} as const;

const TABLE_COLUMNS = {
  table: col.text(required),
  version: col.count(required),
  checkpoint: col.count({ hidden: true }),
  instances: col.count(required),
  rows: col.count(),
  files: col.count(required),
  bytes: col.bytes({ ...required, head: "size" }),
} as const;

const DAMAGE_COLUMNS = {
  what: col.text(required),
  name: col.text(required),
  problem: col.text(required),
} as const;

/** What `lake status` answers. */
export function lakeStatusAnswer({ address, tables, instances, damaged }: LakeStatus): Answer {
  const isEmpty = instances.length + damaged.length === 0;
  return {
    lead: isEmpty ? `Nothing was delivered to ${address} yet.` : `The lake in ${address}.`,
    facts: { address },
    sections: [
      section({
        key: "instances",
        title: "Instances",
        none: "",
        columns: INSTANCE_COLUMNS,
        rows: instances.map((each) => ({ ...each, delivered: deliveryText(each) })),
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
    ],
    next: damaged.map(({ problem }) => `DAMAGED: ${problem}`),
  };
}

function deliveryText({ run, deliveredAt, finished }: InstanceStatus): string {
  if (run === null) return "nothing yet";
  if (finished === null) return "unknown";
  return finished && deliveredAt !== null ? minuteOf(new Date(deliveredAt)) : "not finished";
}
