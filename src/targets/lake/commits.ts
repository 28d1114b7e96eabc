/** Step 4: commits each table with the number of the delivery. */
import { mapParallel } from "../../storage/parallel.ts";
import type { DeliveryClaim } from "./claim.ts";
import { assertYoung, type LakeDelivery, overtaken } from "./delivery.ts";
import type { DeliveryTable } from "./delivery-tables.ts";
import { keepLogShort } from "./delta/checkpoint.ts";
import { isUnchanged, putNext, readAgain } from "./delta/commit.ts";
import { assertWritable } from "./delta/features.ts";
import { deliveryNumber } from "./delta/state.ts";
import { type LakeTable, tablesToCommit } from "./instance.ts";
import { LANES, type LakeSession } from "./session.ts";
import { type LakeFile, uploadFiles } from "./upload.ts";

export interface TableVersion {
  readonly name: string;
  /** A version at which the instance has the run's files and no others. */
  readonly version: number;
  readonly files: readonly LakeFile[];
}

/** Throws `target.fenced` once another delivery of the instance has taken over. */
export async function commitTables(
  place: LakeSession,
  delivery: LakeDelivery,
  claim: DeliveryClaim,
): Promise<readonly TableVersion[]> {
  const tables = await tablesToCommit(place, delivery.tables);
  return await mapParallel(LANES, tables, (_, table) => commitTable(place, delivery, claim, table));
}

async function commitTable(
  place: LakeSession,
  delivery: LakeDelivery,
  { number, followsUnfinished }: DeliveryClaim,
  table: LakeTable<DeliveryTable>,
): Promise<TableVersion> {
  const { store, instance, logRetentionDays: retentionDays, clock } = place;
  const { run, signal } = delivery;
  const { declared } = table;
  const { name } = declared;
  let { state } = table;
  for (let failed = 0; ; failed++) {
    if (deliveryNumber(state, instance) > number) throw overtaken(place, delivery);
    assertYoung(place, delivery);
    assertWritable(state, declared);
    const files = "files" in declared ? await uploadFiles(place, delivery, { table: declared, state }) : [];
    const change = { table: declared, instance, number, files, retentionDays, run: run?.run ?? null };
    const mayCollide = followsUnfinished && deliveryNumber(state, instance) < number;
    if (state !== null && !mayCollide && isUnchanged(state, change))
      return { name, version: state.version, files };
    const put = await putNext(store, state, change, clock.now());
    if (typeof put === "object") {
      await keepLogShort(store, name, { version: put.version, nowMs: clock.now() });
      return { name, version: put.version, files };
    }
    state = await readAgain(store, { table: name, state, put }, { clock, signal, failed });
  }
}
