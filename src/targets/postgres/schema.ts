/** Names of the schemas, and the lock that one delivery holds on them. */
import { WarehouseError } from "../../common/errors.ts";
import type { PostgresConnection } from "./connect.ts";

/** Names of the schemas: what readers see, what is being made, and, within a swap, what readers saw. */
export type SchemaNames = ReturnType<typeof schemasOf>;

export function schemasOf(current: string) {
  return { current, made: `${current}_new`, old: `${current}_old` };
}

/** Held until the transaction ends, however it ends. Throws `target.unavailable` where another delivery has it. */
export async function lockSchema({ ask }: PostgresConnection, { current }: SchemaNames): Promise<void> {
  const key = `content-warehouse delivery to ${current}`;
  const taken = await ask("SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken", [key]);
  if (taken.rows[0].taken === true) return;
  throw new WarehouseError(
    "target.unavailable",
    `Another delivery to the schema ${current} is under way; wait until it has ended, and try again.`,
  );
}
