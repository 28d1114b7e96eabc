/**
 * The target `postgres`: all tables of a run in one schema of a PostgreSQL database. A delivery is one transaction. It makes
 * a new schema and swaps it with the one that readers see, which is dropped. Until the commit, and after any failure, readers
 * see the run before.
 */
import { z } from "zod";
import { nameOption, parseOptions } from "../../common/parse-form.ts";
import { printable } from "../../common/printable.ts";
import type { DeliveredRun, StagedLoad, Target } from "../../pipeline.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { sameRun } from "../../warehouse/identity.ts";
import { assertMayFollow } from "../fencing.ts";
import { connect, type PostgresConnection, withConnection } from "./connect.ts";
import {
  commentStatement,
  lockSchema,
  readSchemaRun,
  type SchemaNames,
  schemasOf,
  swapSchemas,
} from "./schemas.ts";
import { assertFitsPostgres, completeTable, copyTable } from "./tables.ts";

/** PostgreSQL takes 63 bytes; nine are left for the endings of the other schemas. */
const SCHEMA = /^(?!pg_|public$|information_schema$)[a-z_][a-z0-9_]{0,53}$/;

export const postgresOptions = z.strictObject({
  url: z
    .string()
    .superRefine((url, { addIssue }) => {
      const fault = urlFault(url);
      if (fault !== null) addIssue(fault);
    })
    .describe("postgres://user@host/database, without a password."),
  schema: z
    .string()
    .regex(SCHEMA, "expected a schema of its own: lower-case letters, digits and underscores, 54 at most")
    .optional()
    .describe('Schema that deliveries replace (default: "content_warehouse").'),
  name: nameOption.optional().describe('Name of the target (default: "postgres").'),
});

export type PostgresOptions = Readonly<z.input<typeof postgresOptions>>;

/** What is wrong with the URL of a database; `null` if nothing is. It does not repeat the URL, which may hold a password. */
function urlFault(text: string): string | null {
  const form = "expected an address such as postgres://user@host/database";
  // `pg` takes a user without a host.
  const url = URL.parse(text.replace("@/", "@localhost/"));
  if (url === null || !/^postgres(ql)?:\/\//.test(url.href)) return form;
  if (url.password !== "" || url.searchParams.has("password"))
    return "has a password in it: leave it out, and set PGPASSWORD or PGPASSFILE";
  // A password that begins with digits and a slash reads as a port and a path.
  return (url.pathname + url.hash).includes("@") ? form : null;
}

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
    const warnings = await makeSchema(connection, schemas, run);
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

/**
 * Creates all tables with their rows, then all keys and indexes: PostgreSQL names an index so that it differs from all tables.
 * Gives a sentence for each table that differs from the run.
 */
async function makeSchema(
  connection: PostgresConnection,
  { made }: SchemaNames,
  run: DeliveredRun,
): Promise<readonly string[]> {
  await connection.ask(`CREATE SCHEMA ${quoteIdentifier(made)}`);
  const { tables, signal } = run;
  const notes: string[][] = [];
  for (const [index, table] of tables.entries()) {
    signal.throwIfAborted();
    run.onProgress(index, tables.length);
    notes.push(await copyTable(connection, table));
  }
  const warnings: string[] = [];
  for (const [index, { table }] of tables.entries()) {
    signal.throwIfAborted();
    const all = [...(notes[index] ?? []), ...(await completeTable(connection, table))];
    if (all.length > 0)
      warnings.push(
        `In PostgreSQL the table ${printable(table.name)} has ${printable(all.join("; "), 2000)}.`,
      );
  }
  run.onProgress(tables.length, tables.length);
  return warnings;
}
