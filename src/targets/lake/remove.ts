/** Removes an instance from a lake, by a delivery without files. */
import { WarehouseError } from "../../common/errors.ts";
import { joinWords, nearestSentence } from "../../common/nearest.ts";
import { claimNumber, commitTables, finishDelivery } from "./commits.ts";
import type { LakeDelivery } from "./delivery.ts";
import { recordsOf } from "./delta/actions.ts";
import { activeFiles } from "./delta/state.ts";
import { assertDeliverable, instanceNames, readInstance, tablesToCommit } from "./instance.ts";
import type { LakeSession } from "./session.ts";
import { removeCopies } from "./vacuum.ts";

/**
 * Counts what a lake has of an instance, and changes nothing. Throws `config.not_found` if the lake has no such instance,
 * and `target.refused` if a table cannot be written.
 */
export async function measureInstance(session: LakeSession) {
  const { instance } = session;
  const state = await readInstance(session, null);
  const names = instanceNames(state.snapshots);
  await assertDeliverable(session, state, []);
  const states = (await tablesToCommit(session, [])).flatMap((table) => table.state ?? []);
  const owned = states.map((each) => activeFiles(each, instance)).filter((files) => files.length > 0);
  // A delivery that a removal overtook may have created a table after it.
  if (!names.includes(instance) && owned.length === 0) throw unknownInstance(session, names);
  const adds = owned.flat().map(({ add }) => add);
  const rows = adds.map(recordsOf);
  return {
    instance,
    tables: owned.length,
    /** Number of data files. */
    files: adds.length,
    /** `null` if another program wrote files without their number of rows. */
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
    const state = await readInstance(session, null);
    await assertDeliverable(session, state, []);
    const claim = await claimNumber(session, delivery, state);
    if (claim === null) continue;
    const tables = await commitTables(session, delivery, claim);
    await finishDelivery(session, delivery, claim, tables);
    await removeCopies(session);
    return;
  }
}

function unknownInstance({ store, instance }: LakeSession, names: readonly string[]): WarehouseError {
  const all = `It has ${joinWords(names, "and")}.`;
  const near = nearestSentence(instance, names, names.length === 0 ? "" : all);
  return new WarehouseError(
    "config.not_found",
    `There is no instance "${instance}" in ${store.address}.${near} "content-warehouse lake status" lists the instances.`,
  );
}
