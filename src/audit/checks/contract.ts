/** The schema contract: how far answers may differ from the specification before a run is not published. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { WarehouseError } from "../../common/errors.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import { printable } from "../../common/printable.ts";
import type { CountedDrift, DriftEntry } from "../../raw/drift.ts";
import { extraKeys } from "../../raw/extra-keys.ts";
import { keyColumns } from "../../storage/ddl.ts";
import { all, toSafeInteger } from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Column, Table } from "../../tables/declare.ts";
import { type Check, type CheckResults, checkWithWarning, noneExpected } from "./checks.ts";
import { examplesOf, readExamples } from "./failing-rows.ts";

/** `evolve`: new fields and single values of another type are kept in `extra`. `freeze`: no drift is accepted. */
export const CONTRACTS = ["evolve", "freeze"] as const;
export type Contract = (typeof CONTRACTS)[number];

const FROZEN: ReadonlySet<DriftEntry["kind"]> = new Set([
  "unknown_field",
  "type",
  "unreadable",
  "single_for_list",
]);

/** Throws `contract.drift` if the contract is frozen and there is anything that the specification does not have. */
export function assertContract(contract: Contract, drift: readonly DriftEntry[]): void {
  const found = contract === "freeze" ? drift.filter(({ kind }) => FROZEN.has(kind)) : [];
  if (found.length === 0) return;
  const named = found.map(({ path, kind }) => `${printable(path, 60)} (${kind})`);
  throw new WarehouseError(
    "contract.drift",
    `The contract is frozen, and the service departs from it in ${joinFirst(named, 3)}; nothing was published. ` +
      "Run with --contract evolve to accept these fields.",
  );
}

const MISFIT: ReadonlySet<DriftEntry["kind"]> = new Set(["type", "unreadable"]);
const CONTENT = "content";

/** A column whose values may be in `extra` under `key`; without a column, the key of an item's list. */
interface MisfitPlace {
  readonly column: Column | undefined;
  readonly key: string;
}

/**
 * Counts values that are not of their column's type, which are kept in `extra`. Tables are read only if the drift says
 * that there are some. `valueCounts`: values that are not NULL, by `table.column`.
 */
export async function countMisfits(
  connection: DuckDBConnection,
  tables: readonly Table[],
  valueCounts: ReadonlyMap<string, number>,
  drift: readonly DriftEntry[],
) {
  const paths = new Set(drift.filter(({ kind }) => MISFIT.has(kind)).map(({ path }) => path));
  const found: Awaited<ReturnType<typeof misfitsOf>> = [];
  if (paths.size === 0) return found;
  for (const table of tables.filter(({ columns }) => columns.some(({ name }) => name === "extra"))) {
    const lists = table.name === CONTENT ? listFields(tables).filter((field) => paths.has(field)) : [];
    const places = [...columnPlaces(table, paths), ...lists.map((key) => ({ column: undefined, key }))];
    if (places.length > 0) found.push(...(await misfitsOf(connection, table, places, valueCounts)));
  }
  return found.filter(({ misfits }) => misfits > 0);
}

