/** What the tests of a pipeline read: the finished tables of a run and, as `previous`, those of the run before. No file. */
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
import type { Baseline } from "../../warehouse/baseline.ts";
import { type TablesSource, tableSql, tablesSourceOf } from "../../warehouse/published-tables.ts";

/** Of whoever asks what tests ask. With one thread, sums of doubles are the same each time. */
export const TEST_LIMITS = { memoryLimitMb: 256, threads: 1 } as const;

export interface TestedTables {
  /** File that has the tables and views, closed. */
  readonly database: string;
  readonly before: Baseline;
  /** For spilled blocks; exists. */
  readonly temporaryDirectory: string;
}

/** Why the tables of the run before are not there. */
export interface Missing {
  /** A clause. */
  readonly why: string;
  /** Whether they should be. */
  readonly isDamaged: boolean;
}

export interface OpenedTables {
  readonly database: Database;
  /** Null: those of the run before are there. */
  readonly missing: Missing | null;
}

export async function openTested(tables: TestedTables): Promise<OpenedTables> {
  const { before } = tables;
  if (before.kind !== "run") return { database: await open(tables), missing: missingOf(before) };
  try {
    const source = tablesSourceOf(before, { isQuestioned: true });
    const names = Object.keys(before.manifest.rows);
    return { database: await open(tables, { source, names }), missing: null };
  } catch (thrown) {
    const { code, message } = asWarehouseError(thrown);
    if (code !== "verify.failed" && code !== "config.output") throw thrown;
    const why = `the run before, ${before.run}, cannot be read: ${message.replace(/\.$/, "")}`;
    return { database: await open(tables), missing: { why, isDamaged: true } };
  }
}

function missingOf(before: Exclude<Baseline, { kind: "run" }>): Missing {
  switch (before.kind) {
    case "none":
      return { why: "there is no run before", isDamaged: false };
    case "damaged":
      return { why: `the run before, ${before.run}, is damaged`, isDamaged: true };
  }
}

interface PreviousTables {
  readonly source: TablesSource;
  readonly names: readonly string[];
}

async function open(
  { database: published, temporaryDirectory }: TestedTables,
  previous?: PreviousTables,
): Promise<Database> {
  const file = previous?.source.database;
  // A run that was published without a database is read from its Parquet files, which nothing else lies beside.
  const folders =
    previous === undefined || file !== undefined ? [] : [join(previous.source.directory, "parquet")];
  const options = { ...TEST_LIMITS, temporaryDirectory, published, previous: file };
  const database = await openForScanning({ ...options, allowedDirectories: folders });
  try {
    if (previous !== undefined && file === undefined) await viewFiles(database, previous);
    await execute(database.connection, `USE ${quoteIdentifier(PUBLISHED_CATALOG)}`);
    return database;
  } catch (thrown) {
    await database[Symbol.asyncDispose]();
    throw thrown;
  }
}

async function viewFiles({ connection }: Database, { source, names }: PreviousTables): Promise<void> {
  const catalog = quoteIdentifier(PREVIOUS_CATALOG);
  await execute(connection, `ATTACH ':memory:' AS ${catalog}`);
  for (const name of names) {
    const view = `${catalog}.main.${quoteIdentifier(name)}`;
    await execute(connection, `CREATE VIEW ${view} AS FROM ${tableSql(source, name)}`);
  }
}
