/**
 * A loader of your own: all tables of a run in PostgreSQL, with keys and comments, in the schema `content_warehouse`.
 *
 *     npm install pg pg-copy-streams
 *     PGHOST=localhost PGDATABASE=reports npx content-warehouse run ./docs/examples/postgres.ts --sample
 *
 * One transaction makes a new schema and drops the old one with all that is in it or built on it: until it commits, and
 * after any failure, readers have the old one. It is the loader that waits for readers, ten minutes at most, so that a
 * transaction that has read one table reads the others of the same run. Grant access by ALTER DEFAULT PRIVILEGES.
 */
import { setTimeout } from "node:timers/promises";
import { contentTables, definePipeline, duckdb, type Loader, listing } from "content-warehouse";
import { Client, DatabaseError } from "pg";
import { copyTable } from "./postgres-tables.ts";

export function postgres(): Loader {
  return {
    name: "postgres",
    async stage({ tables, signal }) {
      const db = new Client({ connectionString: process.env.DATABASE_URL }); // Else by PGHOST and its like.
      db.on("error", () => {}); // A connection that is lost fails the next query.
      try {
        await db.connect();
        await db.query("BEGIN; CREATE SCHEMA new_warehouse; SET LOCAL search_path = new_warehouse");
        for (const each of tables) await copyTable(db, each, signal);
      } catch (error) {
        await db.end();
        throw error;
      }
      return { commit: () => swap(db, signal), abort: () => db.end() };
    },
  };
}

const SWAP = `SAVEPOINT swap; SET LOCAL lock_timeout = '200ms'; DROP SCHEMA IF EXISTS content_warehouse CASCADE;
  ALTER SCHEMA new_warehouse RENAME TO content_warehouse; COMMIT`;

/** Each try gives up before readers notice it, and before PostgreSQL sees a deadlock. */
async function swap(db: Client, signal: AbortSignal): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await db.query(SWAP);
      return await db.end();
    } catch (error) {
      const inUse = error instanceof DatabaseError && error.code === "55P03";
      if (!inUse || tries === 600) throw error;
      await db.query("ROLLBACK TO swap");
      await setTimeout(1000, undefined, { signal });
    }
  }
}

export default definePipeline({
  name: "postgres",
  description: "All tables of the items, in DuckDB and in PostgreSQL.",
  extract: [listing("dynamic"), listing("full")],
  transform: [contentTables()],
  load: [duckdb(), postgres()],
});
