/** What is delivered to a lake, and why a delivery stops. */
import { WarehouseError } from "../../common/errors.ts";
import type { DeliveredRun } from "../../pipeline.ts";
import type { DeliveryTable } from "./delivery-tables.ts";
import { DAY_MS } from "./delta/retention.ts";
import type { LakeSession } from "./session.ts";

export interface LakeDelivery {
  /** Null: the instance is removed from all tables. */
  readonly run: DeliveredRun | null;
  /** Tables of the run. */
  readonly tables: readonly DeliveryTable[];
  /** Paths, below their tables' folders, of the local files that this delivery has uploaded. */
  readonly uploaded: Map<string, string>;
  /** Milliseconds since 1970. */
  readonly beganMs: number;
  readonly signal: AbortSignal;
  /** Told of the bytes of each file. */
  readonly onUpload: (bytes: number) => void;
}

/** Files that no version names are deleted once they are a week old, so no delivery may take much longer than a day. */
export function assertYoung({ store, clock }: LakeSession, { run, beganMs }: LakeDelivery): void {
  if (clock.now() - beganMs <= DAY_MS) return;
  const what = run === null ? "The removal" : `The delivery of ${run.run}`;
  throw new WarehouseError(
    "target.refused",
    `${what} to ${store.address} began more than a day ago and was stopped; repeat it.`,
  );
}

/** Another delivery of the instance has a higher number. */
export function overtaken({ store, instance }: LakeSession, { run }: LakeDelivery): WarehouseError {
  const [what, repeat] =
    run === null
      ? ["The removal", `content-warehouse lake remove ${instance}`]
      : [`The delivery of ${run.run}`, "content-warehouse run"];
  return new WarehouseError(
    "target.fenced",
    `${what} was stopped: another delivery of the instance ${instance} to ${store.address} took over; "${repeat}" goes on from what that leaves.`,
  );
}
