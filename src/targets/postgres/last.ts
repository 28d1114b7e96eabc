/**
 * Which run a schema has: it stands in its comment, so that it goes wherever the schema goes, and so that no schema of
 * somebody else's is ever dropped.
 */
import { z } from "zod";
import { WarehouseError } from "../../common/errors.ts";
import { parseIfJson } from "../../common/json.ts";
import type { DeliveredRun, InstanceIdentity, TargetRun } from "../../pipeline.ts";
import { quoteIdentifier, quoteLiteral } from "../../storage/sql-text.ts";
import { instanceText, rollbackOrigin, sameInstance } from "../../warehouse/identity.ts";
import type { PostgresConnection } from "./connect.ts";

const comment = z.object({
  tool: z.literal("content-warehouse"),
  run: z.string(),
  sequence: z.number().int(),
  instance: z.object({ id: z.string().nullable(), origin: z.string() }),
  /** Of the run's manifest. */
  sha256: z.string(),
  /** Where somebody rolled back to it: the latest run that was there. */
  rollbackOf: z
    .object({ run: z.string(), sequence: z.number().int(), sha256: z.string().optional() })
    .optional(),
});

/** `last`: the run that it takes the place of; null: there is none. */
export function commentText(schema: string, delivered: DeliveredRun, last: TargetRun | null): string {
  const { run, sequence, instance, sha256 } = delivered;
  const tool = "content-warehouse";
  const rollbackOf = rollbackOrigin(last, delivered);
  const said = { tool, run, sequence, instance, sha256, rollbackOf } satisfies z.infer<typeof comment>;
  return `COMMENT ON SCHEMA ${quoteIdentifier(schema)} IS ${quoteLiteral(JSON.stringify(said))}`;
}

/**
 * The run that a schema has; null: there is no such schema. Throws `target.refused` for one that no delivery has made,
 * and for one of another instance.
 */
export async function readSchemaRun(
  { ask }: PostgresConnection,
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
  const { run, sequence, sha256, rollbackOf, instance: owner } = said.data;
  if (instance !== null && !sameInstance(owner, instance)) {
    throw new WarehouseError(
      "target.refused",
      `The schema ${schema} has the content of ${instanceText(owner)}; name another in \`schema\`, so that the two do not mix.`,
    );
  }
  return { run, sequence, sha256, ...(rollbackOf && { rollbackOf }) };
}
