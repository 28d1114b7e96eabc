import { availableParallelism } from "node:os";
import { beforeEnd, systemClock } from "../../common/clock.ts";
import { asWarehouseError, WarehouseError } from "../../common/errors.ts";
import { count, counted } from "../../common/figures.ts";
import { configuredSettings } from "../../config/config.ts";
import { type EraseReport, eraseUser } from "../../erase/erase.ts";
import type { Remaining, Target } from "../../pipeline.ts";
import { drawInParts, type TextTable } from "../../show/table.ts";
import { jsonLine, printableText, writeOutcome } from "../../show/terminal.ts";
import { deliveryError, END_MS, publishedBut, targetError } from "../../targets/deliver.ts";
import { freeBytes } from "../../warehouse/disk.ts";
import type { OutputFolder } from "../../warehouse/layout.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { CliCommand, existingFolder, processEnvironment, StopSignals } from "../command.ts";
import { delivered, type TargetOptions, targetsOfFolder } from "../targets.ts";
import { inTemporaryFolder } from "../temporary-folder.ts";
import { untilDecided } from "../until-decided.ts";

interface Options extends TargetOptions {
  readonly user: string;
  readonly keepVersions?: true;
}

const HELP = `
Names, addresses, pictures and everything else that is personal goes from the tables, the raw documents, the rejects and
the examples of drift of every retained run; the user ID stays, so that rows can be joined as before. Each run that
changes is replaced by one of its own, with a new number; what nobody holds of the user is no failure. Free text, such
as titles, bodies and values of custom fields, is not searched: what it says of the user stays. Let the service forget
the user first, or the next run brings the details again.

Where targets are configured, the new current run is delivered to them, and what they keep of earlier runs is removed, but
for earlier versions of a lake's tables: those of all instances end with "content-warehouse lake vacuum --all-versions".
That is done also where nothing is left to erase here, so the same command goes on with it after a failure.

Examples:
  $ content-warehouse erase --user 5f1e0c2ab4d3e90017c0ffee --warehouse /srv/warehouse
  $ content-warehouse erase --user 5f1e0c2ab4d3e90017c0ffee --keep-versions

Exit code 0: no retained run and no target holds anything of the user any more, but what free text may say, and what
--keep-versions leaves. 2: the ID is that of another thing, such as a campaign. 26: a target may still hold something; the
last line says what, and the command that ends it.
`;

