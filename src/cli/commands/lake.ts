import { randomUUID } from "node:crypto";
import { WarehouseError } from "../../common/errors.ts";
import { counted, fileSize, minuteOf } from "../../common/figures.ts";
import { listed } from "../../common/nearest.ts";
import { jsonLine, printableText, writeAnswer, writeOutcome } from "../../show/terminal.ts";
import { isLake, type LakeTarget } from "../../targets/lake/lake.ts";
import { type Removable, removable, removeInstance } from "../../targets/lake/remove.ts";
import { type Damage, LAKE_STATUS, lakeStatus, lakeStatusAnswer } from "../../targets/lake/status.ts";
import { type Vacuumed, vacuumLake } from "../../targets/lake/vacuum.ts";
import { type LakeVerification, verifyLake } from "../../targets/lake/verify.ts";
import { assertWhole } from "../../targets/lake/waiting.ts";
import { type AnswerFlags, showAnswer } from "../answer-form.ts";
import { CliCommand, type CliEnvironment, invalid, processEnvironment, StopSignals } from "../command.ts";
import { confirm } from "../confirm.ts";
import { chosenTarget, type TargetOptions } from "../targets.ts";
import { foundText } from "./verify.ts";

const EXAMPLES = `
Examples:
  $ content-warehouse lake status
  $ content-warehouse lake verify
  $ content-warehouse lake vacuum --all-versions
  $ content-warehouse lake remove north
`;

export function lakeCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("lake")
    .description("show, verify and clean up the lake, or take an instance out")
    .addHelpText("after", EXAMPLES)
    .addCommand(statusCommand(environment), { isDefault: true })
    .addCommand(verifyCommand(environment))
    .addCommand(vacuumCommand(environment))
    .addCommand(removeCommand(environment));
}

const JSON_OPTION = ["--json", "print one JSON object instead of the text"] as const;

function subcommand(name: string, description: string, help: string): CliCommand {
  return new CliCommand(name)
    .description(description)
    .option("--target <name>", "name of the lake, where there are several")
    .config()
    .addHelpText("after", help);
}

const STATUS_HELP = `
Example:
  $ content-warehouse lake status --json

Exit code 0: everything can be read. 26: a table or an instance is damaged, or a table waits or does not have the last
run of an instance; it is named, and all others are listed.
`;

function statusCommand(environment: CliEnvironment): CliCommand {
  return subcommand("status", "list the tables of the lake and the last run of each instance", STATUS_HELP)
    .answerForm(LAKE_STATUS)
    .action(async (options: TargetOptions & AnswerFlags) => {
      const lake = await chosenLake(environment, options);
      using stop = new StopSignals("nothing was changed");
      const status = await lake.open(stop.signal, ({ store }) => lakeStatus(store));
      const { out } = environment;
      await showAnswer(out, lakeStatusAnswer(status), options);
      assertUndamaged(status.damaged);
      assertWhole(status.waiting);
    });
}

function assertUndamaged([first, ...others]: readonly Damage[]): void {
  if (first === undefined) return;
  const more = others.length === 0 ? "" : ` The list has ${counted(others.length, "more finding")}.`;
  throw new WarehouseError("target.refused", `${first.problem}${more}`);
}

const VERIFY_HELP = `
Examples:
  $ content-warehouse lake verify
  $ content-warehouse lake verify 42

RUN is the name or the number of a run of the instance; the last one otherwise. Everything is read back: the versions
that run_snapshots names, each file, and the copy of the published run. Exit code 0: all is as it was delivered. 26: it
is, but to tables that wait. 31: it is not.
`;

function verifyCommand(environment: CliEnvironment): CliCommand {
  return subcommand("verify", "read a run back from the lake and compare it with its manifest", VERIFY_HELP)
    .option(...JSON_OPTION)
    .argument("[run]", "name or number of a run")
    .action(async (run: string | undefined, options: TargetOptions) => {
      const lake = await chosenLake(environment, options);
      using stop = new StopSignals("nothing was changed");
      const found = await lake.open(stop.signal, (place) => verifyLake(place, run));
      const ok = found.findings.length === 0;
      const answer =
        options.json === true
          ? { ok, ...found }
          : foundText(`${found.run} of ${found.instance}`, found, { whole: wholeText(found) }) +
            waitsText(found.waits);
      await writeAnswer(environment.out, answer);
      if (ok) return assertNoneWaits(found.waits);
      throw new WarehouseError(
        "verify.failed",
        `${counted(found.findings.length, "finding")}: a new run replaces damaged files; of a damaged log, the finding says what helps.`,
      );
    });
}

const VACUUM_HELP = `
Examples:
  $ content-warehouse lake vacuum
  $ content-warehouse lake vacuum --all-versions

Earlier versions stay readable for as long as the lake's logRetentionDays says, 30 days by default, or for as long as another
program set delta.logRetentionDuration or delta.deletedFileRetentionDuration of a table, whichever is longer. With --all-versions
only the newest can be read afterwards, and the logs say nothing of others, so that nothing of an erased person stays. All
instances of the lake are cleaned up; runs may be delivered meanwhile.

Exit code 0: all was looked at. 26: a table or an instance is damaged; it is named, nothing of it was removed, and all
others are cleaned up.
`;

