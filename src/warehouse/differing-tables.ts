/** Where two runs of the same documents differ: in the rows of their tables, or in the bytes of their data files. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { col, type RowOf } from "../common/answer.ts";
import { isObject } from "../common/objects.ts";
import { all, PREVIOUS_CATALOG, PUBLISHED_CATALOG } from "../storage/duckdb.ts";
import { rowsBy } from "../storage/rows-by.ts";
import { quoteIdentifier } from "../storage/sql-text.ts";
import type { Table } from "../tables/declare.ts";
import { fromTable, openTables, type TablesSource } from "./published-tables.ts";

const MEMORY_LIMIT_MB = 256;
const THREADS = 2;
const EXAMPLES = 3;

export const EXAMPLE_COLUMNS = {
  table: col.name({ required: true }),
  /** Its key, as JSON. */
  row: col.text({ required: true }),
  /** What differs of it, as JSON; null: the run does not have the row. */
  published: col.text(),
  rebuilt: col.text({ head: "built again" }),
} as const;

export interface TableDifference {
  readonly table: string;
  /** Rows that this one has and the other has not; as often as they are more. Null: they have other columns. */
  readonly published: number | null;
  readonly rebuilt: number | null;
  /** The first by the key, {@link EXAMPLES} at most. */
  readonly examples: readonly RowOf<typeof EXAMPLE_COLUMNS>[];
}

/** A run that is compared. */
export interface ComparedRun {
  readonly tables: readonly string[];
  readonly source: TablesSource;
}

interface Compared {
  readonly published: ComparedRun;
  readonly rebuilt: ComparedRun;
  /** With the keys. */
  readonly declared: readonly Pick<Table, "name" | "key">[];
  readonly temporaryDirectory: string;
}

/** Tables whose rows are not the same, as often, in both; one that either lacks, or has with other columns, differs too. */
export async function differingTables(compared: Compared): Promise<TableDifference[]> {
  const { published, rebuilt, declared, temporaryDirectory } = compared;
  const limits = { temporaryDirectory, memoryLimitMb: MEMORY_LIMIT_MB, threads: THREADS };
  await using database = await openTables(published.source, limits, rebuilt.source);
  const { connection } = database;
  const found: TableDifference[] = [];
  for (const table of new Set([...published.tables, ...rebuilt.tables])) {
    const sources = [
      published.tables.includes(table) ? fromTable(published.source, table, PUBLISHED_CATALOG) : undefined,
      rebuilt.tables.includes(table) ? fromTable(rebuilt.source, table, PREVIOUS_CATALOG) : undefined,
    ] as const;
    const key = declared.find(({ name }) => name === table)?.key ?? [];
    found.push(...(await differencesOf(connection, { table, key, sources })));
  }
  return found;
}

interface TwoTables {
  readonly table: string;
  readonly key: readonly string[];
  /** What may follow FROM; undefined: the run has no such table. */
  readonly sources: readonly [published: string | undefined, rebuilt: string | undefined];
}

/** The difference, if there is one. */
async function differencesOf(connection: DuckDBConnection, two: TwoTables): Promise<TableDifference[]> {
  const { table, sources } = two;
  const [published, rebuilt] = await Promise.all(sources.map((source) => columnsOf(connection, source)));
  if (published !== rebuilt) {
    const example = { table, row: "its columns", published: published ?? null, rebuilt: rebuilt ?? null };
    return [{ table, published: null, rebuilt: null, examples: [example] }];
  }
  const [one, other] = sources;
  // As often as one side has a row more than the other.
  const sides = `WITH published AS (FROM ${one} EXCEPT ALL FROM ${other}), rebuilt AS (FROM ${other} EXCEPT ALL FROM ${one})`;
  const counts = { published: col.count({ required: true }), rebuilt: col.count({ required: true }) };
  const counting = "(SELECT count(*) FROM published) AS published, (SELECT count(*) FROM rebuilt) AS rebuilt";
  const [more] = await rowsBy(connection, counts, `${sides} SELECT ${counting}`);
  if (more === undefined || more.published + more.rebuilt === 0) return [];
  return [{ table, ...more, examples: await examplesOf(connection, sides, two) }];
}

/** Names and types in their order, JSON as the text that it is in Parquet; undefined: there is no such table. */
async function columnsOf(
  connection: DuckDBConnection,
  source: string | undefined,
): Promise<string | undefined> {
  if (source === undefined) return undefined;
  const columns = await all(connection, `DESCRIBE FROM ${source}`);
  const types = columns.map(({ column_type: type }) => (type === "JSON" ? "VARCHAR" : type));
  return columns.map(({ column_name: name }, at) => `${name} ${types[at]}`).join(", ");
}

async function examplesOf(connection: DuckDBConnection, sides: string, { table, key }: TwoTables) {
  const columns = key.map(quoteIdentifier);
  const named = columns.map((column) => `${column} := coalesce(published.${column}, rebuilt.${column})`);
  const [first = "1"] = columns;
  const sql = `${sides}
    SELECT $1 AS "table", to_json(struct_pack(${named.join(", ")}))::VARCHAR AS "row",
      CASE WHEN published.${first} IS NOT NULL THEN to_json(published)::VARCHAR END AS published,
      CASE WHEN rebuilt.${first} IS NOT NULL THEN to_json(rebuilt)::VARCHAR END AS rebuilt
    FROM published FULL JOIN rebuilt USING (${columns.join(", ")}) ORDER BY 2 LIMIT ${EXAMPLES}`;
  const rows = await rowsBy(connection, EXAMPLE_COLUMNS, sql, [table]);
  return rows.map((row) => ({ ...row, ...differing(row.published, row.rebuilt) }));
}

/** Of two rows the members that differ; of one alone, all. */
function differing(published: string | null, rebuilt: string | null) {
  if (published === null || rebuilt === null) return { published, rebuilt };
  const [one, other] = [published, rebuilt].map((text): unknown => JSON.parse(text));
  if (!isObject(one) || !isObject(other)) return { published, rebuilt };
  const names = Object.keys(one).filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
  const [few, fewOfOther] = [one, other].map((row) =>
    JSON.stringify(Object.fromEntries(names.map((name) => [name, row[name]]))),
  );
  return { published: few ?? published, rebuilt: fewOfOther ?? rebuilt };
}
