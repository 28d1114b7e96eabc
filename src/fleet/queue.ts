/**
 * The queue of a fleet: jobs of pg-boss in PostgreSQL, each a run of one instance. An instance has one open job at most,
 * and a worker that is not heard of for `heartbeatSeconds` loses its job to another.
 */
import type { PgBoss } from "pg-boss";
import { importPeers } from "../common/import-module.ts";
import { printable } from "../common/printable.ts";
import { invalid } from "../config/faults.ts";
import { databaseError, LIMITS, PG_BOSS, WHO } from "./database.ts";
import { type Fleet, type FleetInstance, queueAddress } from "./fleet.ts";

/** All of it lies in one schema of the database. */
export const SCHEMA = "content_warehouse_fleet";
const RUNS = "runs";
const DEAD_LETTERS = "dead-letters";

/** The longest that pg-boss gives a job; a run ends long before, at its `deadlineMinutes`. */
const MAX_JOB_SECONDS = 24 * 3600;
/** What became of a run stands in a table of its own, so its job need not stay. */
const KEPT_SECONDS = 24 * 3600;

export interface Queue extends AsyncDisposable {
  readonly boss: PgBoss;
  readonly fleet: Fleet;
}

export interface QueueOptions {
  /** Whether this process looks after the queue: heartbeats that were missed, and, if it is to stay, schedules. */
  readonly role: "caller" | "worker" | "lasting worker";
  /** Told what went wrong in the background, and is tried again. */
  readonly onProblem: (message: string) => void;
}

/**
 * Opens the queue, and makes it where there is none. Errors: `config.invalid` where pg-boss is not installed, the fleet
 * names no database or a schedule is none, or the database refuses; `queue.unavailable` where it cannot be reached.
 */
export async function openQueue(fleet: Fleet, { role, onProblem }: QueueOptions): Promise<Queue> {
  const address = queueAddress(fleet);
  const { PgBoss } = await importPeers(WHO, [PG_BOSS], () => import("pg-boss"));
  const everySeconds = Math.ceil(fleet.heartbeatSeconds / 4);
  const boss = new PgBoss({
    ...LIMITS,
    connectionString: address,
    schema: SCHEMA,
    supervise: role !== "caller",
    schedule: role === "lasting worker",
    registerInstance: role !== "caller",
    superviseIntervalSeconds: everySeconds,
    monitorIntervalSeconds: everySeconds,
  });
  boss.on("error", (error) => onProblem(error.message));
  try {
    assertSchedules(boss, fleet.instances);
    await boss.start();
    await makeQueues(boss, fleet);
    if (role === "lasting worker") await setSchedules(boss, fleet.instances);
  } catch (thrown) {
    await boss.stop({ graceful: false }).catch(() => undefined);
    throw databaseError(address, thrown);
  }
  return { boss, fleet, [Symbol.asyncDispose]: () => boss.stop({ graceful: false }) };
}

async function makeQueues(
  boss: PgBoss,
  { retries, retryDelaySeconds, heartbeatSeconds }: Fleet,
): Promise<void> {
  const options = {
    deadLetter: DEAD_LETTERS,
    retryLimit: retries,
    retryDelay: retryDelaySeconds,
    retryBackoff: true,
    heartbeatSeconds,
    expireInSeconds: MAX_JOB_SECONDS,
    deleteAfterSeconds: KEPT_SECONDS,
  };
  await boss.createQueue(DEAD_LETTERS);
  await boss.createQueue(RUNS, { policy: "exclusive", ...options });
  await boss.updateQueue(RUNS, options);
}

/** Throws a ConfigError with the first schedule that pg-boss does not read. */
function assertSchedules(boss: PgBoss, instances: readonly FleetInstance[]): void {
  for (const { schedule, place } of instances) {
    if (schedule === null) continue;
    try {
      boss.previewSchedule(schedule, { count: 1 });
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      throw invalid(
        `${place}.schedule: expected fields of cron, found "${printable(schedule)}" (${printable(why)}).`,
      );
    }
  }
}

/** Those of the file, and no other. An occurrence that came while no worker was there is made up for once. */
async function setSchedules(boss: PgBoss, instances: readonly FleetInstance[]): Promise<void> {
  const scheduled = instances.filter(({ schedule }) => schedule !== null);
  for (const instance of scheduled) {
    const options = { key: instance.name, missed: "once", ...identityOf(instance) } as const;
    await boss.schedule(RUNS, instance.schedule ?? "", { instance: instance.name }, options);
  }
  const names = new Set(scheduled.map(({ name }) => name));
  const before = await boss.getSchedules(RUNS, undefined, { limit: 100_000 });
  for (const { key } of before) if (!names.has(key)) await boss.unschedule(RUNS, key);
}

function identityOf({ name, host }: FleetInstance) {
  return { singletonKey: name, group: { id: host } };
}

/** Names of the instances that got a job: those that had an open one did not. */
export async function enqueue(
  { boss }: Queue,
  instances: readonly FleetInstance[],
): Promise<readonly string[]> {
  const queued: string[] = [];
  for (const instance of instances) {
    const id = await boss.send(RUNS, { instance: instance.name }, identityOf(instance));
    if (id !== null) queued.push(instance.name);
  }
  return queued;
}

/** A job that this process has. Whatever it does with it has no effect once another one has it. */
export interface Attempt {
  readonly id: string;
  readonly retryCount: number;
  readonly instance: string;
  readonly host: string;
}

