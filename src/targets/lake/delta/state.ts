/** State of a table at a version, which is made by replaying its log. */
import type { AddAction, DeltaAction, MetaDataAction } from "./actions.ts";

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
  readonly remove: NonNullable<DeltaAction["remove"]>;
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
  readonly protocol: NonNullable<DeltaAction["protocol"]>;
  readonly metaData: MetaDataAction;
  /** By path as the log has it. */
  readonly files: ReadonlyMap<string, ActiveFile>;
  /** By path as the log has it. A checkpoint names those of the last seven days at least. */
  readonly removed: ReadonlyMap<string, Tombstone>;
  /** By application, which is the name of an instance. */
  readonly transactions: ReadonlyMap<string, Transaction>;
}

/** Active files of an instance. */
export function activeFiles(state: TableState | null, instance: string): readonly ActiveFile[] {
  return [...(state?.files.values() ?? [])].filter((file) => file.instance === instance);
}

/** Number of the instance's last delivery that committed to the table; 0 if none did. */
export function deliveryNumber(state: TableState | null, instance: string): number {
  return state?.transactions.get(instance)?.number ?? 0;
}

/** A state that grows version by version, from a copy of `from`, or from nothing. */
export function newReplay(table: string, from?: TableState) {
  return {
    table,
    version: from?.version ?? -1,
    protocol: from?.protocol ?? null,
    metaData: from?.metaData ?? null,
    files: new Map<string, ActiveFile>(from?.files),
    removed: new Map<string, Tombstone>(from?.removed),
    transactions: new Map<string, Transaction>(from?.transactions),
  };
}

export function applyCommit(
  replay: ReturnType<typeof newReplay>,
  version: number,
  actions: readonly DeltaAction[],
): void {
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
