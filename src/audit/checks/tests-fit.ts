/** Whether the tests of a pipeline are questions to tables such as it makes: known before anything is asked for. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { createViewsAndMacros } from "../../load/views.ts";
import type { Pipeline, QueryTest, Test } from "../../pipeline.ts";
import { createTable } from "../../storage/ddl.ts";
import { execute, openForScanning, PREVIOUS_CATALOG, PUBLISHED_CATALOG } from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { RUN_TABLES } from "../../tables/all.ts";
import type { Table } from "../../tables/declare.ts";
import { checks } from "../../tables/run.ts";
import { contentMappedWide, contentWide } from "../../tables/views.ts";
import { readTableNames, subqueryOf } from "../user-query.ts";
import { TEST_LIMITS } from "./tested-tables.ts";

/** Views with columns that only a run knows. */
const OF_THE_RUN: ReadonlySet<string> = new Set([contentWide.name, contentMappedWide.name]);

/** Throws `config.invalid` for a test that the tables of the pipeline, empty, cannot be asked. */
export async function assertTestsFit({ tests, tables }: Pick<Pipeline, "tests" | "tables">): Promise<void> {
  const queries = tests.filter((test) => "sql" in test);
  if (queries.length === 0) return;
  const nowhere = { temporaryDirectory: "", allowedDirectories: [] };
  await using database = await openForScanning({ ...TEST_LIMITS, ...nowhere });
  const { connection } = database;
  await makeEmpty(connection, PREVIOUS_CATALOG, [...tables, ...RUN_TABLES]);
  // The table of the checks is made when the tests have been asked.
  const made = RUN_TABLES.filter((table) => table !== checks);
  await makeEmpty(connection, PUBLISHED_CATALOG, [...tables, ...made]);
  for (const test of queries) {
    try {
      await subqueryOf(connection, test.sql);
    } catch (thrown) {
      const why = refusalText(thrown);
      if (why === undefined) throw thrown;
      if (await readsChecks(connection, test)) throw cannotBeRun(test, CHECKS_LATER, thrown);
      if (!(await mayFitLater(connection, test, why))) throw cannotBeRun(test, why, thrown);
    }
  }
}

async function makeEmpty(
  connection: DuckDBConnection,
  catalog: string,
  tables: readonly Table[],
): Promise<void> {
  const name = quoteIdentifier(catalog);
  await execute(connection, `ATTACH ':memory:' AS ${name}; USE ${name}`);
  for (const table of tables) await createTable(connection, table);
  await createViewsAndMacros(connection, new Set(tables.map((table) => table.name)));
}

const CHECKS_LATER = `it reads ${checks.name}, which a test may not read: it is made when all tests have been asked; previous.${checks.name} is that of the run before`;

async function readsChecks(connection: DuckDBConnection, { sql }: QueryTest): Promise<boolean> {
  const named = await readTableNames(connection, sql);
  return (
    named?.some(
      ({ catalog, schema, table }) => `${catalog}${schema}` === "" && table.toLowerCase() === checks.name,
    ) ?? false
  );
}

/** Whether it is a question that lacks a name, and a run may have that. */
async function mayFitLater(connection: DuckDBConnection, { sql }: QueryTest, why: string): Promise<boolean> {
  if (!why.includes("Binder Error:")) return false;
  const named = await readTableNames(connection, sql);
  return named === undefined || named.some(({ table }) => OF_THE_RUN.has(table.toLowerCase()));
}

/** Why a query was refused, in a clause; undefined: it is not the query that is wrong. */
export function refusalText(thrown: unknown): string | undefined {
  const { code, message } = asWarehouseError(thrown);
  if (code !== "config.sql") return undefined;
  return message.replace(/^[A-Z]/, (letter) => letter.toLowerCase()).replace(/\.$/, "");
}

export function cannotBeRun({ name }: Test, why: string, cause: unknown): WarehouseError {
  const test = JSON.stringify(name);
  return new WarehouseError("config.invalid", `The test ${test} of the pipeline cannot be run: ${why}.`, {
    cause,
  });
}
