/** Steps 3, 4 and 5 of a delivery: the commits of its number, of each table, and of the rows in `run_snapshots`. */
import { createHash } from "node:crypto";
import { WarehouseError } from "../../common/errors.ts";
import { mapLimited } from "../../storage/parallel.ts";
import { rollbackOrigin } from "../../warehouse/identity.ts";
import { type LakeDelivery, type LakeFile, uploadCopy, uploadFiles } from "./delivery.ts";
import { putNext, type TableChange } from "./delta/commit.ts";
import { assertWritable } from "./delta/features.ts";
import { readNewer, readTable } from "./delta/log.ts";
import { DAY_MS, withRetention } from "./delta/metadata.ts";
import { activeFiles, deliveryNumber, type TableState } from "./delta/state.ts";
import {
  type DeliveryTable,
  type InstanceState,
  type LakeSession,
  removalId,
  tablesToCommit,
} from "./instance.ts";
import { newPath } from "./keys.ts";
import { lastRunOf, RUN_SNAPSHOTS, readSnapshotRows, type SnapshotRow, snapshotFile } from "./snapshots.ts";

/** The number that a delivery has taken. */
interface DeliveryClaim {
  readonly number: number;
  /** Whether the delivery before it never finished. Then every table gets a commit, with which that delivery collides. */
  readonly followsUnfinished: boolean;
}

/** A table of a delivered run. */
interface TableVersion {
  readonly name: string;
  /** A version at which the instance has the run's files and no others. */
  readonly version: number;
  readonly files: readonly LakeFile[];
}

/**
 * Steps 3 to 5. If another delivery of the instance begins or finishes before the claim, `readAgain` repeats what was done
 * before; `null` if nothing is to be delivered any more.
 */
export async function commitDelivery(
  session: LakeSession,
  delivery: LakeDelivery,
  first: InstanceState | null,
  readAgain: () => Promise<InstanceState | null>,
): Promise<void> {
  for (let seen = first; seen !== null; seen = await readAgain()) {
    const claim = await claimNumber(session, delivery, seen);
    if (claim === null) continue;
    await uploadCopy(session, delivery, claim.number);
    const tables = await commitTables(session, delivery, claim);
    return await finishDelivery(session, delivery, claim, tables);
  }
}

/**
 * Commits a change to a table. If another writer takes the version, the change is made anew for the newer state; from the
 * second time on it waits a little. `changeOf` gives `null` if nothing is to be committed; then the version is that of the
 * state.
 */
async function commitChange(
  { store, instance, logRetentionDays: retentionDays, clock }: LakeSession,
  { run, signal }: LakeDelivery,
  { number, first }: { readonly number: number; readonly first: TableState | null },
  changeOf: (state: TableState | null) => Promise<Pick<TableChange, "table" | "files" | "also"> | null>,
): Promise<{ readonly version: number; readonly isNew: boolean }> {
  let state = first;
  for (let failed = 0; ; failed++) {
    const change = await changeOf(state);
    if (change === null) return { version: state?.version ?? -1, isNew: false };
    const { name } = change.table;
    const whole = { ...change, instance, number, retentionDays, run: run?.run ?? null };
    const version = await putNext(store, state, whole, clock.now());
    if (typeof version === "number") return { version, isNew: true };
    if (failed > 0) await clock.sleep(Math.random() * Math.min(2000, 20 * 2 ** failed), signal);
    state =
      state === null || version === "passed" ? await readTable(store, name) : await readNewer(store, state);
  }
}

/**
 * Step 3: takes the next number by a commit to `run_snapshots` that holds only a `txn`. `seen`: what step 1 has read.
 * `null` if another delivery of the instance began or finished since.
 */
async function claimNumber(
  session: LakeSession,
  delivery: LakeDelivery,
  seen: InstanceState,
): Promise<DeliveryClaim | null> {
  const [number, first] = [seen.number + 1, seen.snapshots];
  const { isNew } = await commitChange(session, delivery, { number, first }, async (state) =>
    isOvertaken(state, seen, session.instance) ? null : { table: RUN_SNAPSHOTS, files: null },
  );
  return isNew ? { number, followsUnfinished: seen.isUnfinished } : null;
}

/** A claim and its finish have the same number. A finish also changes the rows, or it finishes a removal. */
function isOvertaken(state: TableState | null, { snapshots }: InstanceState, instance: string): boolean {
  const marks = (of: TableState | null) => [
    deliveryNumber(of, instance),
    deliveryNumber(of, removalId(instance)),
    ...activeFiles(of, instance).map(({ path }) => path),
  ];
  return marks(state).join() !== marks(snapshots).join();
}

/** Step 4: commits each table with the number. Throws `target.fenced` if another delivery has taken over. */
async function commitTables(
  session: LakeSession,
  delivery: LakeDelivery,
  claim: DeliveryClaim,
): Promise<readonly TableVersion[]> {
  const tables = await tablesToCommit(session, delivery.tables);
  return await mapLimited(tables, (table) => commitTable(session, delivery, claim, table));
}

