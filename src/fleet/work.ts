/** A worker: takes jobs from the queue and runs each in a process of its own. */
import { addAbortListener } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../common/clock.ts";
import type { Log } from "../common/log.ts";
import { type FleetInstance, readFleet } from "./fleet.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import {
  type Attempt,
  complete,
  failForGood,
  failForNow,
  giveBack,
  hasOpenJobs,
  type Queue,
  take,
  touch,
} from "./queue.ts";
import { startRun } from "./run-process.ts";
import { recordOutcome } from "./status.ts";

export interface WorkOptions {
  /** Path of the command line's entry. */
  readonly entry: string;
  /** Runs at the same time. */
  readonly concurrency: number;
  /** Whether to end once no job is open, be it here or elsewhere. */
  readonly untilEmpty: boolean;
  /** Aborted: no further job is taken, and those under way are told to end. */
  readonly signal: AbortSignal;
  /** Aborted: they are ended at once. */
  readonly killSignal: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
  readonly onEnd: (report: JobReport) => Promise<void>;
}

export interface JobReport {
  readonly instance: string;
  /** From 1. */
  readonly attempt: number;
  readonly seconds: number;
  /** Null: it was ended before it came to one. */
  readonly outcome: Outcome | null;
  /** `given back`: this worker ends. `taken over`: another has the job, because this one was not heard of. */
  readonly became: "done" | "retry" | "dead letter" | "given back" | "taken over";
}

const POLL_MS = 1000;

/** Works until the signal, or until the queue is empty. What goes wrong with the database is logged and tried again. */
export async function work(queue: Queue, options: WorkOptions): Promise<void> {
  const { concurrency, untilEmpty, signal, log } = options;
  const running = new Set<Promise<void>>();
  while (!signal.aborted) {
    const job = running.size < concurrency ? await orLog(log, take(queue), null) : null;
    if (job !== null) {
      const ended = orLog(log, runJob(queue, job, options), undefined).finally(() => running.delete(ended));
      running.add(ended);
    } else if (untilEmpty && running.size === 0 && !(await orLog(log, hasOpenJobs(queue), true))) {
      return;
    } else {
      const pause = delay(POLL_MS, undefined, { signal }).catch(() => undefined);
      await Promise.race([pause, ...running]);
    }
  }
  await Promise.all(running);
}

async function orLog<Result>(log: Log, working: Promise<Result>, otherwise: Result): Promise<Result> {
  try {
    return await working;
  } catch (thrown) {
    log.warn(`the fleet: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return otherwise;
  }
}

async function runJob(queue: Queue, job: Attempt, options: WorkOptions): Promise<void> {
  const { clock, log, onEnd } = options;
  const startedMs = clock.elapsedMs();
  // Instances come and go while a worker stays.
  const { instances } = await orLog(log, readFleet(queue.fleet.folder, queue.fleet.path), queue.fleet);
  const instance = instances.find(({ name }) => name === job.instance);
  const ended = instance === undefined ? unknownInstance(queue) : await runOf(queue, job, instance, options);
  const became = ended === "taken over" ? ended : await settle(queue, job, ended);
  const outcome = typeof ended === "string" ? null : ended;
  const seconds = (clock.elapsedMs() - startedMs) / 1000;
  await onEnd({ instance: job.instance, attempt: job.retryCount + 1, seconds, outcome, became });
}

/** Somebody took it out of the file after its job was made, or it is another fleet's. */
function unknownInstance({ fleet }: Queue): Outcome {
  const message = `${fleet.file} has no such instance. If another fleet has it, give each a database of its own, and "fleet retry" with that fleet's file.`;
  return { after: "stop", exitCode: 2, message, published: null };
}

async function runOf(
  queue: Queue,
  job: Attempt,
  instance: FleetInstance,
  options: WorkOptions,
): Promise<Outcome | "given back" | "taken over"> {
  const { entry, log, signal, killSignal } = options;
  const run = startRun({ entry, fleet: queue.fleet, instance, log });
  using _stop = addAbortListener(signal, () => run.stop("SIGTERM"));
  using _kill = addAbortListener(killSignal, () => run.stop("SIGKILL"));
  let isLost = false;
  using _hold = holdJob(queue, job, options, () => {
    isLost = true;
    run.stop("SIGKILL");
  });
  const end = await run.ended;
  if (isLost) return "taken over";
  const isInterrupted = end.exitCode === null || end.exitCode === 130 || end.exitCode === 143;
  return signal.aborted && isInterrupted ? "given back" : outcomeOf(end, instance);
}

/**
 * Tells the queue that the job is worked on. Where that does not get through, it is lost a fifth of the time before
 * others may take it: two runs of one instance are never under way at once.
 */
function holdJob(queue: Queue, job: Attempt, { clock, log }: WorkOptions, lose: () => void): Disposable {
  const fifthMs = queue.fleet.heartbeatSeconds * 200;
  let heardMs = clock.elapsedMs();
  return setInterval(async () => {
    const askedMs = clock.elapsedMs();
    if (askedMs - heardMs > 3 * fifthMs) lose();
    const isHeld = await orLog(log, touch(queue, job), undefined);
    if (isHeld === true) heardMs = askedMs;
    if (isHeld === false) lose();
  }, fifthMs);
}

async function settle(
  queue: Queue,
  job: Attempt,
  ended: Outcome | "given back",
): Promise<JobReport["became"]> {
  if (ended === "given back") {
    await giveBack(queue, job);
    return ended;
  }
  await recordOutcome(queue, job.instance, ended);
  if (ended.after === "done") {
    await complete(queue, job);
    return "done";
  }
  if (ended.after === "retry" && !(await failForNow(queue, job))) return "retry";
  if (ended.after === "stop") await failForGood(queue, job);
  return "dead letter";
}
