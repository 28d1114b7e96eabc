/** An open lake with one instance: what each step of a delivery works with. */
import type { Clock } from "../../common/clock.ts";
import type { Store } from "../store/store.ts";

export interface LakeSession {
  readonly store: Store;
  readonly instance: string;
  /** Days for which earlier versions of the tables stay readable. */
  readonly logRetentionDays: number;
  readonly clock: Clock;
}

/** Opens a session for one step and closes it. Once the signal is aborted, every call to the store throws its reason. */
export type LakeOpener = <Result>(
  signal: AbortSignal,
  use: (session: LakeSession) => Promise<Result>,
) => Promise<Result>;