async function commitTable(
  session: LakeSession,
  delivery: LakeDelivery,
  { number, followsUnfinished }: DeliveryClaim,
  { declared, state: first }: { readonly declared: DeliveryTable; readonly state: TableState | null },
): Promise<TableVersion> {
  let files: readonly LakeFile[] = [];
  const { version } = await commitChange(session, delivery, { number, first }, async (state) => {
    // The later delivery leaves a table alone that is missing or that only other instances have.
    const isNew = deliveryNumber(state, session.instance) === 0;
    const latest = isNew ? await readTable(session.store, RUN_SNAPSHOTS.name) : state;
    assertMayCommit(session, delivery, { number, state: latest });
    assertWritable(state, declared);
    files = await uploadFiles(session, delivery, { declared, state });
    const mustCollide = followsUnfinished && deliveryNumber(state, session.instance) < number;
    return isUnchanged(session, state, files) && !mustCollide ? null : { table: declared, files };
  });
  return { name: declared.name, version, files };
}

/** Whether a table has these files already and keeps earlier versions long enough. */
function isUnchanged(
  { instance, logRetentionDays }: LakeSession,
  state: TableState | null,
  files: readonly LakeFile[],
): boolean {
  if (state === null || withRetention(state.metaData, logRetentionDays) !== state.metaData) return false;
  const there = new Set(activeFiles(state, instance).map(({ path }) => path));
  return files.length === there.size && files.every(({ path }) => there.has(path));
}

/**
 * Step 5: commits the run's rows to `run_snapshots`. From then on it is the instance's last run. The finish of a removal
 * has no rows; a `txn` of its own marks it. Throws `target.fenced` as step 4 does.
 */
async function finishDelivery(
  session: LakeSession,
  delivery: LakeDelivery,
  { number }: DeliveryClaim,
  tables: readonly TableVersion[],
): Promise<void> {
  const { store, instance, clock } = session;
  const { run } = delivery;
  const first = await readTable(store, RUN_SNAPSHOTS.name);
  await commitChange(session, delivery, { number, first }, async (state) => {
    const before = await readSnapshotRows(store, state, instance);
    const isFinished = before.some((row) => row.delivery === number);
    // A commit may have landed although its answer was lost.
    if (isFinished || deliveryNumber(state, removalId(instance)) === number) return null;
    assertMayCommit(session, delivery, { number, state });
    if (run === null) return { table: RUN_SNAPSHOTS, files: [], also: [removalId(instance)] };
    const replaced = rollbackOrigin(lastRunOf(before), run);
    const rows = tables
      .filter(({ files }) => files.length > 0)
      .map(({ name, version, files }) => ({
        delivery: number,
        run: run.run,
        sequence: run.sequence,
        verdict: run.verdict,
        manifest_sha256: run.sha256,
        service_id: run.instance.id,
        service_origin: run.instance.origin,
        rollback_of: replaced?.run ?? null,
        rollback_of_sha256: replaced?.sha256 ?? null,
        delivered_at: clock.now(),
        table_name: name,
        table_version: version,
        rows: files.reduce((sum, each) => sum + each.rows, 0),
        files: files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
      }))
      .toSorted((a, b) => (a.table_name < b.table_name ? -1 : 1));
    const all = [...before.map((row) => ({ ...row, files: null })), ...rows];
    return { table: RUN_SNAPSHOTS, files: [await putRows(session, all)] };
  });
}

async function putRows({ store, instance }: LakeSession, rows: readonly SnapshotRow[]) {
  const body = snapshotFile(rows);
  const path = newPath(RUN_SNAPSHOTS.name, instance, createHash("sha256").update(body).digest("hex"));
  await store.put(`${RUN_SNAPSHOTS.name}/${path}`, body);
  return { path, bytes: body.length, rows: rows.length };
}

/**
 * Throws `target.fenced` if a later delivery of the instance has committed, and `target.refused` after a day: `lake vacuum`
 * deletes files that no version names once they are a week old.
 */
function assertMayCommit(
  { store, instance, clock }: LakeSession,
  { run, beganMs }: LakeDelivery,
  { number, state }: { readonly number: number; readonly state: TableState | null },
): void {
  const what = run === null ? "The removal" : `The delivery of ${run.run}`;
  if (deliveryNumber(state, instance) > number) {
    const next =
      run === null
        ? `repeat "content-warehouse lake remove ${instance}"`
        : 'run "content-warehouse run", which continues from the new state';
    throw new WarehouseError(
      "target.fenced",
      `${what} was stopped: another delivery of the instance ${instance} to ${store.address} took over; ${next}.`,
    );
  }
  if (clock.now() - beganMs <= DAY_MS) return;
  throw new WarehouseError(
    "target.refused",
    `${what} to ${store.address} began more than a day ago and was stopped; repeat it.`,
  );
}
