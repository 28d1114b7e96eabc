/** What a lake has: its tables, and the last run of each instance. Changes nothing. */
import { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { inParallel } from "../../storage/parallel.ts";
import type { Store } from "../store/store.ts";
import { type Claim, lastClaim } from "./claim.ts";
import { readTable } from "./delta/read.ts";
import { type ActiveFile, instancesOf, sequenceOf, type TableState } from "./delta/state.ts";
import { LANES } from "./finish.ts";
import { registeredService } from "./registration.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";
import { instancesIn, tablesIn } from "./vacuum.ts";

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
  const tables = await inParallel(LANES, await tablesIn(store), (_, table) =>
    reading("table", table, () => readTable(store, table)),
  );
  const snapshots = tables.find(({ name }) => name === RUN_SNAPSHOTS.name);
  const instances = await inParallel(LANES, await instancesIn(store), (_, instance) =>
    reading("instance", instance, () => instanceStatus(store, instance, snapshots)),
  );
  return {
    address: store.address,
    tables: tables.flatMap(({ found }) => (found === null ? [] : [tableStatus(found)])),
    instances: instances.flatMap(({ found }) => found ?? []),
    damaged: [...tables, ...instances].flatMap(({ damage }) => damage ?? []),
  };
}

interface Reading<Found> {
  readonly name: string;
  /** Null: there is none, or it is damaged. */
  readonly found: Found | null;
  readonly damage: Damage | null;
}

/** One that is damaged hides no other; a store that does not answer is thrown. */
async function reading<Found>(
  what: Damage["what"],
  name: string,
  read: () => Promise<Found | null>,
): Promise<Reading<Found>> {
  try {
    return { name, found: await read(), damage: null };
  } catch (thrown) {
    if (!(thrown instanceof WarehouseError) || thrown.code !== "target.refused") throw thrown;
    return { name, found: null, damage: { what, name, problem: thrown.message } };
  }
}

function tableStatus(state: TableState): TableStatus {
  const files = [...state.files.values()];
  const rows = files.map(rowsOf);
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

const statistics = z.object({ numRecords: z.int().nonnegative() });

/** Rows of a file, as the log says; null: it does not. */
export function rowsOf({ add }: ActiveFile): number | null {
  try {
    return statistics.parse(JSON.parse(add.stats ?? "")).numRecords;
  } catch {
    return null;
  }
}

async function instanceStatus(
  store: Store,
  instance: string,
  snapshots: Reading<TableState> | undefined,
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
    finished: isFinished(claim, instance, snapshots),
  };
}

function isFinished(
  claim: Claim | null,
  instance: string,
  snapshots: Reading<TableState> | undefined,
): boolean | null {
  if (claim === null || snapshots === undefined) return false;
  if (snapshots.damage !== null) return null;
  return snapshots.found !== null && (sequenceOf(snapshots.found, instance) ?? 0) >= claim.sequence;
}
