/** Runs the tests of a pipeline over the finished tables of a run before it is published. */
import { addAbortListener } from "node:events";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { count, pluralize } from "../../common/figures.ts";
import { joinFirst } from "../../common/nearest.ts";
import type { CoverageTest, LossTest, QueryTest, Severity, Test } from "../../pipeline.ts";
import type { RunAsked } from "../../raw/extract-record.ts";
import {
  type Database,
  openForScanning,
  PREVIOUS_CATALOG,
  PUBLISHED_CATALOG,
} from "../../storage/database.ts";
import { execute, scalar } from "../../storage/duckdb.ts";
import { failureText } from "../../storage/duckdb-error.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { type Baseline, mayShow, type PublishedBaseline } from "../../warehouse/baseline.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { tableSql, tablesSourceOf } from "../../warehouse/published-tables.ts";
import { lossText } from "../mapping/lost-and-gained.ts";
import {
  LIMIT_KINDS,
  LIMIT_TEXTS,
  limitCondition,
  readDestinationCounts,
  receivingDestinations,
  sumCounts,
} from "../mapping/value-counts.ts";
import { readComparedColumns, readTableNames, subqueryOf } from "../user-query.ts";
import { type Check, type CheckResults, joinResults, TEST_PREFIX } from "./checks.ts";
import { readExamples } from "./failing-rows.ts";
import type { TableFacts } from "./table-checks.ts";
import { invalidTest, queryErrorText, TEST_LIMITS } from "./validate-tests.ts";

interface TestRun {
  readonly tests: readonly Test[];
  /** Closed database file with the tables and views of the run. */
  readonly database: string;
  readonly before: Baseline;
  /** Existing folder where DuckDB spills blocks. */
  readonly temporaryDirectory: string;
  readonly asked: RunAsked;
  /** Null: there is nothing to compare with. */
  readonly mappedChanges: Manifest["mappedChanges"];
  readonly filled: Pick<TableFacts, "columns" | "emptyColumns">;
  /** Interrupts the query that is running. */
  readonly signal: AbortSignal;
}

interface OpenTestRun extends TestRun {
  readonly connection: DuckDBConnection;
  /** Why there are no tables of the run before, as a clause; undefined if there are. */
  readonly noPrevious: string | undefined;
}

/** Throws `config.invalid` if the query of a test fails whose failing rows would be an error. */
export async function runTests(run: TestRun): Promise<CheckResults> {
  const { database, noPrevious } = await openTestTables(run);
  await using opened = database;
  using _interrupting = addAbortListener(run.signal, () => opened.interrupt());
  const open = { ...run, connection: opened.connection, noPrevious };
  const results: CheckResults[] = [];
  for (const test of run.tests) {
    run.signal.throwIfAborted();
    if ("sql" in test) results.push(await runQueryTest(test, open));
    else results.push("max" in test ? judgeLoss(test, open) : await runCoverageTest(test, open));
  }
  return joinResults(results);
}

const FIRST_RUN = "there is no run before";

/** Opens the tables of the run and, as `previous`, those of the run before. */
async function openTestTables(run: TestRun): Promise<{ database: Database; noPrevious?: string }> {
  const { before } = run;
  if (before.kind === "none") return { database: await openTables(run), noPrevious: FIRST_RUN };
  try {
    if (before.kind === "run") return { database: await openTables(run, before) };
  } catch (thrown) {
    const { code, message } = asWarehouseError(thrown);
    if (code !== "verify.failed" && code !== "config.output") throw thrown;
    const noPrevious = `the run before, ${before.run}, cannot be read: ${message.replace(/\.$/, "")}`;
    return { database: await openTables(run), noPrevious };
  }
  return { database: await openTables(run), noPrevious: `the run before, ${before.run}, is damaged` };
}

