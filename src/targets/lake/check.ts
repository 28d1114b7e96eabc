/** Whether a lake takes tables: asked before a delivery is begun, and by a check. */
import { WarehouseError } from "../../common/errors.ts";
import { inParallel } from "../../storage/parallel.ts";
import type { Table } from "../../tables/declare.ts";
import { proveConditionalPut, type Store } from "../store/store.ts";
import type { ClaimedTable } from "./claim.ts";
import { assertWritable } from "./delta/blocked.ts";
import { readTable } from "./delta/read.ts";
import { LANES, type LakePlace, type Settled, settle } from "./finish.ts";
import { inScratch } from "./scratch.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";
import { assertWhole, waitingOf } from "./waiting.ts";

/**
 * Throws `target.*` where a run of these tables could not be delivered now, or not to each of them, as far as that is
 * known without its rows.
 */
export async function proveDeliverable(
  place: LakePlace,
  tables: readonly Table[],
  signal: AbortSignal,
): Promise<void> {
  const { store } = place;
  const settled = await settle(place, null, signal);
  const ofRun = tables.map(({ name, comment, columns }) => ({ name, comment, columns, files: [] }));
  await assertTaken(store, ofRun);
  await inScratch(async () => {});
  await proveConditionalPut(store);
  const asked = [...ofRun, ...droppedSince(settled, ofRun)];
  const waiting = await inParallel(LANES, asked, (_, table) => waitingOf(store, table));
  assertWhole(waiting.flat());
}

/** Throws `target.refused` where the lake cannot have one of the tables, or where nothing could say which run is whole. */
export async function assertTaken(store: Store, ofRun: readonly ClaimedTable[]): Promise<void> {
  for (const table of ofRun) assertPossible(table);
  assertWritable(await readTable(store, RUN_SNAPSHOTS.name), RUN_SNAPSHOTS);
}

/** Tables that the last claim has and the new run has not, without files. Where it is not finished, those that it dropped too. */
export function droppedSince({ claim, fault }: Settled, tables: readonly ClaimedTable[]): ClaimedTable[] {
  const names = new Set(tables.map(({ name }) => name));
  const before = claim?.tables.filter(({ files }) => files.length > 0 || fault !== null) ?? [];
  return before.filter(({ name }) => !names.has(name)).map((table) => ({ ...table, files: [] }));
}

/** Names that the lake has given already. */
function assertPossible({ name, columns }: ClaimedTable): void {
  const taken = columns.find((column) => column.name.toLowerCase() === "instance")?.name;
  if (name !== RUN_SNAPSHOTS.name && taken === undefined) return;
  const what = taken === undefined ? `The table ${name}` : `The column ${taken} of the table ${name}`;
  throw new WarehouseError(
    "target.refused",
    `${what} cannot be delivered: the lake has one of its own by that name; give it another name in the pipeline.`,
  );
}
