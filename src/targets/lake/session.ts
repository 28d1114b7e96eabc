/** Where a lake is, and what one step of a delivery needs besides. */
import type { Clock } from "../../common/clock.ts";
import type { Store } from "../store/store.ts";
import type { SnapshotFormat } from "./snapshots.ts";

export interface LakeSession {
  readonly store: Store;
  readonly instance: string;
  /** Days that earlier versions of the tables are kept. */
  readonly logRetentionDays: number;
  readonly clock: Clock;
  /** How the rows of `run_snapshots` are written into files. */
  readonly rowFiles: SnapshotFormat;
}

/** Opens the lake for one step. Once the signal is aborted, whatever the step asks of the store throws its reason. */
export type LakeOpener = <Result>(
  signal: AbortSignal,
  use: (place: LakeSession) => Promise<Result>,
) => Promise<Result>;

/** Number of tables or files that are worked on at a time. */
export const LANES = Array.from({ length: 8 }, (_, lane) => lane);
