/**
 * The schema that readers see, and the steps that replace it. Which run a schema has stands in its comment, so that it
 * goes wherever the schema goes, and so that no schema of somebody else's is ever dropped.
 */
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { parseIfJson } from "../../common/json.ts";
import type { DeliveredRun, InstanceIdentity, TargetRun } from "../../pipeline.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { type Connection, isDatabaseError } from "./connect.ts";

/** Names of the schemas: what readers see, what is being made, and the run before. */
export type Schemas = ReturnType<typeof schemasOf>;

export function schemasOf(current: string) {
  return { current, made: `${current}_new`, previous: `${current}_previous` };
}

const comment = z.object({
  tool: z.literal("content-warehouse"),
  run: z.string(),
  sequence: z.number().int(),
  instance: z.object({ id: z.string().nullable(), origin: z.string() }),
  /** Of the run's manifest. */
  sha256: z.string().optional(),
});

export function commentText(
  schema: string,
  { run, sequence, instance, manifest: { sha256 } }: DeliveredRun,
): string {
  const tool = "content-warehouse";
  const said = { tool, run, sequence, instance, sha256 } satisfies z.infer<typeof comment>;
  return `COMMENT ON SCHEMA ${quoteIdentifier(schema)} IS ${quoteLiteral(JSON.stringify(said))}`;
}

/**
 * The run that a schema has; null: there is no such schema. Throws `target.refused` for one that no delivery has made,
 * and for one of another instance.
 */
export async function runIn(
  { ask }: Connection,
  schema: string,
  instance: InstanceIdentity | null,
): Promise<TargetRun | null> {
  const found = await ask(
    "SELECT obj_description(oid, 'pg_namespace') AS text FROM pg_namespace WHERE nspname = $1",
    [schema],
  );
  if (found.rows.length === 0) return null;
  const said = comment.safeParse(parseIfJson(String(found.rows[0].text)));
  if (!said.success) {
    throw new WarehouseError(
      "target.refused",
      `The schema ${schema} was not made by a delivery, so it is left as it is; rename or drop it, or name another in \`schema\`.`,
    );
  }
  const { run, sequence, sha256, instance: owner } = said.data;
  if (instance !== null && !isSame(owner, instance)) {
    const whose = owner.id === null ? owner.origin : `${owner.origin} (instance ${owner.id})`;
    throw new WarehouseError(
      "target.refused",
      `The schema ${schema} has the content of ${whose}; name another in \`schema\`, so that the two do not mix.`,
    );
  }
  return { run, sequence, sha256 };
}

/** By the ID where both have one: a service may move. */
function isSame(one: InstanceIdentity, other: InstanceIdentity): boolean {
  return one.id !== null && other.id !== null ? one.id === other.id : one.origin === other.origin;
}

/** Held until the transaction ends, however it ends. Throws `target.unavailable` where another delivery has it. */
export async function lockSchema({ ask }: Connection, { current }: Schemas): Promise<void> {
  const key = `content-warehouse delivery to ${current}`;
  const taken = await ask("SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken", [key]);
  if (taken.rows[0].taken === true) return;
  throw new WarehouseError(
    "target.unavailable",
    `Another delivery to the schema ${current} is under way; wait until it has ended, and try again.`,
  );
}

const TRIES = 600;
const BETWEEN_MS = 1000;

/**
 * Does the steps in the open transaction and commits it. Each try gives up before readers notice it, and before
 * PostgreSQL sees a deadlock: it is the delivery that waits for readers, ten minutes at most.
 */
async function commitBetweenReaders(
  { ask, perform, signal }: Connection,
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
      const inUse = isDatabaseError(thrown) && thrown.code === "55P03";
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
 * Puts the schema that was made in the place of the current one, which becomes the previous one. A transaction that has
 * read a table of the current one reads the others of the same run: the locks on all its tables wait for it.
 */
export async function swap(connection: Connection, { current, made, previous }: Schemas): Promise<void> {
  const { ask } = connection;
  await commitBetweenReaders(connection, async () => {
    const tables = await ask(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname = $1 ORDER BY tablename`,
      [current],
    );
    const names = tables.rows.map(({ name }) => name);
    if (names.length > 0) await ask(`LOCK TABLE ${names.join(", ")} IN ACCESS EXCLUSIVE MODE`);
    await dropOurs(connection, previous);
    if ((await runIn(connection, current, null)) !== null) await rename(connection, current, previous);
    await rename(connection, made, current);
  });
}

/** Drops the previous schema, once nobody reads it. */
export async function dropPrevious(connection: Connection, { previous }: Schemas): Promise<void> {
  await commitBetweenReaders(connection, () => dropOurs(connection, previous));
}

async function dropOurs(connection: Connection, schema: string): Promise<void> {
  if ((await runIn(connection, schema, null)) === null) return;
  await connection.ask(`DROP SCHEMA ${quoteIdentifier(schema)} CASCADE`);
}

async function rename({ ask }: Connection, from: string, to: string): Promise<void> {
  await ask(`ALTER SCHEMA ${quoteIdentifier(from)} RENAME TO ${quoteIdentifier(to)}`);
}
