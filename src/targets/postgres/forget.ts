/** Ends what a database keeps of the run before, after an erasure. */
import type { Remaining } from "../../pipeline.ts";
import { dropPrevious } from "./commit.ts";
import { connected } from "./connect.ts";
import { lockSchema, type Schemas } from "./schemas.ts";

export async function forget(
  url: string,
  schemas: Schemas,
  signal: AbortSignal,
): Promise<readonly Remaining[]> {
  await connected(url, signal, async (connection) => {
    await connection.ask("BEGIN");
    await lockSchema(connection, schemas);
    await dropPrevious(connection, schemas);
  });
  return [];
}
