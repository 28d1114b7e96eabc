/** How each instance of a fleet stands: what became of its last run is in a table beside the queue. */
import { parseRunName } from "../warehouse/layout.ts";
import type { FleetInstance } from "./fleet.ts";
import type { Outcome } from "./outcome.ts";
import { inTurn, type JobState, jobStates, type Queue, SCHEMA } from "./queue.ts";

interface LastRun {
  /** The last one that was published; null: none was. */
  readonly published: { readonly run: string; readonly verdict: string; readonly endedMs: number } | null;
  /** Runs that failed since then, one after another. */
  readonly failures: number;
  /** Of the last one that ended, whatever came of it; null: the process ended without one. */
  readonly exitCode: number | null;
  /** Why it failed; null: it did not. */
  readonly message: string | null;
}

export interface InstanceStatus extends LastRun {
  readonly instance: string;
  /** How long ago a run should have begun that did not; null: none is late, or there is no schedule. */
  readonly lateSeconds: number | null;
  /** Null: it has neither a job nor a dead letter. */
  readonly job: JobState | null;
}

const TABLE = `${SCHEMA}.last_runs`;

export async function makeLastRuns(queue: Queue): Promise<void> {
  await inTurn(queue, (db) =>
    db.executeSql(`CREATE TABLE IF NOT EXISTS ${TABLE} (
      instance text PRIMARY KEY,
      run text,
      verdict text,
      ended_at timestamptz,
      failures integer NOT NULL,
      exit_code integer,
      message text
    )`),
  );
}

export async function recordOutcome({ boss }: Queue, instance: string, outcome: Outcome): Promise<void> {
  const { exitCode } = outcome;
  if (outcome.after === "done") {
    await boss.getDb().executeSql(
      `INSERT INTO ${TABLE} VALUES ($1, $2, $3, now(), 0, $4, NULL)
       ON CONFLICT (instance) DO UPDATE
       SET (run, verdict, ended_at, failures, exit_code, message) = ($2, $3, now(), 0, $4, NULL)`,
      [instance, outcome.run, outcome.verdict, exitCode],
    );
  } else {
    await boss.getDb().executeSql(
      `INSERT INTO ${TABLE} VALUES ($1, NULL, NULL, NULL, 1, $2, $3)
       ON CONFLICT (instance) DO UPDATE
       SET (failures, exit_code, message) = (last_runs.failures + 1, $2, $3)`,
      [instance, exitCode, outcome.message],
    );
  }
}

const LAST_RUNS = `SELECT instance, failures, exit_code AS "exitCode", message,
  CASE WHEN run IS NOT NULL THEN json_build_object(
    'run', run, 'verdict', verdict, 'endedMs', floor(extract(epoch FROM ended_at) * 1000)::bigint
  ) END AS published
  FROM ${TABLE}`;

const NO_RUN: LastRun = { published: null, failures: 0, exitCode: null, message: null };

/** In the order of the file. `nowMs`: milliseconds since 1970. */
export async function fleetStatus(queue: Queue, nowMs: number): Promise<readonly InstanceStatus[]> {
  const [{ rows }, jobs]: [{ rows: (LastRun & { instance: string })[] }, ReadonlyMap<string, JobState>] =
    await Promise.all([queue.boss.getDb().executeSql(LAST_RUNS), jobStates(queue)]);
  return queue.fleet.instances.map((each) => {
    const instance = each.name;
    const last = rows.find((row) => row.instance === instance) ?? { ...NO_RUN, instance };
    const lateSeconds = lateness(queue, each, last, nowMs);
    return { ...last, lateSeconds, job: jobs.get(instance) ?? null };
  });
}

/** Against the first time that its schedule names after the last published run began. */
function lateness(
  { boss }: Queue,
  { schedule }: FleetInstance,
  { published }: LastRun,
  nowMs: number,
): number | null {
  if (schedule === null || published === null) return null;
  const from = parseRunName(published.run)?.startedAt;
  const [due] = from === undefined ? [] : boss.previewSchedule(schedule, { from, count: 1 });
  return due === undefined || due.getTime() >= nowMs ? null : (nowMs - due.getTime()) / 1000;
}
