/** Takes an instance out of a lake, by the steps of a delivery, without files. */
import { WarehouseError } from "../../common/errors.ts";
import { joinWords, nearestSentence } from "../../common/nearest.ts";
import { claimNumber, commitTables, finishDelivery } from "./commits.ts";
import type { LakeDelivery } from "./delivery.ts";
import { activeFiles } from "./delta/state.ts";
import { recordsOf } from "./delta/statistics.ts";
import { assertDeliverable, instanceNames, readInstance, tablesToCommit } from "./instance.ts";
import type { LakeSession } from "./session.ts";
import { removeCopies } from "./vacuum.ts";

/** What a lake has of an instance. */
export type Removable = Awaited<ReturnType<typeof measureInstance>>;

/** Changes nothing. Throws `config.not_found` if the lake has no such instance, and `target.refused` if a table cannot be written. */
export async function measureInstance(session: LakeSession) {
  const { instance } = session;
  const look = await readInstance(session, null);
  const instances = instanceNames(look.snapshots);
  await assertDeliverable(session, look, []);
  const states = (await tablesToCommit(session, [])).flatMap(({ state }) => state ?? []);
  const owned = states.map((state) => activeFiles(state, instance)).filter((files) => files.length > 0);
  // A delivery that a removal overtook may have made a table since.
  if (!instances.includes(instance) && owned.length === 0) throw notThere(session, instances);
  const adds = owned.flat().map(({ add }) => add);
  const rows = adds.map(recordsOf);
  return {
    instance,
    tables: owned.length,
    /** Of the tables. */
    files: adds.length,
    /** Null: another program wrote files that do not say. */
    rows: rows.every((each) => each !== null) ? rows.reduce((sum, each) => sum + each, 0) : null,
    bytes: adds.reduce((sum, { size }) => sum + size, 0),
  };
}

/** Repeats what was interrupted. Throws `target.fenced` if the instance is delivered meanwhile. */
export async function removeInstance(session: LakeSession, signal: AbortSignal): Promise<void> {
  const delivery: LakeDelivery = {
    run: null,
    tables: [],
    uploaded: new Map(),
    beganMs: session.clock.now(),
    signal,
    onUpload: () => {},
  };
  for (;;) {
    const look = await readInstance(session, null);
    await assertDeliverable(session, look, []);
    const claim = await claimNumber(session, delivery, look);
    if (claim === null) continue;
    const committed = await commitTables(session, delivery, claim);
    await finishDelivery(session, delivery, claim, committed);
    await removeCopies(session);
    return;
  }
}

function notThere({ store, instance }: LakeSession, names: readonly string[]): WarehouseError {
  const all = `It has ${joinWords(names, "and")}.`;
  const near = nearestSentence(instance, names, names.length === 0 ? "" : all);
  return new WarehouseError(
    "config.not_found",
    `There is no instance "${instance}" in ${store.address}.${near} "content-warehouse lake status" lists what is there.`,
  );
}
