/** The schemas of a delivery: their names, their lock, and the run that a schema's comment names. */
import { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { parseIfJson } from "../../common/json.ts";
import type { DeliveredRun, InstanceIdentity, TargetRun } from "../../pipeline.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { instanceText, rollbackOrigin, sameInstance } from "../../warehouse/identity.ts";
import type { PostgresConnection } from "./connect.ts";

/** What readers see; the one that a delivery makes; during a swap, what readers saw before. */
export type SchemaNames = ReturnType<typeof schemasOf>;

export function schemasOf(current: string) {
  return { current, made: `${current}_new`, old: `${current}_old` };
}

/** Locks the schemas until the transaction ends. Throws `target.unavailable` if another delivery has the lock. */
export async function lockSchema({ ask }: PostgresConnection, { current }: SchemaNames): Promise<void> {
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
export function commentStatement(schema: string, delivered: DeliveredRun, last: TargetRun | null): string {
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
export async function readSchemaRun(
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
