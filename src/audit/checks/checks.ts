/** Checks on a staged result, before anybody can see it. A failed one keeps the run from being published. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { type AnswerRow, col } from "../../common/answer.ts";
import { WarehouseError } from "../../common/errors.ts";
import type { LoadedTable } from "../../load/load-table.ts";
import { scalar } from "../../storage/duckdb.ts";
import {
  boundsFor,
  type IdRange,
  type RangeBounds,
  rangeConditions,
  rangesOf,
  whereClause,
} from "../../storage/id-ranges.ts";
import { type DatabaseConnections, mapParallel } from "../../storage/parallel.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { readRows } from "../../storage/typed-rows.ts";
import type { Reference, Table } from "../../tables/declare.ts";
import { examplesIn, failingRows } from "./failing-rows.ts";

const VERDICTS = ["passed", "warning", "failed"] as const;

export interface Check {
  readonly name: string;
  /** `warning`: worth a look, no reason not to publish. */
  readonly verdict: (typeof VERDICTS)[number];
  readonly figure: number;
  /** What the figure is compared with; null: nothing. */
  readonly expected: number | null;
  readonly detail: string;
  /** Up to three of the rows that it counts, as a JSON list of objects; undefined: it counts no rows, or there are none. */
  readonly examples?: string | undefined;
  /** Of a test of the pipeline: names of tables of the run that its query reads. */
  readonly reads?: readonly string[] | undefined;
}

/** Whether a field contradicts itself in most items: then each mode writes it in its own way, and no state is another. */
export function isOfMostItems(times: number, items: number): boolean {
  return 2 * times > items;
}

/** Whether the modes mean the same by `updated_at`. */
export const SAME_TIMES_CHECK = "dynamic and full documents have the same updated_at";
/** What a run says of itself where they do not. */
export const DIFFERENT_TIMES =
  "dynamic and full answers mean different times by updated_at, so each was certified by passes of its own";

/** Warns where something was counted of which there should be none. */
export function noneExpected(name: string, figure: number, detail: string): Check {
  return { name, verdict: figure === 0 ? "passed" : "warning", figure, expected: 0, detail };
}

/** The same where each has a name. */
export function noneNamed(name: string, found: readonly string[]): Check {
  return noneExpected(name, found.length, found.join(", "));
}

/** A sentence for the summary. `check`: name of the check that says the same; the sentence is as new as its warning. */
export type Warning = string | { readonly text: string; readonly check: string };

export function warningText(warning: Warning): string {
  return typeof warning === "string" ? warning : warning.text;
}

/** What must be new for the warning to be new: its check, or else the sentence itself. */
export function warningCause(warning: Warning): string {
  return typeof warning === "string" ? warning : warning.check;
}

/** Checks, and sentences for the summary. */
export interface Judged {
  readonly checks: readonly Check[];
  readonly warnings: readonly Warning[];
}

export function keyChecks(loaded: readonly LoadedTable[]): Check[] {
  return loaded.map((table) => ({
    name: `unique key of ${table.table}`,
    verdict: table.duplicateKeys === 0 ? "passed" : "failed",
    figure: table.duplicateKeys,
    expected: 0,
    detail: "keys that more than one row has",
  }));
}

interface Referring {
  readonly table: Table;
  readonly reference: Reference;
  readonly target: Table;
}

/**
 * Rows that name a row which is not there. The service itself has dangling IDs (a user who is referenced and never
 * described, a deleted campaign), so these are figures and no failures. Where items are named, of which there may be
 * any number, that is looked up in one range of them after another: `bounds`.
 */
export async function referenceChecks(
  connections: DatabaseConnections,
  tables: readonly Table[],
  bounds: RangeBounds,
): Promise<Check[]> {
  const byName = new Map(tables.map((table) => [table.name, table]));
  const asked = tables.flatMap((table) =>
    table.references.flatMap((reference): Referring[] => {
      const target = byName.get(reference.table);
      return target === undefined ? [] : [{ table, reference, target }];
    }),
  );
  return mapParallel(connections, asked, async (connection, referring) => {
    let dangling = 0;
    const rows: string[] = [];
    const ranges = rangesOf(namerOfKey(referring) === undefined ? [] : boundsFor(referring.target, bounds));
    for (const range of ranges) {
      const found = await danglingIn(connection, referring, range);
      dangling += found.count;
      rows.push(...found.rows);
    }
    const { table, reference } = referring;
    const name = `${REFERENCE_PREFIX}${table.name}.${reference.columns.join("+")} → ${reference.table}`;
    return { ...noneExpected(name, dangling, "rows without a matching parent"), examples: examplesIn(rows) };
  });
}

/** The column that names what ranges of the target go by. */
function namerOfKey({ reference, target }: Referring): string | undefined {
  return reference.columns[reference.to.indexOf(target.key[0] ?? "")];
}

