/** What PostgreSQL cannot have, so that nothing is delivered. */
import { WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";
import type { Table } from "../../tables/declare.ts";

const MAX_COLUMNS = 1600;
const MAX_NAME_BYTES = 63;
/** Columns that every table of PostgreSQL has of its own. */
const SYSTEM_COLUMNS: ReadonlySet<string> = new Set(["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]);

/** Throws `target.refused`. PostgreSQL would cut a long name without a word, and two that begin alike would be one. */
export function assertFitsPostgres(table: Table): void {
  const problem = problemOf(table);
  if (problem === null) return;
  throw new WarehouseError(
    "target.refused",
    `The table ${printable(table.name)} cannot be delivered to PostgreSQL: ${problem} in the pipeline.`,
  );
}

function problemOf({ name, columns }: Table): string | null {
  const names = columns.map((each) => each.name);
  const long = [name, ...names].find((each) => Buffer.byteLength(each) > MAX_NAME_BYTES);
  if (long !== undefined)
    return `names have at most ${MAX_NAME_BYTES} bytes there, and ${printable(long)} has more; shorten it`;
  const taken = names.find((each) => SYSTEM_COLUMNS.has(each));
  if (taken !== undefined) return `every table has a column ${taken} there; give it another name`;
  if (columns.length <= MAX_COLUMNS) return null;
  return `tables have at most ${MAX_COLUMNS} columns there, and it has ${columns.length}; leave some out`;
}