async function openTables(
  { database: published, temporaryDirectory }: TestRun,
  before?: PublishedBaseline,
): Promise<Database> {
  const source = before && tablesSourceOf(before, { isQuestioned: true });
  const previous = source?.database;
  const hasFilesOnly = source !== undefined && previous === undefined;
  const allowedDirectories = hasFilesOnly ? [join(source.directory, "parquet")] : [];
  const options = { ...TEST_LIMITS, temporaryDirectory, published, previous, allowedDirectories };
  const database = await openForScanning(options);
  const { connection } = database;
  try {
    if (hasFilesOnly) {
      const catalog = quoteIdentifier(PREVIOUS_CATALOG);
      await execute(connection, `ATTACH ':memory:' AS ${catalog}`);
      for (const name of Object.keys(before?.manifest.rows ?? {})) {
        const view = `${catalog}.main.${quoteIdentifier(name)}`;
        await execute(connection, `CREATE VIEW ${view} AS FROM ${tableSql(source, name)}`);
      }
    }
    await execute(connection, `USE ${quoteIdentifier(PUBLISHED_CATALOG)}`);
    return database;
  } catch (thrown) {
    await database[Symbol.asyncDispose]();
    throw thrown;
  }
}

/** One check for each kind of value that has a limit, as in `audit --fail-on`. */
async function runCoverageTest(
  { name, failOn, severity }: CoverageTest,
  { connection }: OpenTestRun,
): Promise<CheckResults> {
  const destinations = receivingDestinations(await readDestinationCounts(connection));
  const totals = sumCounts(destinations);
  const ids = destinations.map(({ destination_id }) => quoteLiteral(destination_id)).join(", ");
  const results: CheckResults[] = [];
  for (const kind of LIMIT_KINDS) {
    const limit = failOn[kind];
    if (limit === undefined) continue;
    const figure = totals[kind];
    const rows = `(SELECT content_id, destination_id, custom_field_id, value_id, value, status
      FROM content_mapped_values WHERE ${limitCondition(kind)} AND destination_id IN (${ids}))`;
    const examples = figure > 0 ? await readExamples(connection, rows) : undefined;
    const limits = { name: `${name}, ${LIMIT_TEXTS[kind]}`, severity, limit };
    results.push(testResult({ ...testCheck(limits, figure, examples), reads: ["content_mapped_values"] }));
  }
  return joinResults(results);
}

function judgeLoss({ name, max, severity }: LossTest, { mappedChanges, asked }: OpenTestRun): CheckResults {
  const reads = ["content_mapped_values"];
  const isAccepted = asked.accepted.lost;
  const limits = { name, severity: isAccepted ? ("warning" as const) : severity, limit: max };
  const check = { ...testCheck(limits, mappedChanges?.lost ?? 0, undefined), reads };
  if (mappedChanges === null) return testResult({ ...check, detail: "there is nothing to compare with" });
  const how = isAccepted ? ", accepted with --accept-lost" : "";
  return testResult({ ...check, detail: `${lossText(mappedChanges)}${how}` });
}

async function runQueryTest(test: QueryTest, run: OpenTestRun): Promise<CheckResults> {
  const { connection, noPrevious, signal } = run;
  const reads = await tablesReadBy(test, connection);
  const readsPrevious = mentionsPrevious(test);
  const skip = (why: string) => skippedTest(test.name, reads, why);
  if (readsPrevious && noPrevious !== undefined) return skip(noPrevious);
  let rows: string | undefined;
  try {
    rows = await subqueryOf(connection, test.sql);
    const check = await runQuery(test, rows, run);
    const empty = check.figure > 0 ? undefined : await comparedEmptyColumn(test, reads, run);
    if (empty === undefined) return testResult({ ...check, reads });
    return skip(`it compares ${empty}, which has no value in any row`);
  } catch (thrown) {
    signal.throwIfAborted();
    const failed = asWarehouseError(thrown).code === "internal" ? failureText(thrown) : undefined;
    const why = rows === undefined ? queryErrorText(thrown) : failed && `its query failed: ${failed}`;
    // The fault is not the query's.
    if (why === undefined) throw thrown;
    // The tables of this run fit the test, so the run before is of another pipeline or version.
    if (readsPrevious && rows === undefined) return skip(`the run before lacks what it needs: ${why}`);
    if (test.severity === "error") throw invalidTest(test, why, thrown);
    return skip(why);
  }
}

