/**
 * The target `postgres`: all tables of a run in one schema of a PostgreSQL database. A delivery is one transaction. It makes
 * a new schema and swaps it with the one that readers see, which is dropped. Until the commit, and after any failure, readers
 * see the run before.
 */
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { parseIfJson } from "../../common/json.ts";
import { parseOptions } from "../../common/parse-form.ts";
import { printable } from "../../common/printable.ts";
import type { DeliveredRun, InstanceIdentity, StagedLoad, Target, TargetRun } from "../../pipeline.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { instanceText, rollbackOrigin, sameInstance, sameRun } from "../../warehouse/identity.ts";
import { assertMayFollow } from "../deliver.ts";
import {
  connect,
  isDatabaseError,
  type PostgresConnection,
  type PostgresOptions,
  postgresOptions,
  withConnection,
} from "./connect.ts";
import { assertFitsPostgres, makeSchema } from "./tables.ts";

/** Delivers to PostgreSQL, with the packages `pg` and `pg-copy-streams`. */
export function postgres(options: PostgresOptions): Target {
  const {
    url,
    schema = "content_warehouse",
    name = "postgres",
  } = parseOptions("postgres", postgresOptions, options);
  const schemas = schemasOf(schema);
  return {
    name,
    last: (instance, signal) => withConnection(url, signal, (open) => readSchemaRun(open, schema, instance)),
    stage: (run) => stageRun(url, schemas, run),
    check: async (signal, tables) => {
      for (const table of tables) assertFitsPostgres(table);
      await withConnection(url, signal, async (connection) => {
        await readSchemaRun(connection, schema, null);
        // Creates a schema and takes it back.
        await connection.ask("BEGIN");
        await connection.ask(`CREATE SCHEMA ${quoteIdentifier(schemas.made)}`);
        await connection.ask("ROLLBACK");
      });
    },
  };
}

/** Makes the new schema in a transaction, which `commit` ends. */
async function stageRun(url: string, schemas: SchemaNames, run: DeliveredRun): Promise<StagedLoad> {
  for (const { table } of run.tables) assertFitsPostgres(table);
  const connection = await connect(url, run.signal);
  const failed = async (thrown: unknown) => {
    await connection.end();
    throw connection.failure(thrown);
  };
  const work = async () => {
    await connection.ask("BEGIN");
    await lockSchema(connection, schemas);
    await connection.ask(`SET LOCAL search_path = ${quoteIdentifier(schemas.made)}`);
    const last = await readSchemaRun(connection, schemas.current, run.instance);
    assertMayFollow({ name: `The schema ${schemas.current}`, keepsRuns: false }, last, run);
    // Another process may have delivered it since the target was asked.
    if (last !== null && sameRun(last, run)) return { isThere: true, warnings: [] };
    const warnings = await makeSchema(connection, schemas.made, run);
    await connection.ask(commentStatement(schemas.made, run, last));
    return { isThere: false, warnings };
  };
  const { isThere, warnings } = await work().catch(failed);
  return {
    warnings,
    commit: async () => {
      if (!isThere) await swapSchemas(connection, schemas).catch(failed);
      await connection.end();
    },
    abort: connection.end,
  };
}

/** What readers see; the one that a delivery makes; during a swap, what readers saw before. */
type SchemaNames = ReturnType<typeof schemasOf>;

function schemasOf(current: string) {
  return { current, made: `${current}_new`, old: `${current}_old` };
}

/** Locks the schemas until the transaction ends. Throws `target.unavailable` if another delivery has the lock. */
async function lockSchema({ ask }: PostgresConnection, { current }: SchemaNames): Promise<void> {
  const key = `content-warehouse delivery to ${current}`;
  const taken = await ask("SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken", [key]);
  if (taken.rows[0].taken === true) return;
  throw new WarehouseError(
    "target.unavailable",
    `Another delivery to the schema ${current} is under way; wait until it has ended, and try again.`,
  );
}

/** The comment goes wherever the schema goes, and protects schemas that no delivery has made. */
const comment = z.object({
  tool: z.literal("content-warehouse"),
  run: z.string(),
  sequence: z.number().int(),
  instance: z.object({ id: z.string().nullable(), origin: z.string() }),
  /** SHA-256 of the run's manifest. */
  sha256: z.string(),
  /** After a rollback to this run: the latest run that was there. */
  rollbackOf: z
    .object({ run: z.string(), sequence: z.number().int(), sha256: z.string().optional() })
    .optional(),
});

/** Statement that names a run in a schema's comment. `last`: the run that it replaces. */
function commentStatement(schema: string, delivered: DeliveredRun, last: TargetRun | null): string {
  const { run, sequence, instance, sha256 } = delivered;
  const tool = "content-warehouse";
  const rollbackOf = rollbackOrigin(last, delivered);
  const said = { tool, run, sequence, instance, sha256, rollbackOf } satisfies z.infer<typeof comment>;
  return `COMMENT ON SCHEMA ${quoteIdentifier(schema)} IS ${quoteLiteral(JSON.stringify(said))}`;
}

/**
 * The run that a schema has; `null` if there is no such schema. Throws `target.refused` if no delivery has made the schema,
 * or it has the content of another instance. `instance`: `null` if any will do.
 */
