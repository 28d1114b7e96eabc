/** What a lake has: its tables, and the last run of each instance. Changes nothing. */
import { z } from "zod";
import { inParallel } from "../../storage/parallel.ts";
import type { Store } from "../store/store.ts";
import { lastClaim } from "./claim.ts";
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
  /** Whether all tables have it. */
  readonly finished: boolean;
}

export async function lakeStatus(store: Store, signal: AbortSignal): Promise<LakeStatus> {
  const states = await inParallel(LANES, await tablesIn(store), (_, table) =>
    readTable(store, table, signal),
  );
  const tables = states.filter((state) => state !== null);
  const snapshots = tables.find(({ table }) => table === RUN_SNAPSHOTS.name);
  const instances = await inParallel(LANES, await instancesIn(store), (_, instance) => {
    signal.throwIfAborted();
    return instanceStatus(store, instance, snapshots);
  });
  return { address: store.address, tables: tables.map(tableStatus), instances };
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
  snapshots: TableState | undefined,
): Promise<InstanceStatus> {
  const service = await registeredService(store, instance);
  const claim = await lastClaim(store, instance);
  const seen = snapshots === undefined ? null : sequenceOf(snapshots, instance);
  return {
    instance,
    origin: service?.origin ?? null,
    id: service?.id ?? null,
    run: claim?.run ?? null,
    sequence: claim?.sequence ?? null,
    verdict: claim?.verdict ?? null,
    pipeline: claim?.pipeline ?? null,
    deliveredAt: claim === null ? null : new Date(claim.atMs).toISOString(),
    finished: claim !== null && (seen ?? 0) >= claim.sequence,
  };
}
