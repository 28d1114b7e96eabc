/** Tables that wait: another program gave them what we do not write, and all others go on. */
import { WarehouseError } from "../../common/errors.ts";
import { listed } from "../../common/nearest.ts";
import type { Store } from "../store/store.ts";
import type { ClaimedTable } from "./claim.ts";
import { assertWritable, BlockedTable } from "./delta/blocked.ts";
import { readTable } from "./delta/read.ts";

/** A table that does not have the last run, which all others have. */
export interface Waiting {
  readonly table: string;
  /** A sentence with the way out. */
  readonly why: string;
}

/** Of a table that could not be written; what fails for another reason than the table's own is thrown. */
export function waitingFor(table: string, thrown: unknown): Waiting {
  if (thrown instanceof BlockedTable) return { table, why: thrown.message };
  throw thrown;
}

/** The table, where a run could not be committed to it now; empty: it could. */
export async function waitingOf(store: Store, table: ClaimedTable): Promise<readonly Waiting[]> {
  try {
    assertWritable(await readTable(store, table.name), table);
    return [];
  } catch (thrown) {
    return [waitingFor(table.name, thrown)];
  }
}

/** The way out of a table that does not have the last run, though it could be committed to it. */
export const BRINGS = '"content-warehouse deliver" brings it there.';

/** Why a table does not have the last run of an instance. */
export async function missingIn(store: Store, table: ClaimedTable): Promise<readonly Waiting[]> {
  const blocked = await waitingOf(store, table);
  if (blocked.length > 0) return blocked;
  const { name } = table;
  return [
    {
      table: name,
      why: `The table ${name} of the lake does not have the last run of each instance. ${BRINGS}`,
    },
  ];
}

/** Throws `target.waits` where tables do: each is named, with why and what ends that. */
export function assertWhole(waiting: readonly Waiting[]): void {
  const text = waitingText(waiting);
  if (text !== null) throw new WarehouseError("target.waits", text);
}

/** Null: none waits. */
export function waitingText(waiting: readonly Waiting[]): string | null {
  if (waiting.length === 0) return null;
  const tables = [...new Set(waiting.map(({ table }) => table))];
  const reasons = [...new Set(waiting.map(({ why }) => why))].join(" ");
  return `Only ${listed(tables, "and")} ${tables.length === 1 ? "waits" : "wait"}. ${reasons}`;
}
