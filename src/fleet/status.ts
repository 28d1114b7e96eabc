/** How each instance of a fleet stands: what became of its last run is in a table beside the queue. */
import { parseRunName } from "../warehouse/layout.ts";
import type { FleetInstance } from "./fleet.ts";
import type { Outcome } from "./outcome.ts";
import { inTurn, type JobState, jobStates, type Queue, SCHEMA } from "./queue.ts";

interface LastRun {
  /** The last one that was published; null: none was. */
  readonly published: { readonly run: string; readonly verdict: string; readonly endedMs: number } | null;
  /** Runs that failed since one last ended well, those included that were published and not delivered. */
  readonly failures: number;
  /** Of the last one that ended, whatever came of it; null: the process ended without one. */
  readonly exitCode: number | null;
  /** Why it failed; null: it did not. */
  readonly message: string | null;
}

export interface InstanceStatus extends LastRun {
  readonly instance: string;
  /** How long ago a run should have begun of which none was published; null: none is late, or there is no schedule. */
  readonly lateSeconds: number | null;
  /** Null: it has neither a job nor a dead letter. */
  readonly job: JobState | null;
}

const TABLE = `${SCHEMA}.last_runs`;

/** Makes the table where there is none, with a row for each instance of the fleet that has none. */
export async function makeLastRuns(queue: Queue): Promise<void> {
  const names = queue.fleet.instances.map(({ name }) => name);
  await inTurn(queue, async (db) => {
    await db.executeSql(`CREATE TABLE IF NOT EXISTS ${TABLE} (
      instance text PRIMARY KEY,
      known_from timestamptz NOT NULL DEFAULT now(),
      run text,
      verdict text,
      ended_at timestamptz,
      failures integer NOT NULL DEFAULT 0,
      exit_code integer,
      message text
    )`);
    const add = `INSERT INTO ${TABLE} (instance) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`;
    await db.executeSql(add, [names]);
  });
}

export async function recordOutcome({ boss }: Queue, instance: string, outcome: Outcome): Promise<void> {
  const isDone = outcome.after === "done";
  const published = isDone ? outcome : outcome.published;
  const run = [published?.run ?? null, published?.verdict ?? null];
  await boss.getDb().executeSql(
    `INSERT INTO ${TABLE} (instance, run, verdict, ended_at, failures, exit_code, message)
     VALUES ($1, $2, $3, CASE WHEN $2::text IS NOT NULL THEN now() END, $4, $5, $6)
     ON CONFLICT (instance) DO UPDATE SET
       run = coalesce(excluded.run, last_runs.run),
       verdict = coalesce(excluded.verdict, last_runs.verdict),
       ended_at = coalesce(excluded.ended_at, last_runs.ended_at),
       failures = CASE excluded.failures WHEN 0 THEN 0 ELSE last_runs.failures + 1 END,
       exit_code = excluded.exit_code,
       message = excluded.message`,
    [instance, ...run, isDone ? 0 : 1, outcome.exitCode, isDone ? null : outcome.message],
  );
}

const LAST_RUNS = `SELECT instance, failures, exit_code AS "exitCode", message,
  floor(extract(epoch FROM known_from) * 1000)::float8 AS "knownFromMs",
  CASE WHEN run IS NOT NULL THEN json_build_object(
    'run', run, 'verdict', verdict, 'endedMs', floor(extract(epoch FROM ended_at) * 1000)::bigint
  ) END AS published
  FROM ${TABLE}`;

interface Row extends LastRun {
  readonly instance: string;
  /** When a command first read its name; milliseconds since 1970. */
  readonly knownFromMs: number;
}

/** In the order of the file. `nowMs`: milliseconds since 1970. */
export async function fleetStatus(queue: Queue, nowMs: number): Promise<readonly InstanceStatus[]> {
  const [{ rows }, jobs]: [{ rows: Row[] }, ReadonlyMap<string, JobState>] = await Promise.all([
    queue.boss.getDb().executeSql(LAST_RUNS),
    jobStates(queue),
  ]);
  const byName = new Map(rows.map((row) => [row.instance, row]));
  return queue.fleet.instances.map((each) => {
    const row = byName.get(each.name);
    if (row === undefined) throw new TypeError("each instance has a row since the queue was opened");
    const { knownFromMs, ...last } = row;
    const from = parseRunName(last.published?.run ?? "")?.startedAt ?? new Date(knownFromMs);
    return { ...last, lateSeconds: lateness(queue, each, from, nowMs), job: jobs.get(each.name) ?? null };
  });
}

/** Against the first time that its schedule names after the last published run began, or after it was first known. */
function lateness({ boss }: Queue, { schedule }: FleetInstance, from: Date, nowMs: number): number | null {
  if (schedule === null) return null;
  const [due] = boss.previewSchedule(schedule, { from, count: 1 });
  return due === undefined || due.getTime() >= nowMs ? null : (nowMs - due.getTime()) / 1000;
}
