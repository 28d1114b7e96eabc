/** Runs work in parallel, and ends only when all work that has begun has ended. */
import type { DuckDBConnection } from "@duckdb/node-api";

/** Connections to one database. A statement uses one thread, so parallel statements need a connection each. */
export type DatabaseConnections = readonly [DuckDBConnection, ...DuckDBConnection[]];

/**
 * Maps items in parallel, and gives the results in the order of the items. Each lane (a connection, for example) works on
 * one item at a time. After a failure no further item is begun, and the first failure is thrown.
 */
export async function mapParallel<Lane, Item, Result>(
  lanes: readonly Lane[],
  items: readonly Item[],
  work: (lane: Lane, item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  const rest = items.entries();
  const workOn = async (lane: Lane): Promise<void> => {
    for (const [index, item] of rest) {
      try {
        results[index] = await work(lane, item);
      } catch (thrown) {
        failures.push(thrown);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(lanes.map(workOn));
  if (failures.length > 0) throw failures[0];
  return results;
}

/** Maps items as {@link mapParallel} does, `limit` at a time. */
export function mapLimited<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  limit = 8,
): Promise<Result[]> {
  return mapParallel(Array(limit).fill(null), items, (_, item) => work(item));
}
