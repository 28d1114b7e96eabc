import { availableParallelism } from "node:os";
import { beforeEnd, systemClock } from "../../common/clock.ts";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { count, counted } from "../../common/figures.ts";
import { configuredTargets } from "../../config/config.ts";
import { type EraseReport, eraseUser } from "../../erase/erase.ts";
import type { Target } from "../../pipeline.ts";
import { drawInParts, right, tableOf, whole } from "../../show/table.ts";
import { jsonLine, printableText, writeOutcome } from "../../show/terminal.ts";
import { deliveryError, END_MS, targetError } from "../../targets/deliver.ts";
import { freeBytes } from "../../warehouse/disk.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { CliCommand, existingFolder, processEnvironment, StopSignals } from "../command.ts";
import { delivered, type TargetOptions, targetsOfFolder } from "../targets.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";
import { untilDecided } from "../until-decided.ts";

interface Options extends TargetOptions {
  readonly user: string;
}

const HELP = `
Names, addresses, pictures and everything else that is personal goes from the tables, the raw documents, the rejects and
the examples of drift of every retained run; the user ID stays, so that rows can be joined as before. Each run that
changes is replaced by one of its own, with a new number; what nobody holds of the user is no failure. Free text, such
as titles, bodies and values of custom fields, is not searched: what it says of the user stays. Let the service forget
the user first, or the next run brings the details again.

Where targets are configured, the new current run is delivered to them, and what they keep of earlier runs is removed.
That is done also where nothing is left to erase here, so the same command goes on with it after a failure.

Example:
  $ content-warehouse erase --user 5f1e0c2ab4d3e90017c0ffee --warehouse /srv/warehouse

Exit code 0: no retained run holds anything of the user any more, but what free text may say. 2: the ID is that of another thing, such as a campaign.
26: a target still holds something; the message says why.
`;

export function eraseCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("erase")
    .description("erase one person's details from all retained runs")
    .requiredOption("--user <id>", "ID of the user (required)")
    .warehouse()
    .config()
    .option("--json", "print one JSON object instead of the table")
    .addHelpText("after", HELP)
    .action(async (options: Options) => {
      const { user: userId, warehouse, json } = options;
      const folder = existingFolder(warehouse);
      const configured = await configuredTargets({ ...environment, flags: options });
      const targets = await targetsOfFolder(folder, configured);
      using stop = new StopSignals("nothing was erased");
      await using _lock = await acquireLock(folder);
      const report = await eraseInFolder(folder, userId, stop.signal);
      const elsewhere = await forgetInTargets(folder, targets, stop.signal);
      const text =
        json === true
          ? jsonLine({ ...report, targets: elsewhere.outcomes })
          : reportText(userId, report, environment.out.columns) + targetsText(elsewhere.outcomes);
      const done = "No retained run holds anything of the user any more, but what was done";
      await writeOutcome(environment, { text, done });
      if (elsewhere.failure !== undefined) throw elsewhere.failure;
    });
}

async function eraseInFolder(
  folder: OutputFolder,
  userId: string,
  signal: AbortSignal,
): Promise<EraseReport> {
  const common = { clock: systemClock, threads: availableParallelism(), freeBytes };
  return untilDecided(signal, (onStep) => eraseUser(folder, { ...common, userId, onStep }));
}

/** `left`: sentences about what a target still holds, and how that ends; null: it was not asked to forget. */
interface Forgotten {
  readonly target: string;
  readonly left: readonly string[] | null;
}

interface Elsewhere {
  readonly outcomes: readonly Forgotten[];
  /** The first, of a target that was not made to forget; it keeps no other from that. */
  readonly failure: WarehouseError | undefined;
}

/** Delivers the current run, and has each target that took it forget what it keeps of others. */
async function forgetInTargets(
  folder: OutputFolder,
  targets: readonly Target[],
  signal: AbortSignal,
): Promise<Elsewhere> {
  if (targets.length === 0) return { outcomes: [], failure: undefined };
  return await inTemporaryFolder("erase", async (temporaryDirectory) => {
    const { run, deliveries } = await delivered(folder, "current", { targets, temporaryDirectory, signal });
    const outcomes: Forgotten[] = [];
    let failure = deliveryError(run, deliveries);
    for (const target of targets) {
      const hasRun = deliveries.some(({ target: name, state }) => name === target.name && state !== "failed");
      const left = hasRun
        ? await beforeEnd(forget(target, signal), signal, END_MS).catch((thrown: unknown) => {
            failure ??= signal.aborted ? notForgotten(target, signal) : targetError(target, thrown);
            return null;
          })
        : null;
      outcomes.push({ target: target.name, left });
    }
    return { outcomes, failure: failure && stillHolds(failure) };
  });
}

function notForgotten({ name }: Target, { reason }: AbortSignal): WarehouseError {
  const { code } = asWarehouseError(reason);
  return new WarehouseError(code, `The target ${name} was interrupted while it forgot earlier runs.`);
}

async function forget(target: Target, signal: AbortSignal): Promise<readonly string[]> {
  signal.throwIfAborted();
  return (await target.forget?.(signal)) ?? [];
}

function stillHolds({ code, message }: WarehouseError): WarehouseError {
  return new WarehouseError(
    code,
    `The user is erased in the warehouse folder, but not in all targets: ${message} Then erase again.`,
  );
}

function targetsText(outcomes: readonly Forgotten[]): string {
  const lines = outcomes.flatMap(({ target, left }) => {
    if (left === null) return [`${target}: FAILED, it may still hold the user`];
    if (left.length === 0) return [`${target}: has the current run, and nothing of earlier ones`];
    return left.map((sentence) => `${target}: ${sentence}`);
  });
  return printableText(lines.map((line) => `${line}\n`).join(""));
}

function reportText(
  userId: string,
  { searched, named, replaced }: EraseReport,
  width: number | undefined,
): string {
  const runs = counted(searched, "retained run");
  if (replaced.length === 0)
    return printableText(`nothing to erase: ${runs} searched, ${knownText(userId, named)}\n`);
  const table = tableOf(replaced, [
    whole("run", ({ run }) => run),
    whole("replaced by", ({ replacedBy }) => replacedBy),
    right("rows", ({ rows }) => count(rows)),
    right("raw documents", ({ documents }) => count(documents)),
  ]);
  const current = replaced.find((each) => each.current)?.replacedBy;
  const now = current === undefined ? "" : `; current is now ${current}`;
  return `${drawInParts(table, 1, width)}${printableText(`${runs} searched, ${count(replaced.length)} replaced${now}\n`)}`;
}

/** `named`: retained runs that know the ID. */
function knownText(userId: string, named: number): string {
  if (named > 0) return `the user is known in ${count(named)}, by ID alone`;
  return `none knows a user with the ID "${userId}"; if you expected one, check the ID in the table users`;
}
