/** Whose an ID is, as the tables of a run have it. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { scalar } from "../../storage/duckdb.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { DATA_TABLES } from "../../tables/all.ts";
import { columnsOf, openRun, type PublishedFiles, type Source, sourcesOf } from "./published-rows.ts";

export interface Identity {
  /** Whether the ID stands where the tables have users. */
  readonly user: boolean;
  /** A table of other things that has the ID as its key. */
  readonly otherTable: string | undefined;
}

const USERS = "users";

/** Columns by table: those that hold users, and the keys of tables that are not about users. */
const OF_USERS = DATA_TABLES.flatMap(({ name, key, references }) => {
  const own = name === USERS ? key : [];
  const others = references.filter(({ table }) => table === USERS).flatMap(({ columns }) => columns);
  return [...own, ...others].map((column) => ({ table: name, column }));
});
const KEYS = DATA_TABLES.flatMap(({ name, key: [column, ...more] }) =>
  name === USERS || column === undefined || more.length > 0 ? [] : [{ table: name, column }],
);

export async function identify(
  published: PublishedFiles,
  id: string,
  temporaryDirectory: string,
): Promise<Identity> {
  await using database = await openRun(published, temporaryDirectory);
  const holds = async ({ table, column }: { readonly table: string; readonly column: string }) => {
    if (!Object.hasOwn(published.manifest.rows, table)) return false;
    for (const source of await sourcesOf(published, table)) {
      if (await hasValue(database.connection, source, column, id)) return true;
    }
    return false;
  };
  const first = async (places: typeof KEYS) => {
    for (const place of places) if (await holds(place)) return place.table;
    return undefined;
  };
  return { user: (await first(OF_USERS)) !== undefined, otherTable: await first(KEYS) };
}

async function hasValue(
  connection: DuckDBConnection,
  source: Source,
  column: string,
  id: string,
): Promise<boolean> {
  const columns = await columnsOf(connection, source.from);
  if (!columns.some(({ name }) => name === column)) return false;
  const text = `CAST(${quoteIdentifier(column)} AS VARCHAR)`;
  return (await scalar(connection, `SELECT count(*) FROM ${source.from} WHERE ${text} = $1`, [id])) > 0;
}
