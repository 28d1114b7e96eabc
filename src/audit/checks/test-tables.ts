/** Opens the tables that tests of a pipeline read: those of the run and, as `previous`, those of the run before. */
import { join } from "node:path";
import { asWarehouseError } from "../../common/errors.ts";
import {
  type Database,
  execute,
  openForScanning,
  PREVIOUS_CATALOG,
  PUBLISHED_CATALOG,
} from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Baseline, PublishedBaseline } from "../../warehouse/baseline.ts";
import { tableSql, tablesSourceOf } from "../../warehouse/published-tables.ts";

/** With one thread, sums of doubles are the same each time. */
export const TEST_LIMITS = { memoryLimitMb: 256, threads: 1 } as const;

export interface TestTables {
  /** Closed database file with the tables and views of the run. */
  readonly database: string;
  readonly before: Baseline;
  /** Existing folder where DuckDB spills blocks. */
  readonly temporaryDirectory: string;
}

export interface NoPreviousTables {
  /** Why there are no tables of the run before, as a clause. */
  readonly why: string;
  /** Whether there should be some. */
  readonly isDamaged: boolean;
}

export async function openTestTables(
  tables: TestTables,
): Promise<{ readonly database: Database; readonly noPrevious: NoPreviousTables | null }> {
  const { before } = tables;
  if (before.kind === "none")
    return { database: await open(tables), noPrevious: { why: "there is no run before", isDamaged: false } };
  if (before.kind === "run") {
    try {
      return { database: await open(tables, before), noPrevious: null };
    } catch (thrown) {
      const { code, message } = asWarehouseError(thrown);
      if (code !== "verify.failed" && code !== "config.output") throw thrown;
      const why = `the run before, ${before.run}, cannot be read: ${message.replace(/\.$/, "")}`;
      return { database: await open(tables), noPrevious: { why, isDamaged: true } };
    }
  }
  const why = `the run before, ${before.run}, is damaged`;
  return { database: await open(tables), noPrevious: { why, isDamaged: true } };
}

async function open(
  { database: published, temporaryDirectory }: TestTables,
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
