/** What became of the last run of each instance: a table beside the queue. */
import { inTransaction, type Queue, SCHEMA } from "./queue.ts";

export interface LastRun {
  /** The last one that was published; null: none was. */
  readonly published: { readonly run: string; readonly verdict: string; readonly endedMs: number } | null;
  /** Runs that failed since then, one after another. */
  readonly failures: number;
  /** Of the last one that ended, whatever came of it; null: the process ended without one. */
  readonly exitCode: number | null;
  /** Why it failed; null: it did not. */
  readonly message: string | null;
}

const TABLE = `${SCHEMA}.last_runs`;

export async function makeLastRuns(queue: Queue): Promise<void> {
  await inTransaction(queue, async (db) => {
    await db.executeSql("SELECT pg_advisory_xact_lock(hashtext($1))", [SCHEMA]);
    await db.executeSql(`CREATE TABLE IF NOT EXISTS ${TABLE} (
      instance text PRIMARY KEY,
      run text,
      verdict text,
      ended_at timestamptz,
      failures integer NOT NULL,
      exit_code integer,
      message text
    )`);
  });
}

export async function recordPublished(
  { boss }: Queue,
  instance: string,
  { run, verdict, exitCode }: { readonly run: string; readonly verdict: string; readonly exitCode: number },
): Promise<void> {
  await boss.getDb().executeSql(
    `INSERT INTO ${TABLE} VALUES ($1, $2, $3, now(), 0, $4, NULL)
     ON CONFLICT (instance) DO UPDATE
     SET (run, verdict, ended_at, failures, exit_code, message) = ($2, $3, now(), 0, $4, NULL)`,
    [instance, run, verdict, exitCode],
  );
}

export async function recordFailure(
  { boss }: Queue,
  instance: string,
  { exitCode, message }: { readonly exitCode: number | null; readonly message: string },
): Promise<void> {
  await boss.getDb().executeSql(
    `INSERT INTO ${TABLE} VALUES ($1, NULL, NULL, NULL, 1, $2, $3)
     ON CONFLICT (instance) DO UPDATE
     SET (failures, exit_code, message) = (last_runs.failures + 1, $2, $3)`,
    [instance, exitCode, message],
  );
}

interface Row {
  readonly instance: string;
  readonly run: string | null;
  readonly verdict: string | null;
  readonly ended_at: Date | null;
  readonly failures: number;
  readonly exit_code: number | null;
  readonly message: string | null;
}

/** By instance. */
export async function lastRuns({ boss }: Queue): Promise<ReadonlyMap<string, LastRun>> {
  const { rows }: { rows: Row[] } = await boss.getDb().executeSql(`SELECT * FROM ${TABLE}`);
  return new Map(rows.map((row) => [row.instance, lastRunOf(row)]));
}

function lastRunOf({ run, verdict, ended_at, failures, exit_code, message }: Row): LastRun {
  const published =
    run === null || verdict === null || ended_at === null
      ? null
      : { run, verdict, endedMs: ended_at.getTime() };
  return { published, failures, exitCode: exit_code, message };
}
