/** Replaces the schema that readers see, between their transactions. */
import { setTimeout } from "node:timers/promises";
import { WarehouseError } from "../../common/errors.ts";
import { printable } from "../../common/printable.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { isDatabaseError, type PostgresConnection } from "./connect.ts";
import { readSchemaRun } from "./last.ts";
import type { SchemaNames } from "./schema.ts";

/** SQLSTATE of a lock that was not to be had in time. */
const LOCKED = "55P03";
const TRIES = 600;
const BETWEEN_MS = 1000;

/**
 * Does the steps in the open transaction and commits it. Each try gives up before readers notice it, and before
 * PostgreSQL sees a deadlock: it is the delivery that waits for readers, ten minutes at most.
 */
async function commitBetweenReaders(
  { ask, perform, signal }: PostgresConnection,
  steps: () => Promise<void>,
): Promise<void> {
  await ask("SAVEPOINT waiting");
  for (let tries = 1; ; tries += 1) {
    try {
      await ask("SET LOCAL lock_timeout = '200ms'");
      await steps();
      // It writes what was copied to disk, and removes the files of what was dropped.
      await perform("COMMIT");
      return;
    } catch (thrown) {
      const inUse = isDatabaseError(thrown) && thrown.code === LOCKED;
      if (!inUse) throw thrown;
      if (tries === TRIES) throw stillRead(thrown);
      await ask("ROLLBACK TO waiting");
      await setTimeout(BETWEEN_MS, undefined, { signal });
    }
  }
}

function stillRead(cause: unknown): WarehouseError {
  return new WarehouseError(
    "target.unavailable",
    "Readers kept their transactions open for ten minutes, so the new run cannot take the place of the one that they read; end those transactions, and try again.",
    { cause },
  );
}

/**
 * Puts the schema that was made in the place of the current one, which is dropped. A transaction that has read a table of
 * the current one reads the others of the same run: the locks on all its tables wait for it. Views of others read the
 * tables of the same names from then on. Throws `target.refused` if one cannot, and if something else depends on what is
 * to be dropped.
 */
export async function swapSchemas(connection: PostgresConnection, schemas: SchemaNames): Promise<void> {
  const { current, made, old } = schemas;
  await commitBetweenReaders(connection, async () => {
    const names = await tablesIn(connection, current);
    if (names.length > 0) await connection.ask(`LOCK TABLE ${names.join(", ")} IN ACCESS EXCLUSIVE MODE`);
    const views = await viewsOn(connection, schemas);
    if ((await readSchemaRun(connection, current, null)) !== null) await rename(connection, current, old);
    await rename(connection, made, current);
    for (const view of views) await remake(connection, view);
    await dropOurs(connection, old);
  });
}

async function tablesIn({ ask }: PostgresConnection, schema: string): Promise<readonly string[]> {
  const { rows } = await ask(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname = $1 ORDER BY tablename`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

interface UserView {
  readonly name: string;
  /** From its options on. */
  readonly definition: string;
}

/** Views that others made outside of our schemas, on their tables. */
async function viewsOn(
  { ask }: PostgresConnection,
  { current, made }: SchemaNames,
): Promise<readonly UserView[]> {
  // With nothing but `made` in the path, which no view can name, definitions have the schemas of all tables.
  const { rows } = await ask(
    `SELECT format('%I.%I', nspname, relname) AS name,
       coalesce('WITH (' || nullif(array_to_string(reloptions, ', '), '') || ') ', '') || 'AS ' || pg_get_viewdef(oid) AS definition
     FROM (
       SELECT DISTINCT v.oid, n.nspname, v.relname, v.reloptions
       FROM pg_depend d
       JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
       JOIN pg_class v ON v.oid = r.ev_class AND v.relkind = 'v'
       JOIN pg_namespace n ON n.oid = v.relnamespace AND n.nspname <> ALL ($1)
       JOIN pg_class t ON d.refclassid = 'pg_class'::regclass AND t.oid = d.refobjid
       JOIN pg_namespace tn ON tn.oid = t.relnamespace AND tn.nspname = ANY ($1)
     ) AS views ORDER BY name`,
    [[current, made]],
  );
  return rows.map(({ name, definition }) => ({ name, definition }));
}

/** Lets a view read the tables that have the names of those that it was made on. */
async function remake({ ask }: PostgresConnection, { name, definition }: UserView): Promise<void> {
  try {
    await ask(`CREATE OR REPLACE VIEW ${name} ${definition}`);
  } catch (thrown) {
    if (!isDatabaseError(thrown) || thrown.code === LOCKED) throw thrown;
    throw new WarehouseError(
      "target.refused",
      `The view ${name} cannot read the new run (${printable(thrown.message)}), so the delivery leaves all as it was; change or drop the view, or let the user of \`url\` own it and CREATE in its schema.`,
      { cause: thrown },
    );
  }
}

/** With all tables in it, and never with what others have made on them elsewhere. */
async function dropOurs(connection: PostgresConnection, schema: string): Promise<void> {
  if ((await readSchemaRun(connection, schema, null)) === null) return;
  const tables = await tablesIn(connection, schema);
  try {
    if (tables.length > 0) await connection.ask(`DROP TABLE ${tables.join(", ")}`);
    await connection.ask(`DROP SCHEMA ${quoteIdentifier(schema)}`);
  } catch (thrown) {
    if (!isDatabaseError(thrown) || thrown.code !== "2BP01") throw thrown;
    throw new WarehouseError(
      "target.refused",
      `Others have made something on an earlier run, which is to be dropped, so it stays: ${printable(thrown.detail ?? thrown.message)}; drop that, or make views in its place.`,
      { cause: thrown },
    );
  }
}

async function rename({ ask }: PostgresConnection, from: string, to: string): Promise<void> {
  await ask(`ALTER SCHEMA ${quoteIdentifier(from)} RENAME TO ${quoteIdentifier(to)}`);
}
