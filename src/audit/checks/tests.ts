/**
 * The tests of a pipeline, over the finished tables of a run that nobody sees yet: each is a query of the user's own whose
 * rows are those that fail.
 */
import { addAbortListener } from "node:events";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError } from "../../common/errors.ts";
import type { QueryTest, Test } from "../../pipeline.ts";
import { PREVIOUS_CATALOG, scalar } from "../../storage/duckdb.ts";
import { failureText } from "../../storage/failure-text.ts";
import { mayShow } from "../../warehouse/baseline.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { readComparedColumns, readTableNames, subqueryOf } from "../user-query.ts";
import type { Check, Judged } from "./checks.ts";
import { coverageResults } from "./coverage-test.ts";
import { examplesIn, failingRows } from "./failing-rows.ts";
import type { Loaded } from "./inspect.ts";
import { checkOf, passedOver, type TestResult, told } from "./test-results.ts";
import { type OpenedTables, openTested, type TestedTables } from "./tested-tables.ts";
import { cannotBeRun, refusalText } from "./tests-fit.ts";

export interface TestedRun extends TestedTables {
  readonly tests: readonly Test[];
  /** How the run treats personal data. */
  readonly personalData: Manifest["personalData"];
  /** Columns of tables with rows, as `table.column`, and those of them without a value. */
  readonly filled: Pick<Loaded, "columns" | "emptyColumns">;
  /** Ends the query under way. */
  readonly signal: AbortSignal;
}

/**
 * Asks all tests. Throws `config.invalid` where a query fails of which failing rows would keep the run from being
 * published.
 */
export async function runTests(run: TestedRun): Promise<Judged> {
  const { tests, signal } = run;
  const { database, missing } = await openTested(run);
  await using opened = database;
  using _interrupting = addAbortListener(signal, () => opened.interrupt());
  const results: TestResult[] = [];
  for (const test of tests) {
    signal.throwIfAborted();
    const asking = { ...run, connection: opened.connection, missing };
    const found = "sql" in test ? [await resultOf(test, asking)] : await coverageResults(test, asking);
    results.push(...found);
  }
  const checks = results.map(({ check }) => check);
  return { checks, warnings: results.flatMap(({ warning }) => warning ?? []) };
}

interface Asking extends TestedRun, Pick<OpenedTables, "missing"> {
  readonly connection: DuckDBConnection;
}

async function resultOf(test: QueryTest, asking: Asking): Promise<TestResult> {
  const { connection, missing, signal } = asking;
  const { reads, isCompared } = await namedBy(test, connection);
  const of = (result: TestResult): TestResult => ({ ...result, check: { ...result.check, reads } });
  if (isCompared && missing !== null) return of(passedOver(test, missing));
  let rows: string | undefined;
  try {
    rows = await subqueryOf(connection, test.sql);
    const check = await askedOf(test, rows, asking);
    const empty = check.figure > 0 ? undefined : await emptyColumn(test, reads, asking);
    if (empty === undefined) return of(told(check));
    return of(
      passedOver(test, { why: `it compares ${empty}, which has no value in any row`, isDamaged: true }),
    );
  } catch (thrown) {
    signal.throwIfAborted();
    const why = rows === undefined ? refusalText(thrown) : queryFailure(thrown);
    if (why === undefined) throw thrown;
    // Tables as the pipeline makes them have what it names: the run before is of another pipeline, or another version.
    if (isCompared && rows === undefined)
      return of(passedOver(test, { why: `the run before lacks what it asks for: ${why}`, isDamaged: true }));
    if (test.severity === "error") throw cannotBeRun(test, why, thrown);
    return of(passedOver(test, { why, isDamaged: true }));
  }
}

/** In a clause; undefined: it is not the query that is wrong. */
function queryFailure(thrown: unknown): string | undefined {
  return asWarehouseError(thrown).code === "internal"
    ? `its query failed: ${failureText(thrown)}`
    : undefined;
}

/** Which tables of the run a test reads, as far as it names them, and whether it reads the run before. */
async function namedBy({ sql }: QueryTest, connection: DuckDBConnection) {
  const named = await readTableNames(connection, sql);
  // The parser does not tell of all questions: of these a name that is followed by a point is taken for it.
  if (named === undefined) return { reads: [], isCompared: /\bprevious"?\s*\./i.test(sql) };
  const [own = [], before = []] = [false, true].map((is) =>
    named.filter(({ catalog, schema }) => [catalog, schema].some(isPrevious) === is),
  );
  return { reads: [...new Set(own.map(({ table }) => table.toLowerCase()))], isCompared: before.length > 0 };
}

/** A column that a test compares and that has no value in any table that it reads; undefined: there is none. */
async function emptyColumn(
  { sql }: QueryTest,
  reads: readonly string[],
  { connection, filled }: Asking,
): Promise<string | undefined> {
  const compared = await readComparedColumns(connection, sql);
  const places = compared.map((column) => {
    const named = new Set(reads.map((table) => `${table}.${column}`));
    return filled.columns.filter((place) => named.has(place.toLowerCase()));
  });
  const isEmpty = (place: string) => filled.emptyColumns.includes(place);
  return places.find((some) => some.length > 0 && some.every(isEmpty))?.join(" and ");
}

/** Whether its rows may hold personal values that the run before has, and this one does not. Any mention counts. */
function isWithheld({ sql }: QueryTest, { before, personalData }: Asking): boolean {
  if (before.kind !== "run" || !/\bprevious\b/i.test(sql)) return false;
  return !mayShow(before.manifest.personalData, personalData);
}

const isPrevious = (name: string) => name.toLowerCase() === PREVIOUS_CATALOG;

const WITHHELD =
  "its rows are withheld, for the run before is not known to have treated personal data as this one does";

async function askedOf(test: QueryTest, rows: string, asking: Asking): Promise<Check> {
  const { connection } = asking;
  const figure = await scalar(connection, `SELECT count(*) FROM ${rows}`);
  const withheld = figure > 0 && isWithheld(test, asking);
  const failing = figure > 0 && !withheld ? await failingRows(connection, rows) : [];
  const check = checkOf({ ...test, figure, examples: examplesIn(failing) });
  return withheld ? { ...check, detail: `${check.detail}; ${WITHHELD}` } : check;
}
