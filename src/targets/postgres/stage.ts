/** Makes a schema beside the one that readers see, in a transaction that the commit ends. */
import { printable } from "../../common/printable.ts";
import type { DeliveredRun, StagedLoad } from "../../pipeline.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { sameRun } from "../../warehouse/identity.ts";
import { assertMayFollow } from "../fenced.ts";
import { swap } from "./commit.ts";
import { type Connection, connect } from "./connect.ts";
import { type CopiedTable, completeTable, copyTable } from "./copy-table.ts";
import { commentText, runIn } from "./last.ts";
import { assertPossible } from "./limits.ts";
import { lockSchema, type Schemas } from "./schemas.ts";

export async function stage(url: string, schemas: Schemas, run: DeliveredRun): Promise<StagedLoad> {
  for (const { table } of run.tables) assertPossible(table);
  const connection = await connect(url, run.signal);
  const failed = async (thrown: unknown) => {
    await connection.end();
    throw connection.failure(thrown);
  };
  const work = async () => {
    await connection.ask("BEGIN");
    await lockSchema(connection, schemas);
    await connection.ask(`SET LOCAL search_path = ${quoteIdentifier(schemas.made)}`);
    const last = await runIn(connection, schemas.current, run.instance);
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
      if (!isThere) await swap(connection, schemas).catch(failed);
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
  connection: Connection,
  { made }: Schemas,
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
