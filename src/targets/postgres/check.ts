/** Whether a run could be delivered to a database. */
import { quoteIdentifier } from "../../storage/sql-text.ts";
import type { Connection } from "./connect.ts";
import { runIn } from "./last.ts";
import type { Schemas } from "./schemas.ts";

/** Makes a schema and takes it back. */
export async function proveWritable(connection: Connection, { current, made }: Schemas): Promise<void> {
  await runIn(connection, current, null);
  await connection.ask("BEGIN");
  await connection.ask(`CREATE SCHEMA ${quoteIdentifier(made)}`);
  await connection.ask("ROLLBACK");
}
