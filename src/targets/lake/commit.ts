/** Step 4: commits each table with the number of the delivery. */
import { inParallel } from "../../storage/parallel.ts";
import type { Claim } from "./claim.ts";
import { assertYoung, type Delivery, overtaken } from "./delivery.ts";
import { assertWritable } from "./delta/blocked.ts";
import { keepLogShort } from "./delta/checkpoint.ts";
import { isUnchanged, putNext, readAgain } from "./delta/commit.ts";
import { numberOf } from "./delta/state.ts";
import type { DescribedTable } from "./described-tables.ts";
import { type LakeTable, tablesToCommit } from "./look.ts";
import { LANES, type LakePlace } from "./place.ts";
import { type NamedFile, nameFiles } from "./upload.ts";

export interface CommittedTable {
  readonly name: string;
  /** A version at which the instance has the run's files and no others. */
  readonly version: number;
  readonly files: readonly NamedFile[];
}

/** Throws `target.fenced` once another delivery of the instance has taken over. */
export async function commitTables(
  place: LakePlace,
  delivery: Delivery,
  claim: Claim,
): Promise<readonly CommittedTable[]> {
  const tables = await tablesToCommit(place, delivery.tables);
  return await inParallel(LANES, tables, (_, table) => commitTable(place, delivery, claim, table));
}

async function commitTable(
  place: LakePlace,
  delivery: Delivery,
  { number, followsUnfinished }: Claim,
  table: LakeTable<DescribedTable>,
): Promise<CommittedTable> {
  const { store, instance, logRetentionDays: retentionDays, clock } = place;
  const { run, signal } = delivery;
  const { declared } = table;
  const { name } = declared;
  let { state } = table;
  for (let failed = 0; ; failed++) {
    if (numberOf(state, instance) > number) throw overtaken(place, delivery);
    assertYoung(place, delivery);
    assertWritable(state, declared);
    const files = "files" in declared ? await nameFiles(place, delivery, { table: declared, state }) : [];
    const change = { table: declared, instance, number, files, retentionDays, run: run?.run ?? null };
    const mayCollide = followsUnfinished && numberOf(state, instance) < number;
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
