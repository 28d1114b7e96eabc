/** Where two runs of the same documents differ in the rows of their tables. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { PREVIOUS_CATALOG, PUBLISHED_CATALOG } from "../src/storage/database.ts";
import { all, scalar } from "../src/storage/duckdb.ts";
import { openTables, type TablesSource, tableSql } from "../src/warehouse/published-tables.ts";

/** A run that is compared. */
interface ComparedRun {
  readonly tables: readonly string[];
  readonly source: TablesSource;
}

interface Compared {
  readonly published: ComparedRun;
  readonly rebuilt: ComparedRun;
  readonly temporaryDirectory: string;
}

/** Names of tables whose rows are not the same, as often, in both; one that either lacks, or has with other columns, differs too. */
export async function differingTables({
  published,
  rebuilt,
  temporaryDirectory,
}: Compared): Promise<string[]> {
  const limits = { temporaryDirectory, memoryLimitMb: 256, threads: 2 };
  await using database = await openTables(published.source, limits, rebuilt.source);
  const { connection } = database;
  const differing: string[] = [];
  for (const table of new Set([...published.tables, ...rebuilt.tables])) {
    const isInBoth = published.tables.includes(table) && rebuilt.tables.includes(table);
    const one = tableSql(published.source, table, PUBLISHED_CATALOG);
    const other = tableSql(rebuilt.source, table, PREVIOUS_CATALOG);
    if (!isInBoth || (await differ(connection, one, other))) differing.push(table);
  }
  return differing;
}

async function differ(connection: DuckDBConnection, one: string, other: string): Promise<boolean> {
  if ((await columnsOf(connection, one)) !== (await columnsOf(connection, other))) return true;
  const more = `(FROM ${one} EXCEPT ALL FROM ${other}) UNION ALL (FROM ${other} EXCEPT ALL FROM ${one})`;
  return (await scalar(connection, `SELECT count(*) FROM (${more})`)) > 0;
}

/** Names and types in their order, JSON as the text that it is in Parquet. */
async function columnsOf(connection: DuckDBConnection, source: string): Promise<string> {
  const columns = await all(connection, `DESCRIBE FROM ${source}`);
  return columns
    .map(({ column_name: name, column_type: type }) => `${name} ${type === "JSON" ? "VARCHAR" : type}`)
    .join(", ");
}
