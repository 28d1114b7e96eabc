/** A worker: takes jobs from the queue and runs each in a process of its own. */
import { addAbortListener } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../common/clock.ts";
import type { Log } from "../common/log.ts";
import { type FleetInstance, readFleet } from "./fleet.ts";
import { type Outcome, outcomeOf, serviceAfter } from "./outcome.ts";
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
import { outSince, recordOutcome } from "./status.ts";

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
  /** Null: the service is there and was before, or was not asked. */
  readonly outage: Outage | null;
  /** `given back`: this worker ends. `taken over`: another has the job, because this one was not heard of. */
  readonly became: "done" | "retry" | "dead letter" | "given back" | "taken over";
}

/** That the service of an instance answers nobody, as its runs found one after another. */
export interface Outage {
  readonly state: "begins" | "goes on" | "over";
  readonly since: Date;
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
  const since = await orLog(log, outSince(queue, job.instance), null);
  const held = new HeldBack(log);
  const said = since === null ? options : { ...options, log: held.log };
  const ended =
    instance === undefined
      ? unknownInstance(queue)
      : await runOf(queue, job, { instance, outSince: since }, said);
  const became = ended === "taken over" ? ended : await settle(queue, job, ended);
  const outcome = typeof ended === "string" ? null : ended;
  const outage = outcome && outageOf(outcome, since, clock);
  if (outage?.state !== "goes on") held.release();
  const seconds = (clock.elapsedMs() - startedMs) / 1000;
  await onEnd({ instance: job.instance, attempt: job.retryCount + 1, seconds, outcome, outage, became });
}

/** `since`: as runs before found it; null: the service was there. */
function outageOf(outcome: Outcome, since: Date | null, clock: Clock): Outage | null {
  const service = serviceAfter(outcome);
  if (service === "out") {
    return since === null ? { state: "begins", since: new Date(clock.now()) } : { state: "goes on", since };
  }
  return service === "there" && since !== null ? { state: "over", since } : null;
}

/** More than this a run does not say of an outage. */
const HELD_LINES = 20;

/** The log of a run whose service is known to be out: it is written when it turns out to be new. */
class HeldBack {
  readonly log: Log;
  readonly #lines: (() => void)[] = [];
  #isHeld = true;

  constructor(log: Log) {
    const hold = (level: "info" | "warn" | "error"): Log["warn"] => {
      return (message, fields) => {
        this.#lines.push(() => log[level](message, fields));
        if (!this.#isHeld || this.#lines.length > HELD_LINES) this.release();
      };
    };
    this.log = { ...log, info: hold("info"), warn: hold("warn"), error: hold("error") };
  }

  release(): void {
    this.#isHeld = false;
    for (const write of this.#lines.splice(0)) write();
  }
}

/** Somebody took it out of the file after its job was made, or it is another fleet's. */
function unknownInstance({ fleet }: Queue): Outcome {
  const message = `${fleet.file} has no such instance. If another fleet has it, give each a database of its own, and "fleet retry" with that fleet's file.`;
  return { after: "stop", exitCode: 2, code: "config.not_found", message, published: null };
}

async function runOf(
  queue: Queue,
  job: Attempt,
  { instance, outSince }: { readonly instance: FleetInstance; readonly outSince: Date | null },
  options: WorkOptions,
): Promise<Outcome | "given back" | "taken over"> {
  const { entry, log, signal, killSignal } = options;
  const lost = new AbortController();
  using hold = await holdJob(queue, job, options, () => lost.abort());
  if (hold === null) return "taken over";
  const run = startRun({ entry, fleet: queue.fleet, instance, outSince, log });
  using _stop = addAbortListener(signal, () => run.stop("SIGTERM"));
  using _kill = addAbortListener(killSignal, () => run.stop("SIGKILL"));
  using _lost = addAbortListener(lost.signal, () => run.stop("SIGKILL"));
  const end = await run.ended;
  if (lost.signal.aborted) return "taken over";
  const isInterrupted = end.exitCode === null || end.exitCode === 130 || end.exitCode === 143;
  return signal.aborted && isInterrupted ? "given back" : outcomeOf(end, instance);
}

/**
 * Tells the queue that the job is worked on; null: another process has it, since it was taken long ago. Where that does
 * not get through, it is lost a fifth of the time before others may take it: two runs of one instance are never under way
 * at once.
 */
async function holdJob(
  queue: Queue,
  job: Attempt,
  { clock, log }: WorkOptions,
  lose: () => void,
): Promise<Disposable | null> {
  const fifthMs = queue.fleet.heartbeatSeconds * 200;
  let heardMs = clock.elapsedMs();
  if (!(await touch(queue, job))) return null;
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
