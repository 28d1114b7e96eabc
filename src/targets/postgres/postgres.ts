/**
 * The target `postgres`: all tables of a run in a schema of a PostgreSQL database. A delivery is one transaction that
 * makes a new schema and puts it in the place of the one that readers see; that one is kept until the next delivery.
 * Until the commit, and after any failure, readers have the run before.
 */
import { isObject } from "../../common/objects.ts";
import { isName, isText, type Options, optionFaults } from "../../common/options.ts";
import { printable } from "../../common/printable.ts";
import type { DeliveredRun, StagedLoad, Target, TargetRun } from "../../pipeline.ts";
import { quoteIdentifier } from "../../storage/sql-text.ts";
import { laterRun } from "../../warehouse/identity.ts";
import { fenced } from "../fenced.ts";
import { type Connection, connect, connected } from "./connect.ts";
import { type CopiedTable, completeTable, copyTable } from "./copy-table.ts";
import { commentText, dropPrevious, lockSchema, runIn, type Schemas, schemasOf, swap } from "./schemas.ts";

export interface PostgresOptions {
  /** `postgres://user@host/database`. The password comes from PGPASSWORD or PGPASSFILE, and what is left out from PGHOST and its like. */
  readonly url: string;
  /** Schema that readers see; `content_warehouse` by default. The run before is in `<schema>_previous`. */
  readonly schema?: string | undefined;
  /** Of the target among those of a configuration; `postgres` by default. */
  readonly name?: string | undefined;
}

/** With `_previous`, the longest of the endings, PostgreSQL takes 63 bytes. */
const SCHEMA = /^(?!pg_|public$|information_schema$)[a-z_][a-z0-9_]{0,53}$/;

const OPTIONS: Options = {
  url: urlVerdict,
  schema: (value) =>
    (isText(value) && SCHEMA.test(value)) ||
    "is not a schema of its own: lower-case letters, digits and underscores, 54 at most",
  name: isName,
};

/** It may hold a password, so it is never shown. */
function urlVerdict(value: unknown): true | string {
  const url = isText(value) ? URL.parse(value) : null;
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    return "is not an address such as postgres://user@host/database";
  if (url.password === "" && !url.searchParams.has("password")) return true;
  return "has a password in it: leave it out, and set PGPASSWORD or PGPASSFILE";
}

/** Delivers to PostgreSQL, by the packages `pg` and `pg-copy-streams`. */
export function postgres(options: PostgresOptions): Target {
  const {
    url = "",
    schema = "content_warehouse",
    name = "postgres",
  }: Partial<PostgresOptions> = isObject(options) ? options : {};
  const schemas = schemasOf(schema);
  return {
    name,
    last: (instance, signal) => connected(url, signal, (connection) => runIn(connection, schema, instance)),
    stage: (run) => stage(url, schemas, run),
    check: (signal) => connected(url, signal, (connection) => proveWritable(connection, schemas)),
    forget: (signal) => forget(url, schemas, signal),
    faults: optionFaults("postgres", options, OPTIONS, ["url"]),
  };
}

async function stage(url: string, schemas: Schemas, run: DeliveredRun): Promise<StagedLoad> {
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

/** Makes a schema and takes it back. */
async function proveWritable(connection: Connection, { current, made }: Schemas): Promise<void> {
  await runIn(connection, current, null);
  await connection.ask("BEGIN");
  await connection.ask(`CREATE SCHEMA ${quoteIdentifier(made)}`);
  await connection.ask("ROLLBACK");
}

async function forget(url: string, schemas: Schemas, signal: AbortSignal): Promise<readonly string[]> {
  await connected(url, signal, async (connection) => {
    await connection.ask("BEGIN");
    await lockSchema(connection, schemas);
    await dropPrevious(connection, schemas);
  });
  return [];
}
