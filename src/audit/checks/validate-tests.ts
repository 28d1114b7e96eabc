/** Tries the SQL of a pipeline's tests on empty tables, so that a wrong query is known before the run begins. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { createViewsAndMacros } from "../../load/views.ts";
import type { Pipeline, QueryTest, Test } from "../../pipeline.ts";
import { openForScanning, PREVIOUS_CATALOG, PUBLISHED_CATALOG } from "../../storage/database.ts";
import { createTable } from "../../storage/ddl.ts";
import { execute } from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { RUN_TABLES } from "../../tables/all.ts";
import type { Table } from "../../tables/declare.ts";
import { tablesOfRun } from "../../tables/run.ts";
import { contentMappedWide, contentWide } from "../../tables/views.ts";
import { readTableNames, subqueryOf } from "../user-query.ts";

/** With one thread, sums of doubles are the same each time. */
export const TEST_LIMITS = { memoryLimitMb: 256, threads: 1 } as const;

/** Views whose columns are only known during a run. */
const WIDE_VIEWS: ReadonlySet<string> = new Set([contentWide.name, contentMappedWide.name]);

/** Throws `config.invalid` for a test whose query the tables of the pipeline cannot answer. */
export async function validateTests({ tests, tables }: Pick<Pipeline, "tests" | "tables">): Promise<void> {
  const queries = tests.filter((test) => "sql" in test);
  if (queries.length === 0) return;
  await using database = await openForScanning({
    ...TEST_LIMITS,
    temporaryDirectory: "",
    allowedDirectories: [],
  });
  const { connection } = database;
  await createEmpty(connection, PREVIOUS_CATALOG, [...tables, ...RUN_TABLES]);
  // The checks of this run are not a table yet when its tests run.
  const made = RUN_TABLES.filter((table) => table !== tablesOfRun.checks);
  await createEmpty(connection, PUBLISHED_CATALOG, [...tables, ...made]);
  for (const test of queries) {
    try {
      await subqueryOf(connection, test.sql);
    } catch (thrown) {
      const why = queryErrorText(thrown);
      if (why === undefined) throw thrown;
      if (!(await mayFit(connection, test, why))) throw invalidTest(test, why, thrown);
    }
  }
}

async function createEmpty(
  connection: DuckDBConnection,
  catalog: string,
  tables: readonly Table[],
): Promise<void> {
  const name = quoteIdentifier(catalog);
  await execute(connection, `ATTACH ':memory:' AS ${name}; USE ${name}`);
  for (const table of tables) await createTable(connection, table);
  await createViewsAndMacros(connection, new Set(tables.map((table) => table.name)), []);
}

/** Whether a query may be right once the run has made the wide views. */
async function mayFit(connection: DuckDBConnection, { sql }: QueryTest, why: string): Promise<boolean> {
  if (!why.includes("Binder Error:")) return false;
  const named = await readTableNames(connection, sql);
  return named === undefined || named.some(({ table }) => WIDE_VIEWS.has(table.toLowerCase()));
}

/** Why DuckDB refused a query, as a clause; undefined if the error has another cause. */
export function queryErrorText(thrown: unknown): string | undefined {
  const { code, message } = asWarehouseError(thrown);
  if (code !== "config.sql") return undefined;
  return message.replace(/^[A-Z]/, (letter) => letter.toLowerCase()).replace(/\.$/, "");
}

export function invalidTest({ name }: Test, why: string, cause: unknown): WarehouseError {
  const test = JSON.stringify(name);
  return new WarehouseError("config.invalid", `The test ${test} of the pipeline cannot be run: ${why}.`, {
    cause,
  });
}