/** Tables of the run that a test names; none of a query that DuckDB cannot serialize. */
async function tablesReadBy({ sql }: QueryTest, connection: DuckDBConnection): Promise<string[]> {
  const named = (await readTableNames(connection, sql)) ?? [];
  const isPrevious = (name: string) => name.toLowerCase() === PREVIOUS_CATALOG;
  const own = named.filter(({ catalog, schema }) => ![catalog, schema].some(isPrevious));
  return [...new Set(own.map(({ table }) => table.toLowerCase()))];
}

/** Any mention of the run before counts: rows of it may show persons whom this run does not show. */
function mentionsPrevious({ sql }: QueryTest): boolean {
  return /\bprevious\b/i.test(sql);
}

/** Names a column that a test compares and that is empty in each table that it reads; undefined if there is none. */
async function comparedEmptyColumn(
  { sql }: QueryTest,
  reads: readonly string[],
  { connection, filled }: OpenTestRun,
): Promise<string | undefined> {
  const compared = await readComparedColumns(connection, sql);
  const places = compared.map((column) => {
    const named = new Set(reads.map((table) => `${table}.${column}`));
    return filled.columns.filter((place) => named.has(place.toLowerCase()));
  });
  const isEmpty = (place: string) => filled.emptyColumns.includes(place);
  return places.find((some) => some.length > 0 && some.every(isEmpty))?.join(" and ");
}

async function runQuery(test: QueryTest, rows: string, run: OpenTestRun): Promise<Check> {
  const { connection, before, asked } = run;
  const figure = await scalar(connection, `SELECT count(*) FROM ${rows}`);
  const isWithheld =
    before.kind === "run" && mentionsPrevious(test) && !mayShow(before.manifest.asked, asked);
  if (figure === 0 || !isWithheld)
    return testCheck(test, figure, figure === 0 ? undefined : await readExamples(connection, rows));
  const check = testCheck(test, figure, undefined);
  const withheld = "its rows are withheld, because the run before may have treated personal data differently";
  return { ...check, detail: `${check.detail}; ${withheld}` };
}

function testCheck(
  { name, severity, limit }: { readonly name: string; readonly severity: Severity; readonly limit: number },
  figure: number,
  examples: string | undefined,
): Check {
  const isError = severity === "error";
  const verdict = figure <= limit ? "passed" : isError ? "failed" : "warning";
  const detail = `failing rows; more than ${count(limit)} are ${isError ? "an error" : "a warning"}`;
  return { name: `${TEST_PREFIX}${name}`, verdict, figure, expected: limit, detail, examples };
}

function testResult(check: Check): CheckResults {
  const rows = check.examples === undefined ? "" : "; run_checks has rows of them";
  const warning = { text: `The test ${failureOf(check)}${rows}.`, check: check.name };
  return { checks: [check], warnings: check.verdict === "warning" ? [warning] : [] };
}

function failureOf({ name, figure, expected }: Check): string {
  const test = JSON.stringify(name.slice(TEST_PREFIX.length));
  return `${test} found ${pluralize(figure, "failing row")}, limit: ${count(expected ?? 0)}`;
}

/** A test that could not be asked passes in the first run, else it warns. `why`: a clause. */
function skippedTest(test: string, reads: readonly string[], why: string): CheckResults {
  const name = `${TEST_PREFIX}${test}`;
  const verdict = why === FIRST_RUN ? "passed" : "warning";
  const text = `The test ${JSON.stringify(test)} was skipped: ${why}.`;
  return {
    checks: [{ name, verdict, figure: 0, expected: null, detail: `skipped: ${why}`, reads }],
    warnings: verdict === "passed" ? [] : [{ text, check: name }],
  };
}

/** Throws `audit.threshold` if a test failed. */
export function assertTestsPassed({ checks }: CheckResults): void {
  const failed = checks.filter(({ verdict }) => verdict === "failed");
  if (failed.length === 0) return;
  throw new WarehouseError(
    "audit.threshold",
    `${failed.length === 1 ? "A test" : pluralize(failed.length, "test")} of the pipeline failed: ${joinFirst(failed.map(failureOf), 3)}; nothing was published. ` +
      'Look at the failing rows in run_checks of the staged run. Correct the content, or accept it with the test\'s limit or `severity: "warning"`; run with --accept-lost to accept lost values once.',
  );
}
