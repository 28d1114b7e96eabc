/**
 * The tests of a pipeline, over the finished tables of a run that nobody sees yet: each is a query of the user's own whose
 * rows are those that fail.
 */
import { addAbortListener } from "node:events";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { count, counted } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import type { Test } from "../../pipeline.ts";
import { PREVIOUS_CATALOG, scalar } from "../../storage/duckdb.ts";
import { failureText } from "../../storage/failure-text.ts";
import { checks as checksTable } from "../../tables/run.ts";
import { fromTable, openTables, sourceOf } from "../../warehouse/published-tables.ts";
import { subqueryOf, tablesNamedBy } from "../sql-question.ts";
import { type Check, type Judged, readChecks, type Warning } from "./checks.ts";
import { examplesIn, failingRows } from "./failing-rows.ts";
import {
  type Missing,
  type OpenedTables,
  openTested,
  TEST_LIMITS,
  type TestedTables,
} from "./tested-tables.ts";
import { cannotBeRun, refusalText } from "./tests-fit.ts";

/** The checks of tests are called so, and no other is. */
export const TEST_PREFIX = "test: ";
const checkNameOf = ({ name }: Test): string => `${TEST_PREFIX}${name}`;

export interface TestedRun extends TestedTables {
  readonly tests: readonly Test[];
  /** Whether rows that fail are shown: not those of a run from which a person was erased. */
  readonly showsRows: boolean;
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
  const results: Result[] = [];
  for (const test of tests) {
    signal.throwIfAborted();
    results.push(await resultOf(test, { ...run, connection: opened.connection, missing }));
  }
  const checks = results.map(({ check }) => check);
  return { checks, warnings: results.flatMap(({ warning }) => warning ?? []) };
}

/** Tests that a sentence names. */
const NAMED = 3;

/** Throws `audit.threshold` where a test failed. */
export function assertTestsHold({ checks }: Judged): void {
  const failed = checks.filter(({ verdict }) => verdict === "failed");
  if (failed.length === 0) return;
  const more = failed.length - NAMED;
  const found = [...failed.slice(0, NAMED).map(foundText), ...(more > 0 ? [`${more} more`] : [])];
  throw new WarehouseError(
    "audit.threshold",
    `${failed.length === 1 ? "A test" : counted(failed.length, "test")} of the pipeline failed: ${listed(found, "and")}; nothing was published. ` +
      'Correct the content, or publish it as it is by the `limit` or the `severity: "warning"` of the test.',
  );
}

function foundText({ name, figure, expected }: Check): string {
  const test = JSON.stringify(name.slice(TEST_PREFIX.length));
  return `${test} found ${counted(figure, "failing row")}, limit: ${count(expected ?? 0)}`;
}

interface Asking extends TestedRun, Pick<OpenedTables, "missing"> {
  readonly connection: DuckDBConnection;
}

interface Result {
  readonly check: Check;
  readonly warning?: Warning;
}

async function resultOf(test: Test, asking: Asking): Promise<Result> {
  const { connection, missing, signal } = asking;
  const { reads, isCompared } = await namedBy(test, connection);
  const of = (result: Result): Result => ({ ...result, check: { ...result.check, reads } });
  if (isCompared && missing !== null) return of((await recorded(test, asking)) ?? passedOver(test, missing));
  let rows: string | undefined;
  try {
    rows = await subqueryOf(connection, test.sql);
    return of(told(await checkOf(test, rows, asking)));
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
async function namedBy({ sql }: Test, connection: DuckDBConnection) {
  const named = await tablesNamedBy(connection, sql);
  // The parser does not tell of all questions: of these a name that is followed by a point is taken for it.
  if (named === undefined) return { reads: [], isCompared: /\bprevious"?\s*\./i.test(sql) };
  const [own = [], before = []] = [false, true].map((is) =>
    named.filter(({ catalog, schema }) => [catalog, schema].some(isPrevious) === is),
  );
  return { reads: [...new Set(own.map(({ table }) => table.toLowerCase()))], isCompared: before.length > 0 };
}

const isPrevious = (name: string) => name.toLowerCase() === PREVIOUS_CATALOG;

async function checkOf(
  test: Test,
  rows: string,
  { connection, showsRows }: Pick<Asking, "connection" | "showsRows">,
): Promise<Check> {
  const { severity, limit } = test;
  const figure = await scalar(connection, `SELECT count(*) FROM ${rows}`);
  const examples = showsRows && figure > 0 ? examplesIn(await failingRows(connection, rows)) : undefined;
  const verdict = figure <= limit ? "passed" : severity === "error" ? "failed" : "warning";
  const detail = `failing rows; more than ${count(limit)} are ${severity === "error" ? "an error" : "a warning"}`;
  return { name: checkNameOf(test), verdict, figure, expected: limit, detail, examples };
}

function told(check: Check): Result {
  if (check.verdict !== "warning") return { check };
  const text = `The test ${foundText(check)}; run_checks has rows of them.`;
  return { check, warning: { text, check: check.name } };
}

function passedOver(test: Test, { why, isDamaged }: Missing): Result {
  const detail = `passed over: ${why}`;
  const check = { name: checkNameOf(test), figure: 0, expected: null, detail };
  if (!isDamaged) return { check: { ...check, verdict: "passed" } };
  const text = `The test ${JSON.stringify(test.name)} was passed over: ${why}.`;
  return { check: { ...check, verdict: "warning" }, warning: { text, check: check.name } };
}

/** What the run that is built again found when it could be compared with the run before. */
async function recorded(
  test: Test,
  { before, showsRows, temporaryDirectory }: Asking,
): Promise<Result | undefined> {
  if (before.kind !== "pruned" || !before.isSamePipeline) return undefined;
  const source = sourceOf(before.own);
  await using database = await openTables(source, { ...TEST_LIMITS, temporaryDirectory });
  const made = await readChecks(database.connection, fromTable(source, checksTable.name));
  const found = made.find(({ check_name: name }) => name === checkNameOf(test));
  if (found === undefined) return undefined;
  const { verdict, figure, expected, detail, examples } = found;
  return told({
    name: found.check_name,
    verdict,
    figure,
    expected,
    detail: detail ?? "",
    examples: (showsRows && examples) || undefined,
  });
}
