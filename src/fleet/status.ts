/** How each instance of a fleet stands: what became of its last run is in a table beside the queue. */
import { type Answer, col, FACT_COLUMNS, type RowOf, section } from "../common/answer.ts";
import { count, counted } from "../common/figures.ts";
import { printableLine } from "../common/printable.ts";
import { gaugesOf } from "../observe/prometheus-text.ts";
import { parseRunName } from "../warehouse/layout.ts";
import type { FleetInstance } from "./fleet.ts";
import { type Outcome, serviceAfter } from "./outcome.ts";
import { inTurn, type JobState, jobStates, type Queue, SCHEMA } from "./queue.ts";

const INSTANCES = {
  instance: col.name({ required: true }),
  /** The last run that was published. */
  run: col.name({ head: "last run" }),
  verdict: col.text(),
  ended: col.instant(),
  /** How long ago a run should have begun of which none was published; null: none is late, or there is no schedule. */
  late: col.milliseconds(),
  /** Runs that failed since one last ended well, those included that were published and not delivered. */
  failures: col.count({ required: true }),
  /** Null: it has neither a job nor a dead letter. */
  job: col.text({ of: ["waiting", "running", "dead letter"] }),
  /** Of a waiting job: from when on a worker may take it, which may be later than now. */
  job_since: col.instant({ head: "from" }),
  /** Of the last run that ended, whatever came of it; null: the process ended without one. */
  exit_code: col.count({ hidden: true }),
  /** Why it failed; null: it did not. */
  message: col.text({ hidden: true }),
} as const;
export type InstanceStatus = RowOf<typeof INSTANCES>;

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
    await db.executeSql(`ALTER TABLE ${TABLE} ADD COLUMN IF NOT EXISTS out_since timestamptz`);
    const add = `INSERT INTO ${TABLE} (instance) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`;
    await db.executeSql(add, [names]);
  });
}

/** Since when runs found that the service of an instance answers nobody; null: the last that could tell found it there. */
export async function outSince({ boss }: Queue, instance: string): Promise<Date | null> {
  const { rows } = await boss
    .getDb()
    .executeSql(`SELECT out_since FROM ${TABLE} WHERE instance = $1`, [instance]);
  return rows[0]?.out_since ?? null;
}

export async function recordOutcome({ boss }: Queue, instance: string, outcome: Outcome): Promise<void> {
  const isDone = outcome.after === "done";
  const published = isDone ? outcome : outcome.published;
  const run = [published?.run ?? null, published?.verdict ?? null];
  await boss.getDb().executeSql(
    `INSERT INTO ${TABLE} (instance, run, verdict, ended_at, failures, exit_code, message, out_since)
     VALUES ($1, $2, $3, CASE WHEN $2::text IS NOT NULL THEN now() END, $4, $5, $6, CASE WHEN $7 = 'out' THEN now() END)
     ON CONFLICT (instance) DO UPDATE SET
       run = coalesce(excluded.run, last_runs.run),
       verdict = coalesce(excluded.verdict, last_runs.verdict),
       ended_at = coalesce(excluded.ended_at, last_runs.ended_at),
       failures = CASE excluded.failures WHEN 0 THEN 0 ELSE last_runs.failures + 1 END,
       exit_code = excluded.exit_code,
       message = excluded.message,
       out_since = CASE $7 WHEN 'out' THEN coalesce(last_runs.out_since, now()) WHEN 'not asked' THEN last_runs.out_since END`,
    [
      instance,
      ...run,
      isDone ? 0 : 1,
      outcome.exitCode,
      isDone ? null : outcome.message,
      serviceAfter(outcome),
    ],
  );
}

const LAST_RUNS = `SELECT instance, known_from, run, verdict, ended_at AS ended, failures, exit_code, message FROM ${TABLE}`;

type Row = Pick<
  InstanceStatus,
  "instance" | "run" | "verdict" | "ended" | "failures" | "exit_code" | "message"
> & {
  /** When a command first read its name. */
  readonly known_from: Date;
};

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
    const { known_from, ...last } = row;
    const from = parseRunName(last.run ?? "")?.startedAt ?? known_from;
    const job = jobs.get(each.name);
    return {
      ...last,
      late: lateness(queue, each, from, nowMs),
      job: job?.state ?? null,
      job_since: job === undefined ? null : new Date(job.fromMs),
    };
  });
}

/** Against the first time that its schedule names after the last published run began, or after it was first known. */
function lateness({ boss }: Queue, { schedule }: FleetInstance, from: Date, nowMs: number): number | null {
  if (schedule === null) return null;
  const [due] = boss.previewSchedule(schedule, { from, count: 1 });
  return due === undefined || due.getTime() >= nowMs ? null : nowMs - due.getTime();
}

/** How many instances are so; `oldestSeconds`: how long the job waits that waits longest, 0 where none does. */
export interface FleetFigures {
  readonly waiting: number;
  readonly running: number;
  readonly dead: number;
  readonly late: number;
  readonly oldestSeconds: number;
}

export function fleetFigures(instances: readonly InstanceStatus[], nowMs: number): FleetFigures {
  const having = (state: InstanceStatus["job"]) => instances.filter(({ job }) => job === state);
  const waited = having("waiting").map(({ job_since: from }) => nowMs - (from?.getTime() ?? nowMs));
  return {
    waiting: having("waiting").length,
    running: having("running").length,
    dead: having("dead letter").length,
    late: instances.filter(({ late }) => late !== null).length,
    oldestSeconds: Math.max(0, ...waited) / 1000,
  };
}

export function isFleetWell({ late, dead }: FleetFigures): boolean {
  return late + dead === 0;
}

/** Keys of the parts of the answer. */
export const FLEET_STATUS = ["instances", "failed"] as const;

/** What `fleet status` answers: the instances, and why runs of them failed. */
export function fleetAnswer(instances: readonly InstanceStatus[], nowMs: number): Answer {
  const figures = fleetFigures(instances, nowMs);
  const { late, dead } = figures;
  const isWell = isFleetWell(figures);
  const failed = instances.flatMap(({ instance, message }) =>
    message === null ? [] : [{ name: instance, text: printableLine(message), notable: true }],
  );
  const all = instances.length;
  return {
    lead: isWell
      ? `Well: of ${counted(all, "instance")} none is late, and none has a dead letter.`
      : `Look: of ${counted(all, "instance")} ${count(late)} late, ${count(dead)} with a dead letter.`,
    isWell,
    facts: { ...figures },
    sections: [
      section({ key: "instances", title: "Instances", columns: INSTANCES, rows: instances, limit: 1000 }),
      section({
        key: "failed",
        title: "Failures",
        none: "",
        columns: FACT_COLUMNS,
        rows: failed,
        isLines: true,
      }),
    ],
  };
}

/** The figures of the queue in Prometheus' text format. */
export function fleetMetrics(
  { waiting, running, dead, late, oldestSeconds }: FleetFigures,
  nowMs: number,
): string {
  const gauge = gaugesOf({});
  return [
    gauge("fleet_timestamp_seconds", "When the queue was looked at.", nowMs / 1000),
    gauge("fleet_jobs", "Instances whose job is so.", [
      [{ state: "waiting" }, waiting],
      [{ state: "running" }, running],
      [{ state: "dead letter" }, dead],
    ]),
    gauge("fleet_late", "Instances of which a run that is due was not published.", late),
    gauge("fleet_oldest_seconds", "How long the job waits that waits longest; 0: none does.", oldestSeconds),
  ].join("");
}