interface JobData {
  readonly instance: string;
}

/** The next job that may begin; null: there is none. Its dead letters go: it is what comes after them. */
export async function take(queue: Queue): Promise<Attempt | null> {
  const { boss, fleet } = queue;
  const { hostConcurrency: groupConcurrency } = fleet;
  const next = async (options: FetchOptions) => (await boss.fetch<JobData>(RUNS, options))[0];
  // Two processes that counted the jobs of a host at once would both take one.
  const job =
    groupConcurrency === null ? await next({}) : await inTurn(queue, (db) => next({ groupConcurrency, db }));
  if (job === undefined) return null;
  const { id, retryCount, data, groupId } = job;
  const letters = await boss.findJobs(DEAD_LETTERS, { key: data.instance });
  const ids = letters.map((letter) => letter.id);
  if (ids.length > 0) await boss.deleteJob(DEAD_LETTERS, ids);
  return { id, retryCount, instance: data.instance, host: groupId ?? "" };
}

type FetchOptions = Parameters<PgBoss["fetch"]>[1];
type Database = NonNullable<NonNullable<FetchOptions>["db"]>;

/** In a transaction, one process of the fleet at a time. */
export function inTurn<Result>(queue: Queue, work: (db: Database) => Promise<Result>): Promise<Result> {
  return inTransaction(queue, async (db) => {
    await db.executeSql("SELECT pg_advisory_xact_lock(hashtext($1))", [SCHEMA]);
    return await work(db);
  });
}

async function inTransaction<Result>(
  { boss }: Queue,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const transaction = await boss.getDb().beginTransaction?.();
  if (transaction === undefined) throw new TypeError("pg-boss's own pool has transactions");
  try {
    const result = await work(transaction.db);
    await transaction.commit();
    return result;
  } catch (thrown) {
    await transaction.rollback();
    throw thrown;
  }
}

/** Says that the job is worked on; false: another process has it, or will. */
export async function touch({ boss }: Queue, { id, retryCount }: Attempt): Promise<boolean> {
  return hadEffect(await boss.touch(RUNS, { id, retryCount }));
}

/** Whether a command found the job still with this process. */
function hadEffect(response: object): boolean {
  return "affected" in response && response.affected === 1;
}

export async function complete({ boss }: Queue, { id, retryCount }: Attempt): Promise<void> {
  await boss.complete(RUNS, { id, retryCount });
}

/** It is tried again later, and later each time; true: that was the last time, and it is a dead letter. */
export async function failForNow({ boss }: Queue, { id, retryCount }: Attempt): Promise<boolean> {
  await boss.fail(RUNS, { id, retryCount });
  const [job] = await boss.findJobs(RUNS, { id });
  return job?.state === "failed";
}

/** It is not tried again: it is a dead letter. pg-boss itself makes those of the last attempt alone. */
export function failForGood(queue: Queue, attempt: Attempt): Promise<void> {
  const { instance, host } = attempt;
  const place = { singletonKey: instance, group: { id: host } };
  return giveUp(queue, attempt, (db) => queue.boss.send(DEAD_LETTERS, { instance }, { ...place, db }));
}

/** Gives a job back that this process does not go on with: another may take it at once. */
export function giveBack(queue: Queue, attempt: Attempt): Promise<void> {
  return giveUp(queue, attempt, (db) => queue.boss.resume(RUNS, attempt.id, { db }));
}

/** Ends a job, and does what follows in the same step, if it is still with this process. */
async function giveUp(
  queue: Queue,
  { id, retryCount }: Attempt,
  follow: (db: Database) => Promise<unknown>,
): Promise<void> {
  await inTransaction(queue, async (db) => {
    if (hadEffect(await queue.boss.cancel(RUNS, { id, retryCount }, { db }))) await follow(db);
  });
}

/** Makes jobs of dead letters again, of one instance or of all; gives their number. */
export async function retryDeadLetters({ boss }: Queue, instance: string | undefined): Promise<number> {
  const data = instance === undefined ? {} : { data: { instance } };
  return boss.redrive(DEAD_LETTERS, { destination: RUNS, limit: 100_000, ...data });
}

/** What an instance has in the queue. Instants are milliseconds since 1970. */
export interface JobState {
  readonly state: "waiting" | "running" | "dead letter";
  readonly fromMs: number;
}

/** By instance; one that is not in it has neither a job nor a dead letter. */
export async function jobStates({ boss }: Queue): Promise<ReadonlyMap<string, JobState>> {
  const limit = 100_000;
  const [jobs, letters] = await Promise.all([
    boss.findJobs<JobData>(RUNS, { limit }),
    boss.findJobs<JobData>(DEAD_LETTERS, { limit }),
  ]);
  const states = new Map<string, JobState>();
  for (const { data, createdOn } of letters)
    states.set(data.instance, { state: "dead letter", fromMs: createdOn.getTime() });
  for (const { data, state, startAfter, startedOn } of jobs) {
    if (state === "active") states.set(data.instance, { state: "running", fromMs: startedOn.getTime() });
    if (state === "created" || state === "retry")
      states.set(data.instance, { state: "waiting", fromMs: startAfter.getTime() });
  }
  return states;
}

/** Whether any job is open, whoever has it. */
export async function hasOpenJobs(queue: Queue): Promise<boolean> {
  const states = await jobStates(queue);
  return [...states.values()].some(({ state }) => state !== "dead letter");
}