async function readSchemaRun(
  { ask }: PostgresConnection,
  schema: string,
  instance: InstanceIdentity | null,
): Promise<TargetRun | null> {
  const { rows } = await ask(
    "SELECT obj_description(oid, 'pg_namespace') AS text FROM pg_namespace WHERE nspname = $1",
    [schema],
  );
  if (rows.length === 0) return null;
  const { success, data } = comment.safeParse(parseIfJson(String(rows[0].text)));
  if (!success) {
    throw new WarehouseError(
      "target.refused",
      `The schema ${schema} was not made by a delivery, so it is left as it is; rename or drop it, or name another in \`schema\`.`,
    );
  }
  const { run, sequence, sha256, rollbackOf, instance: owner } = data;
  if (instance !== null && !sameInstance(owner, instance)) {
    throw new WarehouseError(
      "target.refused",
      `The schema ${schema} has the content of ${instanceText(owner)}; name another in \`schema\`, so that the two do not mix.`,
    );
  }
  return { run, sequence, sha256, ...(rollbackOf && { rollbackOf }) };
}

/** SQLSTATEs of a lock timeout, and of a DROP that other objects depend on. */
const LOCKED = "55P03";
const DEPENDED_ON = "2BP01";
const TRIES = 600;
const PAUSE_MS = 1000;

/**
 * Drops the current schema, gives its name to the new one, and commits. A reader's transaction that has read one table reads
 * all others from the same run, because the locks wait for it. Views of others read the new tables from then on. Throws
 * `target.refused` if a view cannot, or if something else depends on the current schema.
 */
async function swapSchemas(connection: PostgresConnection, schemas: SchemaNames): Promise<void> {
  const { current, made, old } = schemas;
  await commitBetweenReaders(connection, async () => {
    const names = await tableNames(connection, current);
    if (names.length > 0) await connection.ask(`LOCK TABLE ${names.join(", ")} IN ACCESS EXCLUSIVE MODE`);
    const views = await findUserViews(connection, schemas);
    if ((await readSchemaRun(connection, current, null)) !== null)
      await renameSchema(connection, current, old);
    await renameSchema(connection, made, current);
    for (const view of views) await remakeView(connection, view);
    await dropSchema(connection, old);
  });
}

/**
 * Does the steps in the open transaction and commits it. Each try gives up before readers notice it and before PostgreSQL
 * finds a deadlock, so it is the delivery that waits for readers: ten minutes at most.
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
      // Takes longer with more rows: it syncs the new files and removes the old ones.
      await perform("COMMIT");
      return;
    } catch (thrown) {
      if (!isDatabaseError(thrown) || thrown.code !== LOCKED) throw thrown;
      if (tries === TRIES) {
        throw new WarehouseError(
          "target.unavailable",
          "Readers kept their transactions open for ten minutes, so the new run cannot replace the one that they read; end those transactions, and try again.",
          { cause: thrown },
        );
      }
      await ask("ROLLBACK TO waiting");
      await setTimeout(PAUSE_MS, undefined, { signal });
    }
  }
}

async function tableNames({ ask }: PostgresConnection, schema: string): Promise<readonly string[]> {
  const { rows } = await ask(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname = $1 ORDER BY tablename`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

interface UserView {
  readonly name: string;
  /** Rest of the CREATE VIEW statement, from the options on. */
  readonly definition: string;
}

/** Views outside of our schemas on tables in them. */
async function findUserViews(
  { ask }: PostgresConnection,
  { current, made }: SchemaNames,
): Promise<readonly UserView[]> {
  // The search path names only `made`, which no view can read, so definitions name the schemas of all tables.
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

/** Makes a view read the tables of the same names in the new schema. */
async function remakeView({ ask }: PostgresConnection, { name, definition }: UserView): Promise<void> {
  try {
    await ask(`CREATE OR REPLACE VIEW ${name} ${definition}`);
  } catch (thrown) {
    if (!isDatabaseError(thrown) || thrown.code === LOCKED) throw thrown;
    throw new WarehouseError(
      "target.refused",
      `The view ${name} cannot read the new run (${printable(thrown.message)}), so nothing was delivered; change or drop the view, or let the user of \`url\` own it and CREATE in its schema.`,
      { cause: thrown },
    );
  }
}

/** Drops a schema of ours with its tables, but nothing that others have made on them. */
async function dropSchema(connection: PostgresConnection, schema: string): Promise<void> {
  if ((await readSchemaRun(connection, schema, null)) === null) return;
  const tables = await tableNames(connection, schema);
  try {
    if (tables.length > 0) await connection.ask(`DROP TABLE ${tables.join(", ")}`);
    await connection.ask(`DROP SCHEMA ${quoteIdentifier(schema)}`);
  } catch (thrown) {
    if (!isDatabaseError(thrown) || thrown.code !== DEPENDED_ON) throw thrown;
    throw new WarehouseError(
      "target.refused",
      `Objects of others depend on an earlier run, so it cannot be dropped: ${printable(thrown.detail ?? thrown.message)}; drop them, or replace them by views.`,
      { cause: thrown },
    );
  }
}

async function renameSchema({ ask }: PostgresConnection, from: string, to: string): Promise<void> {
  await ask(`ALTER SCHEMA ${quoteIdentifier(from)} RENAME TO ${quoteIdentifier(to)}`);
}