/** Fields of an item that have tables of their own: a value of another kind stays with the item. */
function listFields(tables: readonly Table[]): string[] {
  const columns = tables.filter(({ stage }) => stage === "item").flatMap((table) => table.columns);
  const nested = columns.flatMap(({ origins }) => origins.filter(({ path }) => /[.[{]/.test(path)));
  return [...new Set(nested.map(({ path }) => path.replace(/[.[{].*$/, "")))];
}

/** Dates of events are left out: people write free text there, and the table has that text too. */
function columnPlaces(table: Table, paths: ReadonlySet<string>): MisfitPlace[] {
  return table.columns
    .filter((column) => column.name !== "extra" && column.format !== "us_date")
    .flatMap((column) =>
      [...new Set(extraKeys(table, column))].filter((key) => paths.has(key)).map((key) => ({ column, key })),
    );
}

async function misfitsOf(
  connection: DuckDBConnection,
  table: Table,
  places: readonly MisfitPlace[],
  valueCounts: ReadonlyMap<string, number>,
) {
  const isMisfit = ({ column }: MisfitPlace, param: number) => {
    const empty = column?.nullable === true ? `${quoteIdentifier(column.name)} IS NULL AND ` : "";
    return `${empty}list_contains(keys, $${param})`;
  };
  const rows = `(SELECT *, json_keys(extra) AS keys FROM ${quoteIdentifier(table.name)} WHERE extra IS NOT NULL)`;
  const counts = places.map((place, i) => `count(*) FILTER (WHERE ${isMisfit(place, i + 1)}) AS "${i}"`);
  const keys = places.map(({ key }) => key);
  const [row] = await all(connection, `SELECT ${counts.join(", ")} FROM ${rows}`, keys);
  const found = [];
  for (const [i, at] of places.entries()) {
    const { column, key } = at;
    const misfits = toSafeInteger(row?.[String(i)] ?? null);
    const place = column === undefined ? key : `${table.name}.${column.name}`;
    const counted = valueCounts.get(column === undefined ? `${CONTENT}.content_id` : place) ?? 0;
    const values = counted + (column?.nullable === true ? misfits : 0);
    const failing = `(SELECT ${keyColumns(table)} FROM ${rows} WHERE ${isMisfit(at, 1)})`;
    const examples = misfits === 0 ? undefined : await readExamples(connection, failing, [key]);
    // A tenth of the values; of instants a hundredth, because another form changes every comparison by time.
    const isInstant = column?.type === "timestamp" || column?.type === "date";
    const limit = Math.max(20, Math.floor(values * (isInstant ? 0.01 : 0.1)));
    found.push({ place, misfits, values, limit, examples });
  }
  return found;
}

/** A check for each column with misfits. Throws `contract.drift` for a column over its limit. */
export function misfitChecks(found: Awaited<ReturnType<typeof countMisfits>>): Check[] {
  return found.map(({ place, misfits, values, limit, examples }) => {
    if (misfits > limit)
      throw new WarehouseError(
        "contract.drift",
        `${misfits} of ${values} values of ${place} do not have its type (limit: ${limit}); nothing was published. ` +
          "Ask what changed at the service, or exclude the field with `aliases`.",
      );
    const detail = `of ${values} values; they are in extra`;
    return { ...noneExpected(misfitCheck(place), misfits, detail, examples), expected: limit };
  });
}

/**
 * A check for each column of `content_wide` with values that cannot be read as its type, and a warning if the service
 * repeats the API token in its answers.
 */
export function driftChecks(drift: readonly CountedDrift[]): CheckResults {
  const misread = drift
    .filter(({ kind }) => kind === "field_type")
    .map(({ path, count: times, items, contentId, example }) => {
      const where = `in ${pluralize(items ?? 0, "item")}; NULL there, and text in content_custom_field_values`;
      const row = JSON.stringify({ content_id: contentId, value: example });
      return noneExpected(misfitCheck(path), times, where, examplesOf([row]));
    });
  const echoes = drift.filter(({ kind }) => kind === "token_redacted").sort((a, b) => b.count - a.count);
  const total = echoes.reduce((sum, echo) => sum + echo.count, 0);
  const paths = echoes.map(({ path }) => JSON.stringify(printable(path, 60)));
  const places = joinFirst(paths, 5);
  const detail = total === 0 ? "" : `each is published with [redacted] in its place; in ${places}`;
  const echoed = checkWithWarning(
    noneExpected("texts in which the service repeats the API token", total, detail),
    `The service repeats the API token in ${count(total)} texts (${places}): [redacted] is published in its place. Ask the service's operator why it is readable there.`,
  );
  return { ...echoed, checks: [...echoed.checks, ...misread] };
}

function misfitCheck(place: string): string {
  return `values of ${place} that are not of its type`;
}
