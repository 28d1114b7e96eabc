/** State of a table at a version, which is made by replaying its log. */
import type { AddAction, DeltaAction, MetaDataAction, ProtocolAction, RemoveAction } from "./actions.ts";

/** A data file that readers of the version see. */
export interface ActiveFile {
  /** Relative to the table's folder, decoded. */
  readonly path: string;
  /** Value of the partition column `instance`. */
  readonly instance: string | null;
  readonly add: AddAction;
}

/** A data file that only readers of earlier versions see. */
interface Tombstone {
  /** Relative to the table's folder, decoded. */
  readonly path: string;
  /** Milliseconds since 1970; 0 if unknown. */
  readonly removedMs: number;
  readonly remove: RemoveAction;
}

/** The last `txn` of an application. */
interface Transaction {
  /** Number of the last delivery that committed to the table. */
  readonly number: number;
  readonly lastUpdatedMs: number | null;
}

export interface TableState {
  readonly table: string;
  readonly version: number;
  /** Version of the checkpoint that it was read from; `null` if there was none. */
  readonly checkpoint: number | null;
  readonly protocol: ProtocolAction;
  readonly metaData: MetaDataAction;
  /** By path as the log has it. */
  readonly files: ReadonlyMap<string, ActiveFile>;
  /** By path as the log has it. A checkpoint names those of the last seven days at least. */
  readonly removed: ReadonlyMap<string, Tombstone>;
  /** By application, which is the name of an instance. */
  readonly transactions: ReadonlyMap<string, Transaction>;
}

/** Active files of an instance. */
export function activeFiles(state: TableState, instance: string): readonly ActiveFile[] {
  return [...state.files.values()].filter((file) => file.instance === instance);
}

/** Number of the instance's last delivery that committed to the table; 0 if none did. */
export function deliveryNumber(state: TableState | null, instance: string): number {
  return state?.transactions.get(instance)?.number ?? 0;
}

/** A state that grows version by version. */
export type DeltaReplay = ReturnType<typeof newReplay>;

export function newReplay(table: string, checkpoint: number | null) {
  return {
    table,
    checkpoint,
    version: -1,
    protocol: null as ProtocolAction | null,
    metaData: null as MetaDataAction | null,
    files: new Map<string, ActiveFile>(),
    removed: new Map<string, Tombstone>(),
    transactions: new Map<string, Transaction>(),
  };
}

/** A replay that continues from a copy of a state. */
export function copyReplay(state: TableState): DeltaReplay {
  return {
    ...state,
    files: new Map(state.files),
    removed: new Map(state.removed),
    transactions: new Map(state.transactions),
  };
}

/** Applies the actions of a commit. Throws a URIError if a path is not encoded. */
export function applyCommit(replay: DeltaReplay, version: number, actions: readonly DeltaAction[]): void {
  replay.version = version;
  const { files, removed, transactions } = replay;
  for (const { add, remove, metaData, protocol, txn } of actions) {
    if (add) {
      const instance = add.partitionValues.instance ?? null;
      removed.delete(add.path);
      files.set(add.path, { path: decodeURIComponent(add.path), instance, add });
    }
    if (remove) {
      const removedMs = remove.deletionTimestamp ?? 0;
      files.delete(remove.path);
      removed.set(remove.path, { path: decodeURIComponent(remove.path), removedMs, remove });
    }
    if (metaData) replay.metaData = metaData;
    if (protocol) replay.protocol = protocol;
    if (txn) transactions.set(txn.appId, { number: txn.version, lastUpdatedMs: txn.lastUpdated });
  }
}
