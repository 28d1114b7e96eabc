/**
 * The target `postgres`: all tables of a run in a schema of a PostgreSQL database. A delivery is one transaction that
 * makes a new schema and puts it in the place of the one that readers see; that one is kept until the next delivery.
 * Until the commit, and after any failure, readers have the run before.
 */
import { WarehouseError } from "../../common/errors.ts";
import { isObject } from "../../common/objects.ts";
import { isText, type Options, optionFaults } from "../../common/options.ts";
import type { DeliveredRun, StagedLoad, Target, TargetRun } from "../../pipeline.ts";
import { type Connection, connect, connected, postgresError } from "./connect.ts";
import { copyTable } from "./copy-table.ts";
import { commentText, dropPrevious, lockSchema, runIn, type Schemas, schemasOf, swap } from "./schemas.ts";
import { identifier } from "./sql.ts";

export interface PostgresOptions {
  /** `postgres://user@host/database`. The password comes from PGPASSWORD or PGPASSFILE, and what is left out from PGHOST and its like. */
  readonly url: string;
  /** Schema that readers see; `content_warehouse` by default. The run before is in `<schema>_previous`. */
  readonly schema?: string | undefined;
  /** Of the target among those of a configuration; `postgres` by default. */
  readonly name?: string | undefined;
}

/** With `_previous`, PostgreSQL takes 63 bytes. */
const SCHEMA = /^(?!pg_|public$|information_schema$)[a-z_][a-z0-9_]{0,53}$/;
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

const OPTIONS: Options = {
  url: urlVerdict,
  schema: (value) =>
    (isText(value) && SCHEMA.test(value)) ||
    "is not a schema of its own: lower-case letters, digits and underscores, 54 at most",
  name: (value) =>
    (isText(value) && NAME.test(value)) ||
    "is not a name of lower-case letters, digits and hyphens, 63 at most",
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
    last: (instance) => connected(url, ({ client }) => runIn(client, schema, instance)),
    stage: (run) => stage(url, schemas, run),
    check: () => connected(url, (connection) => proveWritable(connection, schemas)),
    forget: (signal) => forget(url, schemas, signal),
    faults: optionFaults("postgres", options, OPTIONS, ["url"]),
  };
}

async function stage(url: string, schemas: Schemas, run: DeliveredRun): Promise<StagedLoad> {
  const connection = await connect(url);
  const { client } = connection;
  const failed = async (thrown: unknown) => {
    await client.end().catch(() => {});
    run.signal.throwIfAborted();
    throw postgresError(thrown, client);
  };
  const work = async () => {
    await client.query("BEGIN");
    await lockSchema(client, schemas);
    assertLater(await runIn(client, schemas.current, run.instance), run, schemas);
    await makeSchema(connection, schemas, run);
  };
  await work().catch(failed);
  return {
    commit: async () => {
      await swap(client, schemas, run.signal).catch(failed);
      await client.end();
    },
    abort: () => client.end(),
  };
}

function assertLater(last: TargetRun | null, run: DeliveredRun, { current }: Schemas): void {
  if (last === null || last.sequence < run.sequence) return;
  throw new WarehouseError(
    "target.fenced",
    `The schema ${current} has the run ${last.run}, which is not before ${run.run}, so it stays; run again to deliver a later one.`,
  );
}

async function makeSchema({ client, copyFrom }: Connection, { made }: Schemas, run: DeliveredRun) {
  await client.query(`CREATE SCHEMA ${identifier(made)}`);
  await client.query(`SET LOCAL search_path = ${identifier(made)}`);
  const { length } = run.tables;
  for (const [at, table] of run.tables.entries()) {
    run.signal.throwIfAborted();
    run.onProgress(at, length);
    await copyTable({ client, copyFrom }, table, run.signal);
  }
  await client.query(commentText(made, run));
  run.onProgress(length, length);
}

/** Makes a schema and takes it back. */
async function proveWritable({ client }: Connection, { current, made }: Schemas): Promise<void> {
  await runIn(client, current, null);
  await client.query(`BEGIN; CREATE SCHEMA ${identifier(made)}`);
  await client.query("ROLLBACK");
}

async function forget(url: string, schemas: Schemas, signal: AbortSignal): Promise<readonly string[]> {
  await connected(url, async ({ client }) => {
    await client.query("BEGIN");
    await lockSchema(client, schemas);
    await dropPrevious(client, schemas, signal);
  });
  return [];
}
