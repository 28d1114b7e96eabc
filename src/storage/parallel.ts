import type { DuckDBConnection } from "@duckdb/node-api";

/** Connections of one database for work beside each other: a statement has one thread. */
export type ConnectionPool = readonly [DuckDBConnection, ...DuckDBConnection[]];

/**
 * Works on things beside each other, one at a time in each lane, which is a connection or what works with one; answers in
 * their order. Nothing is begun after a failure; the first is thrown when all that was begun has ended.
 */
export async function mapParallel<Lane, Entity, Result>(
  lanes: readonly Lane[],
  things: readonly Entity[],
  work: (lane: Lane, thing: Entity) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  const rest = things.entries();
  const keepAt = async (lane: Lane): Promise<void> => {
    for (const [place, thing] of rest) {
      try {
        results[place] = await work(lane, thing);
      } catch (thrown) {
        failures.push(thrown);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(lanes.map(keepAt));
  if (failures.length > 0) throw failures[0];
  return results;
}

/** Does the same in each lane, beside each other. A failure is thrown when all have ended: that of the first such lane. */
export async function runOnEach<Lane>(
  lanes: readonly Lane[],
  work: (lane: Lane) => Promise<void>,
): Promise<void> {
  for (const ended of await Promise.allSettled(lanes.map(work))) {
    if (ended.status === "rejected") throw ended.reason;
  }
}

/** Both results, when both have ended: a failure leaves nobody at work. Where both fail, the first one's is thrown. */
export async function awaitBoth<First, Second>(
  first: Promise<First>,
  second: Promise<Second>,
): Promise<[First, Second]> {
  await Promise.allSettled([first, second]);
  return [await first, await second];
}
