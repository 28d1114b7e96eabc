import type { DuckDBConnection } from "@duckdb/node-api";

/**
 * Works on things beside each other, one at a time on each connection; answers in the order of the things. Nothing is
 * begun after a failure, and the first one is thrown when all that was begun has ended.
 */
export async function inLanes<Thing, Result>(
  connections: readonly DuckDBConnection[],
  things: readonly Thing[],
  work: (connection: DuckDBConnection, thing: Thing) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  const rest = things.entries();
  const lane = async (connection: DuckDBConnection): Promise<void> => {
    for (const [place, thing] of rest) {
      try {
        results[place] = await work(connection, thing);
      } catch (thrown) {
        failures.push(thrown);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(connections.map(lane));
  if (failures.length > 0) throw failures[0];
  return results;
}
