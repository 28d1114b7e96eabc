/** Makes a schema beside the one that readers see, in a transaction that the commit ends. */
import { printable } from "../../common/printable.ts";
import type { DeliveredRun, StagedLoad, TargetRun } from "../../pipeline.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { laterRun } from "../../warehouse/identity.ts";
import { fenced } from "../fenced.ts";
import { swap } from "./commit.ts";
import { type Connection, connect } from "./connect.ts";
import { type CopiedTable, completeTable, copyTable } from "./copy-table.ts";
import { commentText, runIn } from "./last.ts";
import { lockSchema, type Schemas } from "./schemas.ts";

export async function stage(url: string, schemas: Schemas, run: DeliveredRun): Promise<StagedLoad> {
  const connection = await connect(url, run.signal);
  const failed = async (thrown: unknown) => {
    await connection.end();
    throw connection.failure(thrown);
  };
  const work = async () => {
    await connection.ask("BEGIN");
    await lockSchema(connection, schemas);
    assertLater(await runIn(connection, schemas.current, run.instance), run, schemas);
    return await makeSchema(connection, schemas, run);
  };
  const warnings = await work().catch(failed);
  return {
    warnings,
    commit: async () => {
      await swap(connection, schemas).catch(failed);
      await connection.end();
    },
    abort: connection.end,
  };
}

function assertLater(last: TargetRun | null, run: DeliveredRun, { current }: Schemas): void {
  if (last === null || laterRun(run, last)) return;
  throw fenced(`The schema ${current}`, last, run);
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
  await ask(`SET LOCAL search_path = ${quoteIdentifier(made)}`);
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
  await ask(commentText(made, run));
  run.onProgress(length, length);
  return warnings;
}