export function eraseCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("erase")
    .description("erase one person's details from all retained runs")
    .requiredOption("--user <id>", "ID of the user (required)")
    .warehouse()
    .option("--keep-versions", "leave earlier versions in targets, and end with 0; the last line says which")
    .option("--json", "print one JSON object instead of the table")
    .addHelpText("after", HELP)
    .action(async (options: Options) => {
      const { user: userId, warehouse, json, keepVersions } = options;
      const folder = existingFolder(warehouse);
      const { targets: configured } = await configuredSettings({ ...environment, flags: options });
      const targets = await targetsOfFolder(folder, configured);
      using stop = new StopSignals("nothing was erased");
      await using _lock = await acquireLock(folder);
      const report = await eraseInFolder(folder, userId, stop.signal);
      const elsewhere = await forgetInTargets(folder, { targets, signal: stop.signal });
      const left = leftText(elsewhere.outcomes);
      const kept = keepVersions === true && elsewhere.failure === undefined ? left : "";
      const said = reportText(userId, report, environment.out.columns) + targetsText(elsewhere.outcomes);
      const text = json === true ? jsonLine({ ...report, targets: elsewhere.outcomes }) : said + kept;
      const done = "No retained run holds anything of the user any more, but what was done";
      await writeOutcome(environment, { text, done });
      if (elsewhere.failure !== undefined || (left !== "" && keepVersions !== true))
        throw stillHolds(report, elsewhere.failure, left);
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

/** `left`: what a target may still hold; null: it was not made to forget. */
interface Forgotten {
  readonly target: string;
  readonly left: readonly Remaining[] | null;
}

interface Elsewhere {
  readonly outcomes: readonly Forgotten[];
  /** The first, of a target that was not made to forget; it keeps no other from that. */
  readonly failure: WarehouseError | undefined;
}

/** Delivers the current run, and has each target that took it forget what it keeps of others. */
async function forgetInTargets(
  folder: OutputFolder,
  { targets, signal }: { readonly targets: readonly Target[]; readonly signal: AbortSignal },
): Promise<Elsewhere> {
  if (targets.length === 0) return { outcomes: [], failure: undefined };
  return await inTemporaryFolder("erase", async (temporaryDirectory) => {
    const { run, deliveries } = await delivered(folder, "current", { targets, temporaryDirectory, signal });
    const outcomes: Forgotten[] = [];
    let failure = deliveryError(run, deliveries, publishedBut());
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
    return { outcomes, failure };
  });
}

function notForgotten({ name }: Target, { reason }: AbortSignal): WarehouseError {
  const { code } = asWarehouseError(reason);
  return new WarehouseError(code, `The target ${name} was interrupted while it forgot earlier runs.`);
}

async function forget(target: Target, signal: AbortSignal): Promise<readonly Remaining[]> {
  signal.throwIfAborted();
  return (await target.forget?.(signal)) ?? [];
}

/** Runs that are pruned may have known whom no retained one knows. */
function stillHolds(
  { named }: EraseReport,
  failure: WarehouseError | undefined,
  left: string,
): WarehouseError {
  const so =
    named === 0
      ? "No retained run knows the user, but targets may have what earlier runs knew"
      : "The user is erased in the warehouse folder, but not in all targets";
  const why = [failure?.message, left.trimEnd()]
    .filter((each) => each !== undefined && each !== "")
    .join(" ");
  const again =
    failure === undefined ? "Then erase again; --keep-versions leaves that." : "Then erase again.";
  return new WarehouseError(failure?.code ?? "target.refused", `${so}: ${why} ${again}`);
}

function targetsText(outcomes: readonly Forgotten[]): string {
  const lines = outcomes.map(({ target, left }) => {
    if (left === null) return `${target}: FAILED, it may still hold the user`;
    const others = left.length === 0 ? "nothing" : left.map(({ what }) => what).join(" and ");
    return `${target}: has the current run, and ${others}${left.length === 0 ? " of earlier ones" : ""}`;
  });
  return printableText(lines.map((line) => `${line}\n`).join(""));
}

/** A line that says what may still hold the user, and the commands that end it; empty: nothing does. */
function leftText(outcomes: readonly Forgotten[]): string {
  const sentences = outcomes.flatMap(({ target, left }) =>
    (left ?? []).map(({ what, command }) => {
      const end = command === null ? "" : `; "content-warehouse ${command}" ends that`;
      return `${target} may still hold the user in ${what}${end}.`;
    }),
  );
  return printableText(sentences.length === 0 ? "" : `${sentences.join(" ")}\n`);
}

function reportText(
  userId: string,
  { searched, named, replaced }: EraseReport,
  width: number | undefined,
): string {
  const runs = counted(searched, "retained run");
  if (replaced.length === 0)
    return printableText(`nothing to erase: ${runs} searched, ${knownText(userId, named)}\n`);
  const table: TextTable = {
    columns: [
      { name: "run", align: "left", whole: true },
      { name: "replaced by", align: "left", whole: true },
      { name: "rows", align: "right" },
      { name: "raw documents", align: "right" },
    ],
    rows: replaced.map((each) => [each.run, each.replacedBy, count(each.rows), count(each.documents)]),
  };
  const current = replaced.find((each) => each.current)?.replacedBy;
  const now = current === undefined ? "" : `; current is now ${current}`;
  return `${drawInParts(table, 1, width)}${printableText(`${runs} searched, ${count(replaced.length)} replaced${now}; free text, such as a title, is not searched\n`)}`;
}

/** `named`: retained runs that know the ID. */
function knownText(userId: string, named: number): string {
  if (named > 0) return `the user is known in ${count(named)}, by ID alone`;
  return `none knows a user with the ID "${userId}"; if you expected one, check the ID in the table users`;
}
