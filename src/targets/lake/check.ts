/** Whether a lake takes tables: asked before a delivery is begun, and by a check. */
import { WarehouseError } from "../../common/errors.ts";
import { inParallel } from "../../storage/parallel.ts";
import type { Table } from "../../tables/declare.ts";
import { proveConditionalPut, type Store } from "../store/store.ts";
import type { ClaimedTable } from "./claim.ts";
import { readTable } from "./delta/read.ts";
import { assertWritable } from "./delta/schema.ts";
import { LANES, type LakePlace, type Settled, settle } from "./finish.ts";
import { inScratch } from "./scratch.ts";
import { RUN_SNAPSHOTS } from "./snapshots.ts";

/** Throws `target.*` where a run of these tables could not be delivered now, as far as that is known without its rows. */
export async function proveDeliverable(
  place: LakePlace,
  tables: readonly Table[],
  signal: AbortSignal,
): Promise<void> {
  const settled = await settle(place, null, signal);
  await tablesTaken(
    place.store,
    settled,
    tables.map(({ name, comment, columns }) => ({ name, comment, columns, files: [] })),
  );
  await inScratch(async () => {});
  await proveConditionalPut(place.store);
}

/**
 * The tables that a claim after the last one has: those of the run, and those that it drops. Throws `target.refused` for
 * one that the lake cannot have, or that another program has changed so that we cannot write it.
 */
export async function tablesTaken(
  store: Store,
  last: Settled,
  ofRun: readonly ClaimedTable[],
): Promise<readonly ClaimedTable[]> {
  for (const table of ofRun) assertPossible(table);
  const tables = [...ofRun, ...droppedSince(last, ofRun)];
  await inParallel(LANES, [...tables, RUN_SNAPSHOTS], async (_, table) => {
    assertWritable(await readTable(store, table.name), table);
  });
  return tables;
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
