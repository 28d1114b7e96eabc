/**
 * The schema contract: how far answers may depart from the specification before nothing is published. What departs is
 * never lost: it stands in `extra` and in the raw documents, and `run_drift` counts it.
 */
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../../common/errors.ts";
import { pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import type { CountedDrift, DriftEntry, DriftKind } from "../../raw/drift.ts";
import { extraKeys } from "../../raw/extra-keys.ts";
import { keyColumns } from "../../storage/ddl.ts";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Column, Table } from "../../tables/declare.ts";
import { type Check, noneExpected } from "./checks.ts";
import { examplesIn, failingRows } from "./failing-rows.ts";

/**
 * `evolve`: fields come and go, and single values may be of another type. `freeze`: nothing departs from the
 * specification.
 */
export const CONTRACTS = ["evolve", "freeze"] as const;
export type Contract = (typeof CONTRACTS)[number];

/**
 * Values of a column that may be of another type than it says, as a share of its values, and so many in any case: more
 * than both, and the column means something else than it did. Instants have less room, because a service that writes
 * them otherwise changes what every comparison by time says.
 */
export const MISFIT_LIMITS = { values: 0.1, instants: 0.01, anyway: 20 } as const;

const FROZEN: ReadonlySet<DriftKind> = new Set(["unknown_field", "type", "unreadable", "single_for_list"]);
const EXAMPLES = 3;

/** Throws `contract.drift` for anything that the specification does not have. */
export function assertFrozen(drift: readonly DriftEntry[]): void {
  const found = drift.filter(({ kind }) => FROZEN.has(kind));
  if (found.length === 0) return;
  const named = found.map(({ path, kind }) => `${printable(path, 60)} (${kind})`);
  throw new WarehouseError(
    "contract.drift",
    `The contract is frozen, and the service departs from it in ${joinFirst(named, EXAMPLES)}; nothing was published. ` +
      "Run with --contract evolve to take it in.",
  );
}

/** Values of a column that are not of its type, among all its values; more than the limit are too many. */
export type Misfits = Awaited<ReturnType<typeof countMisfits>>[number];

const MISFIT: ReadonlySet<DriftKind> = new Set(["type", "unreadable"]);

/** Values that are not NULL, by table and column: `content.title`. A table without rows has none. */
export type ColumnValues = ReadonlyMap<string, number>;

/**
 * Counts, by the evidence in `extra`, the values that are not of their column's type. Only where the drift knows of
 * some: then one pass over the table's `extra`.
 */
export async function misfitsIn(
  connection: DuckDBConnection,
  tables: readonly Table[],
  columns: ColumnValues,
  drift: readonly DriftEntry[],
): Promise<Misfits[]> {
  const paths = new Set(drift.filter(({ kind }) => MISFIT.has(kind)).map(({ path }) => path));
  if (paths.size === 0) return [];
  const found: Misfits[] = [];
  for (const table of tables.filter(({ columns }) => columns.some(({ name }) => name === "extra"))) {
    const fields = table.name === CONTENT ? fieldsOfItems(tables).filter((field) => paths.has(field)) : [];
    const suspects = [...suspectsOf(table, paths), ...fields.map((key) => ({ column: undefined, key }))];
    if (suspects.length > 0) found.push(...(await countMisfits(connection, table, suspects, columns)));
  }
  return found.filter(({ misfits }) => misfits > 0);
}

const CONTENT = "content";

