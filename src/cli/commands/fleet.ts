import { extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../common/clock.ts";
import { count, counted, duration, minuteOf } from "../../common/figures.ts";
import type { LogFormat } from "../../common/log.ts";
import { type Fleet, findInstance, readFleet } from "../../fleet/fleet.ts";
import { enqueue, openQueue, type Queue, type QueueOptions, retryDeadLetters } from "../../fleet/queue.ts";
import {
  FLEET_STATUS,
  fleetAnswer,
  fleetFigures,
  fleetMetrics,
  fleetStatus,
  isFleetWell,
  makeLastRuns,
} from "../../fleet/status.ts";
import { type JobReport, work } from "../../fleet/work.ts";
import { replaceMetrics } from "../../observe/prometheus-text.ts";
import { jsonLine, printableLine, writeAnswer, writeOutcome } from "../../show/terminal.ts";
import { type AnswerFlags, showAnswer } from "../answer-form.ts";
import {
  CliCommand,
  type CliEnvironment,
  logTo,
  positive,
  processEnvironment,
  StopSignals,
} from "../command.ts";
import { notWritten } from "../named-file.ts";

/** In the sources and in the built package alike. */
const ENTRY = fileURLToPath(new URL(`../main${extname(import.meta.url)}`, import.meta.url));

interface Options {
  readonly fleet: string;
  readonly instance?: string;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse fleet enqueue
  $ content-warehouse fleet work --concurrency 4 --until-empty
  $ content-warehouse fleet status
  $ content-warehouse fleet retry north

The queue is in PostgreSQL, at the address that \`postgres\` of the fleet file names; the password comes from PGPASSWORD or
a PGPASSFILE. docs/fleet.md has the form of the file, and how to do without a queue.
`;

export function fleetCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("fleet")
    .description("run many instances from a queue: enqueue, work, status, retry")
    .addHelpText("after", EXAMPLES)
    .addCommand(enqueueCommand(environment))
    .addCommand(workCommand(environment))
    .addCommand(statusCommand(environment))
    .addCommand(retryCommand(environment));
}

function subcommand(name: string, description: string, example: string): CliCommand {
  return new CliCommand(name)
    .description(description)
    .fleet()
    .addHelpText("after", `\nExample:\n  $ content-warehouse fleet ${example}\n`);
}

function enqueueCommand(environment: CliEnvironment): CliCommand {
  return subcommand(
    "enqueue",
    "give each instance a job, unless it has an open one",
    "enqueue --instance north",
  )
    .option("--instance <name>", "only this instance")
    .action(async ({ fleet: file, instance: name }: Options) => {
      const fleet = await readFleet(environment.cwd, file);
      const instances = name === undefined ? fleet.instances : [findInstance(fleet, name)];
      await using queue = await opened(fleet, "caller", environment);
      const queued = await enqueue(queue, instances);
      const before = instances.length - queued.length;
      const had = before === 0 ? "" : `, ${counted(before, "instance")} had an open one`;
      await writeAnswer(environment.out, `${counted(queued.length, "job")} queued${had}\n`);
    });
}

interface WorkFlags extends Options {
  readonly concurrency: number;
  readonly untilEmpty?: true;
  readonly logFormat: LogFormat;
}

function workCommand(environment: CliEnvironment): CliCommand {
  return subcommand("work", "take jobs and run them, until it is told to end", "work --concurrency 4")
    .option("--concurrency <n>", "runs at the same time", positive, 2)
    .option("--until-empty", "end once no job is open; schedules are left to others")
    .option("--json", "print one JSON object for each job that ended")
    .logFormat()
    .action((flags: WorkFlags) => workOn(flags, environment));
}

async function workOn(flags: WorkFlags, environment: CliEnvironment): Promise<void> {
  const { cwd, err, endWith } = environment;
  const { concurrency, untilEmpty = false, json = false } = flags;
  const fleet = await readFleet(cwd, flags.fleet);
  const log = logTo(err, { level: "info", format: flags.logFormat, secrets: [] });
  let failure = 0;
  const onEnd = async (report: JobReport) => {
    if (report.became === "dead letter" && failure === 0) failure = report.outcome?.exitCode ?? 1;
    // An outage is said once, and once when it is over.
    const isKnown = report.outage?.state === "goes on" && report.became === "retry";
    if (isKnown && !json) return;
    const text = json ? jsonLine(report) : `${reportLine(report)}\n`;
    await writeOutcome(environment, { text, done: "The job has ended, but its report" });
  };
  using stop = new StopSignals("the jobs were given back");
  // The first signal ends the jobs in good order, the next one at once.
  const kill = new AbortController();
  const onNext = () => kill.abort();
  stop.signal.addEventListener("abort", () => process.once("SIGINT", onNext).once("SIGTERM", onNext));
  using _next = { [Symbol.dispose]: () => process.off("SIGINT", onNext).off("SIGTERM", onNext) };
  await using queue = await opened(fleet, untilEmpty ? "worker" : "lasting worker", environment);
  const settings = { entry: ENTRY, concurrency, untilEmpty, clock: systemClock, log, onEnd };
  await work(queue, { ...settings, signal: stop.signal, killSignal: kill.signal });
  if (stop.signal.aborted) endWith(stop.exitCode);
  else if (failure !== 0) endWith(failure);
}

function reportLine({ instance, attempt, seconds, outcome, outage, became }: JobReport): string {
  const tries = attempt === 1 ? "" : `, attempt ${attempt}`;
  const took = `${duration(seconds)}${tries}`;
  if (outcome === null) return `${instance}: ${became} after ${took}`;
  const since = outage && `${minuteOf(outage.since)} UTC`;
  const over =
    outage?.state === "over" ? `${instance}: its service answers again; it was out since ${since}\n` : "";
  if (outcome.after !== "done") {
    const so = became === "retry" ? "is tried again later" : "is not tried again";
    const message = printableLine(outcome.message);
    if (outage !== null && over === "")
      return `${instance}: its service answers nobody since ${since}, ${so}: ${message}`;
    return `${over}${instance}: failed (${outcome.exitCode ?? "no exit code"}) after ${took}, ${so}: ${message}`;
  }
  const items = outcome.items === null ? "" : `, ${count(outcome.items)} items`;
  return `${over}${instance}: ${outcome.verdict}${items}, ${outcome.run}, ${took}`;
}

const STATUS_HELP = `
Exit code 0: no instance is late and none has a dead letter. 10: one is or has.
`;

interface StatusOptions extends Options, AnswerFlags {
  readonly metrics?: string;
}

function statusCommand(environment: CliEnvironment): CliCommand {
  return subcommand(
    "status",
    "show the last run, the delay, the failures and the job of each instance",
    "status --metrics /var/lib/node_exporter/fleet.prom",
  )
    .option("--metrics <file>", "write the figures of the queue for Prometheus' textfile collector")
    .answerForm(FLEET_STATUS)
    .addHelpText("after", STATUS_HELP)
    .action(async ({ fleet: file, metrics, ...form }: StatusOptions) => {
      const { cwd, out, endWith } = environment;
      const fleet = await readFleet(cwd, file);
      await using queue = await opened(fleet, "caller", environment);
      const nowMs = systemClock.now();
      const instances = await fleetStatus(queue, nowMs);
      const figures = fleetFigures(instances, nowMs);
      await showAnswer(out, fleetAnswer(instances, nowMs), form);
      if (metrics !== undefined) {
        await replaceMetrics(resolve(cwd, metrics), fleetMetrics(figures, nowMs)).catch((cause: unknown) => {
          throw notWritten(metrics, cause);
        });
      }
      if (!isFleetWell(figures)) endWith(10);
    });
}

function retryCommand(environment: CliEnvironment): CliCommand {
  return subcommand("retry", "make jobs of dead letters again", "retry north")
    .argument("[instance]", "only this instance")
    .action(async (name: string | undefined, { fleet: file }: Options) => {
      const fleet = await readFleet(environment.cwd, file);
      if (name !== undefined) findInstance(fleet, name);
      await using queue = await opened(fleet, "caller", environment);
      const again = await retryDeadLetters(queue, name);
      await writeAnswer(environment.out, `${counted(again, "job")} queued again\n`);
    });
}

async function opened(fleet: Fleet, role: QueueOptions["role"], { err }: CliEnvironment): Promise<Queue> {
  const queue = await openQueue(fleet, {
    role,
    onProblem: (message) => err.write(`the queue: ${printableLine(message)}\n`),
  });
  await makeLastRuns(queue);
  return queue;
}