/** How many rows, and some of them by their keys and by what they name. */
async function danglingIn(connection: DuckDBConnection, referring: Referring, range: IdRange) {
  const { table, reference, target } = referring;
  const named = reference.columns.map(quoteIdentifier);
  const present = named.map((column) => `${column} IS NOT NULL`);
  const wanted = reference.to.map((column) => `target.${quoteIdentifier(column)}`);
  const from = rangeConditions(table, range, namerOfKey(referring));
  const to = rangeConditions(target, range);
  const shown = [...new Set([...table.key, ...reference.columns])].map(quoteIdentifier);
  // The range is a condition of both sides, so that only it is read of either.
  const dangling = `
    FROM (FROM ${quoteIdentifier(table.name)} ${whereClause([...present, ...from.conditions])}) source
    ANTI JOIN (FROM ${quoteIdentifier(target.name)} ${whereClause(to.conditions)}) target
      ON (${named.map((column, i) => `source.${column} = ${wanted[i]}`).join(" AND ")})`;
  const count = await scalar(connection, `SELECT count(*) ${dangling}`, from.params);
  const select = `(SELECT ${shown.join(", ")} ${dangling})`;
  return { count, rows: count === 0 ? [] : await failingRows(connection, select, from.params) };
}

/** Throws `verify.failed` for the first check that failed. */
export function assertPassed(checks: readonly Check[]): void {
  const failed = checks.find((check) => check.verdict === "failed");
  if (failed === undefined) return;
  throw new WarehouseError(
    "verify.failed",
    `The check "${failed.name}" failed (${failed.figure}, expected ${failed.expected ?? "none"}: ${failed.detail}); nothing was published.`,
  );
}

/** What became of everything that the passes listed. */
export interface Accounting {
  /** Distinct items, and listed documents that are not items. */
  readonly listed: number;
  readonly loaded: number;
  readonly rejected: number;
  readonly vanished: number;
  /** Listed so late, and so many, that none was asked for; only of an unsettled run. */
  readonly unread: number;
  /** What the last pass listed: of items that came or went meanwhile only what is left. */
  readonly listedLast: number;
  /** The service's own total, of the last pass. */
  readonly counted: number;
  /** Whether the passes agree: then the service's total must be what the last one listed. */
  readonly complete: boolean;
}

/** Services, and search engines below them, end a list at these lengths, and say that it is whole. */
const CAPS: ReadonlySet<number> = new Set([1000, 5000, 10_000]);

/**
 * listed = loaded + rejected + vanished + unread, and the service counts what the last pass listed, unless that is the
 * first items alone.
 */
export function accountingChecks(accounting: Accounting, isLimited: boolean): Check[] {
  const { listed, loaded, rejected, vanished, unread, listedLast, counted, complete } = accounting;
  const accounted = loaded + rejected + vanished + unread;
  const checks: Check[] = [
    {
      name: "listed = loaded + rejected + vanished + unread",
      verdict: listed === accounted && !(complete && unread > 0) ? "passed" : "failed",
      figure: accounted,
      expected: listed,
      detail: `${loaded} loaded, ${rejected} rejected, ${vanished} vanished, ${unread} unread`,
    },
    {
      name: "listed = the service's own count, in the last pass",
      verdict: listedLast === counted ? "passed" : complete ? "failed" : "warning",
      figure: listedLast,
      expected: counted,
      detail: "pagination.count of the last pass",
    },
  ];
  const mayBeMore = "services cap lists at 1,000, 5,000 or 10,000: look whether there are more";
  if (CAPS.has(listedLast))
    checks.push({ ...noneExpected("a list as long as a usual cap", listedLast, mayBeMore), expected: null });
  return isLimited ? checks.slice(0, 1) : checks;
}

export const CHECK_COLUMNS = {
  check_name: col.text({ required: true, head: "check" }),
  verdict: col.name({ required: true, of: VERDICTS, judged: true }),
  figure: col.count({ required: true, head: "counted" }),
  expected: col.count(),
  detail: col.text(),
  /** Rows that it counts, as a JSON list. */
  examples: col.text({ hidden: true }),
} as const;
export type RunCheck = AnswerRow<typeof CHECK_COLUMNS>;

/** The checks that a published run made, in the order in which they are told. `from`: its table of them. */
export async function readChecks(
  connection: DuckDBConnection,
  from = "run_checks",
): Promise<readonly RunCheck[]> {
  const select = `SELECT * REPLACE (examples::VARCHAR AS examples) FROM ${from}`;
  const checks = await readRows(connection, CHECK_COLUMNS, select);
  return inTellingOrder(checks, ({ check_name, verdict }) => ({ name: check_name, verdict }));
}

/** The checks of tests are called so, and no other is. */
export const TEST_PREFIX = "test: ";
const REFERENCE_PREFIX = "foreign key ";

/**
 * What failed or warns first; of these what a pipeline tests, and references last: some dangle in every service.
 */
export function inTellingOrder<C>(
  checks: readonly C[],
  of: (check: C) => Pick<Check, "name" | "verdict">,
): readonly C[] {
  const weightOf = (check: C) => {
    const { name, verdict } = of(check);
    const verdicts = { failed: 0, warning: 1, passed: 2 };
    const kind = name.startsWith(TEST_PREFIX) ? 0 : name.startsWith(REFERENCE_PREFIX) ? 2 : 1;
    return { weight: 10 * verdicts[verdict] + kind, name };
  };
  return checks
    .map((check) => ({ check, ...weightOf(check) }))
    .sort((a, b) => a.weight - b.weight || (a.name < b.name ? -1 : 1))
    .map(({ check }) => check);
}
