/** Makes a schema beside the one that readers see, in a transaction that the commit ends. */
import { printable } from "../../common/printable.ts";
import type { DeliveredRun, StagedLoad } from "../../pipeline.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { sameRun } from "../../warehouse/identity.ts";
import { assertMayFollow } from "../fencing.ts";
import { connect, type PostgresConnection } from "./connect.ts";
import { commentText, readSchemaRun } from "./last.ts";
import { assertFitsPostgres } from "./limits.ts";
import { lockSchema, type SchemaNames } from "./schema.ts";
import { swapSchemas } from "./swap.ts";
import { type CopiedTable, completeTable, copyTable } from "./tables.ts";

export async function stageRun(url: string, schemas: SchemaNames, run: DeliveredRun): Promise<StagedLoad> {
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
    // It was delivered since the target was asked.
    if (last !== null && sameRun(last, run)) return { isThere: true, warnings: [] };
    const warnings = await makeSchema(connection, schemas, run);
    await connection.ask(commentText(schemas.made, run, last));
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
 * Makes all tables, and gives a sentence for each that is not as it is in the run. Keys come after all tables: an index has
 * a name of its own, which PostgreSQL chooses so that it is none of a table's.
 */
async function makeSchema(
  connection: PostgresConnection,
  { made }: SchemaNames,
  run: DeliveredRun,
): Promise<readonly string[]> {
  const { ask, signal } = connection;
  await ask(`CREATE SCHEMA ${quoteIdentifier(made)}`);
  const { length } = run.tables;
  const copied: CopiedTable[] = [];
  for (const [at, table] of run.tables.entries()) {
    signal.throwIfAborted();
    run.onProgress(at, length);
    copied.push(await copyTable(connection, table));
  }
  const warnings: string[] = [];
  for (const [at, each] of copied.entries()) {
    signal.throwIfAborted();
    const notes = [...each.notes, ...(await completeTable(connection, each))];
    const table = printable(run.tables[at]?.table.name ?? "");
    if (notes.length > 0)
      warnings.push(`In PostgreSQL the table ${table} has ${printable(notes.join("; "), 2000)}.`);
  }
  run.onProgress(length, length);
  return warnings;
}