function vacuumCommand(environment: CliEnvironment): CliCommand {
  return subcommand("vacuum", "remove files that no version in the retention names", VACUUM_HELP)
    .option("--all-versions", "keep the newest version alone")
    .option(...JSON_OPTION)
    .action(async (options: TargetOptions & { readonly allVersions?: true }) => {
      const lake = await chosenLake(environment, options);
      using stop = new StopSignals("what was removed so far stays removed");
      const choice = { allVersions: options.allVersions === true, nowMs: Date.now() };
      const removed = await lake.open(stop.signal, (place) => vacuumLake(place, choice));
      const answer = options.json === true ? removed : vacuumedText(removed);
      await writeAnswer(environment.out, answer);
      assertUndamaged(removed.damaged);
      assertWhole(removed.waiting);
    });
}

const REMOVE_HELP = `
Examples:
  $ content-warehouse lake remove north
  $ content-warehouse lake remove north --yes

INSTANCE is a name that "content-warehouse lake status" lists. Its rows leave all tables, each in one commit, and its
claims, its copies of runs (raw documents, manifests and reports) and the service of its name go. All other instances
stay as they are; they may be delivered meanwhile. Stop its own runs first: the next delivery brings it back, and may
have another service then. Earlier versions of the tables have its rows until lake vacuum.

It asks at a terminal; elsewhere it needs --yes. What was interrupted is ended by the same command.

Exit code 0: it is removed. 2: there is no such instance, or nobody agreed. 26: a table cannot be
written, or somebody else is removing it; the message says what helps.
`;

interface RemoveOptions extends TargetOptions {
  readonly yes?: true;
}

function removeCommand(environment: CliEnvironment): CliCommand {
  return subcommand("remove", "take an instance out of all tables, with its copies of runs", REMOVE_HELP)
    .argument("<instance>", "name of the instance in the lake")
    .option("--yes", "ask nothing: all of it may go")
    .option(...JSON_OPTION)
    .action(async (instance: string, options: RemoveOptions) => {
      const lake = await chosenLake(environment, options);
      using stop = new StopSignals("where it had begun, the same command ends it");
      const { address, ...found } = await lake.open(stop.signal, async (place) => {
        return { address: place.store.address, ...(await removable({ ...place, instance })) };
      });
      const { previous: _, ...removed } = found;
      if (options.yes !== true) {
        const all = `All that ${address} has of ${instance}, ${removableText(found)}, will be gone`;
        const refused = invalid(`${all}; type its name at a terminal, or give --yes.`);
        await confirm(environment, `${all}. Type its name, or y, to go on`, { refused, word: instance });
      }
      const made = { attempt: randomUUID(), atMs: Date.now() };
      await lake.open(stop.signal, (place) =>
        removeInstance({ ...place, instance }, found, made, stop.signal),
      );
      const text =
        options.json === true
          ? jsonLine({ address, ...removed })
          : `removed ${instance} from ${address}: ${removableText(found)}\n${VERSIONS_LEFT}\n`;
      const done = `${instance} is removed, but what was done`;
      await writeOutcome(environment, { text, done });
    });
}

const VERSIONS_LEFT =
  'Earlier versions of its tables stay readable until "content-warehouse lake vacuum" finds them too old; "content-warehouse lake vacuum --all-versions" ends them now.';

function removableText({ since, tables, files, rows, bytes, copies, copyBytes }: Removable): string {
  const ofFiles = `${counted(files, "file")}${rows === null ? "" : `, ${counted(rows, "row")}`}`;
  const begun = since === null ? "" : `, there since ${minuteOf(new Date(since))}`;
  return `${counted(tables, "table")} (${ofFiles}, ${fileSize(bytes)}) and the copies of ${counted(copies, "run")} (${fileSize(copyBytes)})${begun}`;
}

function chosenLake({ cwd }: CliEnvironment, options: TargetOptions): Promise<LakeTarget> {
  return chosenTarget(cwd, options, "lake", isLake);
}

function damageText(damaged: readonly Damage[]): string {
  return damaged.map(({ problem }) => `\nDAMAGED: ${problem}\n`).join("");
}

function ownText({ table, property, value, keptMs, isKept }: Vacuumed["own"][number]): string {
  const said = `${table} has ${property} = ${value} of another program`;
  if (!isKept) return `${said}, which --all-versions overrides\n`;
  if (keptMs !== null) return "";
  return `${said}, which cannot be read, so nothing of the table was removed: set it as "interval 30 days"\n`;
}

function wholeText({ missing }: LakeVerification): string {
  return missing.length === 0 ? "Whole" : `Whole but for ${listed(missing, "and")}`;
}

function waitsText(waits: readonly string[]): string {
  return waits.map((why) => `\nWAITS: ${why}\n`).join("");
}

function assertNoneWaits([first, ...others]: readonly string[]): void {
  if (first === undefined) return;
  const more = others.length === 0 ? "" : ` ${counted(others.length, "more table")} waits.`;
  throw new WarehouseError("target.waits", `${first}${more}`);
}

function vacuumedText({ files, bytes, logFiles, runs, own, damaged, waiting }: Vacuumed): string {
  const size = `${counted(files, "data file")} (${fileSize(bytes)})`;
  const removed =
    files + logFiles + runs === 0
      ? "nothing to remove"
      : `removed ${size}, ${counted(logFiles, "file")} of logs and the copies of ${counted(runs, "run")}`;
  const waits = waitsText(waiting.map(({ why }) => why));
  return printableText(`${removed}\n${own.map(ownText).join("")}${damageText(damaged)}${waits}`);
}