/** Fields of an item that have tables of their own: a value there of another kind stays with the item. */
function fieldsOfItems(tables: readonly Table[]): string[] {
  const own = tables.filter(({ stage }) => stage === "item").flatMap(({ columns }) => columns);
  const nested = own.flatMap(({ origins }) => origins.filter(({ path }) => /[.[{]/.test(path)));
  return [...new Set(nested.map(({ path }) => path.replace(/[.[{].*$/, "")))];
}

/** A column, and the key in `extra` under which a value lies that did not fit it; undefined: a field of the item. */
interface Suspect {
  readonly column: Column | undefined;
  readonly key: string;
}

/** Not of dates of events, which stand as text beside the date because people write what they like there. */
function suspectsOf(table: Table, paths: ReadonlySet<string>): Suspect[] {
  return table.columns
    .filter((column) => column.name !== "extra" && column.format !== "us_date")
    .flatMap((column) =>
      [...new Set(extraKeys(table, column))].filter((key) => paths.has(key)).map((key) => ({ column, key })),
    );
}

async function countMisfits(
  connection: DuckDBConnection,
  table: Table,
  suspects: readonly Suspect[],
  columns: ColumnValues,
) {
  const isMisfit = ({ column }: Suspect, param: number) => {
    const empty = column?.nullable === true ? `${quoteIdentifier(column.name)} IS NULL AND ` : "";
    return `${empty}list_contains(keys, $${param})`;
  };
  const rows = `(SELECT *, json_keys(extra) AS keys FROM ${quoteIdentifier(table.name)} WHERE extra IS NOT NULL)`;
  const counts = suspects.map(
    (suspect, i) => `count(*) FILTER (WHERE ${isMisfit(suspect, i + 1)}) AS "${i}"`,
  );
  const [row] = await all(
    connection,
    `SELECT ${counts.join(", ")} FROM ${rows}`,
    suspects.map(({ key }) => key),
  );
  const found = [];
  for (const [i, suspect] of suspects.entries()) {
    const { column, key } = suspect;
    const misfits = toSafeInteger(row?.[String(i)] ?? null);
    const place = column === undefined ? key : `${table.name}.${column.name}`;
    const counted = columns.get(column === undefined ? `${CONTENT}.content_id` : place) ?? 0;
    const values = counted + (column?.nullable === true ? misfits : 0);
    const failing = `(SELECT ${keyColumns(table)} FROM ${rows} WHERE ${isMisfit(suspect, 1)})`;
    const examples = misfits === 0 ? [] : await failingRows(connection, failing, [key]);
    found.push({ place, misfits, values, limit: limitOf(column, values), examples: examplesIn(examples) });
  }
  return found;
}

function limitOf(column: Column | undefined, values: number): number {
  const instant = column?.type === "timestamp" || column?.type === "date";
  const share = instant ? MISFIT_LIMITS.instants : MISFIT_LIMITS.values;
  return Math.max(MISFIT_LIMITS.anyway, Math.floor(values * share));
}

/** Throws `contract.drift` for the first column with too many values that are not of its type. */
export function assertTyped(found: readonly Misfits[]): void {
  const worst = found.find(({ misfits, limit }) => misfits > limit);
  if (worst === undefined) return;
  const { place, misfits, values, limit } = worst;
  throw new WarehouseError(
    "contract.drift",
    `Of ${values} values of ${place}, ${misfits} are not of its type, limit: ${limit}; nothing was published. ` +
      "Ask what changed at the service, or set the field aside with the setting `aliases`.",
  );
}

export function misfitChecks(found: readonly Misfits[]): Check[] {
  return found.map(({ place, misfits, values, limit, examples }) => ({
    name: misfitCheck(place),
    verdict: "warning",
    figure: misfits,
    expected: limit,
    detail: `of ${values} values; they stand in extra`,
    examples,
  }));
}

/** One check for each column of content_wide that has values which do not read as its type. */
export function fieldTypeChecks(drift: readonly CountedDrift[]): Check[] {
  return drift
    .filter(({ kind }) => kind === "field_type")
    .map(({ path, count, items, contentId, example }) => {
      const where = `in ${pluralize(items ?? 0, "item")}; NULL there, and text in content_custom_field_values`;
      const check = noneExpected(misfitCheck(path), count, where);
      return { ...check, examples: examplesIn([JSON.stringify({ content_id: contentId, value: example })]) };
    });
}

function misfitCheck(place: string): string {
  return `values of ${place} that are not of its type`;
}
