/**
 * The target `postgres`: all tables of a run in a schema of a PostgreSQL database. A delivery is one transaction that
 * makes a new schema and puts it in the place of the one that readers see, which is dropped.
 * Until the commit, and after any failure, readers have the run before.
 */

import { z } from "zod";
import { nameOption, parseOptions } from "../../common/parse-form.ts";
import type { Target } from "../../pipeline.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { postgresAddressFault } from "./address.ts";
import { withConnection } from "./connect.ts";
import { readSchemaRun } from "./last.ts";
import { assertFitsPostgres } from "./limits.ts";
import { schemasOf } from "./schema.ts";
import { stageRun } from "./stage.ts";

/** With an ending, PostgreSQL takes 63 bytes. */
const SCHEMA = /^(?!pg_|public$|information_schema$)[a-z_][a-z0-9_]{0,53}$/;

export const postgresOptions = z.strictObject({
  url: z
    .string()
    .superRefine((url, { addIssue }) => {
      const fault = postgresAddressFault(url);
      if (fault === "form") addIssue("expected an address such as postgres://user@host/database");
      if (fault === "password")
        addIssue("has a password in it: leave it out, and set PGPASSWORD or PGPASSFILE");
    })
    .describe("postgres://user@host/database, without a password."),
  schema: z
    .string()
    .regex(SCHEMA, "expected a schema of its own: lower-case letters, digits and underscores, 54 at most")
    .optional()
    .describe('Schema that is replaced; "content_warehouse" unless given.'),
  name: nameOption.optional().describe('Of the target; "postgres" unless given.'),
});

export type PostgresOptions = Readonly<z.input<typeof postgresOptions>>;

/** Delivers to PostgreSQL, by the packages `pg` and `pg-copy-streams`. */
export function postgres(options: PostgresOptions): Target {
  const {
    url,
    schema = "content_warehouse",
    name = "postgres",
  } = parseOptions("postgres", postgresOptions, options);
  const schemas = schemasOf(schema);
  return {
    name,
    last: (instance, signal) =>
      withConnection(url, signal, (connection) => readSchemaRun(connection, schema, instance)),
    stage: (run) => stageRun(url, schemas, run),
    check: async (signal, tables) => {
      for (const table of tables) assertFitsPostgres(table);
      await withConnection(url, signal, async (connection) => {
        await readSchemaRun(connection, schema, null);
        // Makes a schema and takes it back.
        await connection.ask("BEGIN");
        await connection.ask(`CREATE SCHEMA ${quoteIdentifier(schemas.made)}`);
        await connection.ask("ROLLBACK");
      });
    },
  };
}
