/** Step 5: commits the run's rows to `run_snapshots`. From then on it is the instance's last run, and whole. */
import { createHash } from "node:crypto";
import type { DeliveredRun } from "../../pipeline.ts";
import { rolledBackFrom } from "../../warehouse/identity.ts";
import type { DeliveryClaim } from "./claim.ts";
import type { TableVersion } from "./commits.ts";
import { assertYoung, type LakeDelivery, overtaken } from "./delivery.ts";
import { keepLogShort } from "./delta/checkpoint.ts";
import { type DataFile, putNext, readAgain } from "./delta/commit.ts";
import { readTable } from "./delta/read.ts";
import { deliveryNumber } from "./delta/state.ts";
import { removalId } from "./instance.ts";
import { newPath } from "./keys.ts";
import type { LakeSession } from "./session.ts";
import { lastRunOf, RUN_SNAPSHOTS, readSnapshotRows, type SnapshotRow } from "./snapshots.ts";

/** The finish of a removal has no rows, and says so by a `txn` of its own. Throws `target.fenced` as step 4. */
export async function finishDelivery(
  place: LakeSession,
  delivery: LakeDelivery,
  { number }: DeliveryClaim,
  committed: readonly TableVersion[],
): Promise<void> {
  const { store, instance, logRetentionDays: retentionDays, clock } = place;
  const { run, signal } = delivery;
  const table = RUN_SNAPSHOTS.name;
  let state = await readTable(store, table);
  for (let failed = 0; ; failed++) {
    const before = await readSnapshotRows(place, state, instance);
    // The commit landed, and its answer was lost.
    if (before.some((row) => row.delivery === number)) return;
    if (deliveryNumber(state, removalId(instance)) === number) return;
    if (deliveryNumber(state, instance) > number) throw overtaken(place, delivery);
    assertYoung(place, delivery);
    const made = { delivery: number, delivered_at: clock.now() };
    const rows = run === null ? [] : rowsAfter(before, run, committed, made);
    const change = {
      table: RUN_SNAPSHOTS,
      instance,
      number,
      files: rows.length === 0 ? [] : [await putRows(place, rows)],
      also: run === null ? [removalId(instance)] : [],
      run: run?.run ?? null,
      retentionDays,
    };
    const put = await putNext(store, state, change, clock.now());
    if (typeof put === "object")
      return await keepLogShort(store, table, { version: put.version, nowMs: clock.now() });
    state = await readAgain(store, { table, state, put }, { clock, signal, failed });
  }
}

function rowsAfter(
  before: readonly SnapshotRow[],
  run: DeliveredRun,
  committed: readonly TableVersion[],
  made: Pick<SnapshotRow, "delivery" | "delivered_at">,
): readonly SnapshotRow[] {
  const replaced = rolledBackFrom(lastRunOf(before), run);
  const rows = committed
    .filter(({ files }) => files.length > 0)
    .map(({ name, version, files }) => ({
      ...made,
      run: run.run,
      sequence: run.sequence,
      verdict: run.verdict,
      manifest_sha256: run.sha256,
      service_id: run.instance.id,
      service_origin: run.instance.origin,
      rollback_of: replaced?.run ?? null,
      rollback_of_sha256: replaced?.sha256 ?? null,
      table_name: name,
      table_version: version,
      rows: files.reduce((sum, each) => sum + each.rows, 0),
      files: files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
    }));
  return [...before.map((row) => ({ ...row, files: null })), ...rows];
}

async function putRows(
  { store, instance, rowFiles }: LakeSession,
  rows: readonly SnapshotRow[],
): Promise<DataFile> {
  const body = await rowFiles.write(rows);
  const path = newPath(RUN_SNAPSHOTS.name, instance, createHash("sha256").update(body).digest("hex"));
  await store.put(`${RUN_SNAPSHOTS.name}/${path}`, body);
  return { path, bytes: body.length, rows: rows.length, bounds: null };
}
