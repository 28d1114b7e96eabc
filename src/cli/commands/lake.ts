/** `lake`: shows, verifies and cleans up a lake, and removes instances from it. */
import { invalidConfig, WarehouseError } from "../../common/errors.ts";
import { fileSize, pluralize } from "../../common/figures.ts";
import { type AnswerFlags, showAnswer } from "../../show/answer.ts";
import { jsonLine, printableText, writeOutcome, writeResult } from "../../show/terminal.ts";
import { isLake } from "../../targets/lake/lake.ts";
import { verifyLake } from "../../targets/lake/stored-run.ts";
import { lakeStatus, measureInstance, removeInstance, vacuumLake } from "../../targets/lake/upkeep.ts";
import { CliCommand, type CliEnvironment, processEnvironment, StopSignals } from "../command.ts";
import { chooseTarget, type TargetFlags } from "../targets.ts";
import { verificationText } from "./verify.ts";

const EXAMPLES = `
Examples:
  $ content-warehouse lake status
  $ content-warehouse lake verify
  $ content-warehouse lake vacuum --all-versions
  $ content-warehouse lake remove north
`;

export function lakeCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("lake")
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
    .option("--target <name>", "name of the lake, if there are several")
    .config()
    .addHelpText("after", help);
}

const STATUS_HELP = `
Example:
  $ content-warehouse lake status --json

Exit code 0: the lake was read. 26: it cannot be read.
`;

function statusCommand(environment: CliEnvironment): CliCommand {
  return subcommand("status", "list the instances of the lake with their last runs", STATUS_HELP)
    .answerForm(["instances"])
    .action(async (options: TargetFlags & AnswerFlags) => {
      const lake = await chosenLake(environment, options);
      using stop = new StopSignals("nothing was changed");
      await showAnswer(environment, await lake.open(stop.signal, lakeStatus), options);
    });
}

const VERIFY_HELP = `
Examples:
  $ content-warehouse lake verify
  $ content-warehouse lake verify --full

Compares the size of each file of the last run; with --full, its SHA-256.
Exit code 0: nothing differs. 31: something does.
`;

function verifyCommand(environment: CliEnvironment): CliCommand {
  return subcommand("verify", "compare the last run with what the lake has of it", VERIFY_HELP)
    .option("--full", "download each file and compare its SHA-256")
    .option(...JSON_OPTION)
    .action(async (options: TargetFlags & { readonly full?: true }) => {
      const lake = await chosenLake(environment, options);
      using stop = new StopSignals("nothing was changed");
      const full = options.full === true;
      const found = await lake.open(stop.signal, (place) => verifyLake(place, { full }));
      const ok = found.findings.length === 0;
      const answer =
        options.json === true
          ? { ok, ...found }
          : verificationText(`${found.run} of ${found.instance}`, found);
      await writeResult(environment.out, answer);
      if (ok) return;
      throw new WarehouseError(
        "verify.failed",
        `${pluralize(found.findings.length, "finding")}: the next run uploads files that are missing; remove a file that differs first.`,
      );
    });
}

const VACUUM_HELP = `
Examples:
  $ content-warehouse lake vacuum
  $ content-warehouse lake vacuum --all-versions

Earlier versions stay readable for \`logRetentionDays\` (30 by default); with
--all-versions only the newest stay. Removes copies of runs except the last of
each instance. Cleans up all instances, also during deliveries.
Exit code 26: a table is damaged or has an unsupported feature, or the clocks
of this machine and of the store differ by an hour; nothing was removed.
`;

function vacuumCommand(environment: CliEnvironment): CliCommand {
  return subcommand("vacuum", "remove files that no reader needs", VACUUM_HELP)
    .option("--all-versions", "keep only the newest versions")
    .option(...JSON_OPTION)
    .action(async (options: TargetFlags & { readonly allVersions?: true }) => {
      const lake = await chosenLake(environment, options);
      using stop = new StopSignals("what was removed so far stays removed");
      const allVersions = options.allVersions === true;
      const removed = await lake.open(stop.signal, (place) => vacuumLake(place, { allVersions }));
      const answer = options.json === true ? removed : printableText(vacuumedText(removed));
      await writeResult(environment.out, answer);
    });
}

function vacuumedText({ files, bytes, logFiles, copies }: Awaited<ReturnType<typeof vacuumLake>>): string {
  if (files + logFiles + copies === 0) return "nothing to remove\n";
  const data = `${pluralize(files, "data file")} (${fileSize(bytes)})`;
  return `removed ${data}, ${pluralize(logFiles, "file")} of logs and the copies of ${pluralize(copies, "run")}\n`;
}

const REMOVE_HELP = `
Examples:
  $ content-warehouse lake remove north
  $ content-warehouse lake remove north --yes

Stop the runs of the instance first: the next delivery brings it back. Removes
its rows from all tables, and the copy of its last run; earlier versions keep
them until "lake vacuum". Without --yes it only says what it would remove. If it
was interrupted, repeat it. Exit code 2: there is no such instance, or no --yes.
26: a table cannot be written, or the instance was delivered meanwhile.
`;

function removeCommand(environment: CliEnvironment): CliCommand {
  return subcommand("remove", "remove an instance from all tables", REMOVE_HELP)
    .argument("<instance>", "name of the instance in the lake")
    .option("--yes", "remove it")
    .option(...JSON_OPTION)
    .action(async (instance: string, options: TargetFlags & { readonly yes?: true }) => {
      const lake = await chosenLake(environment, options);
      using stop = new StopSignals("if the removal had begun, repeat it");
      const { address, ...found } = await lake.open(stop.signal, async (place) => {
        return { address: place.store.address, ...(await measureInstance({ ...place, instance })) };
      });
      if (options.yes !== true)
        throw invalidConfig(
          `This removes all that ${address} has of ${instance}: ${removableText(found)}; to go on, give --yes.`,
        );
      await lake.open(stop.signal, (place) => removeInstance({ ...place, instance }, stop.signal));
      const lines = `removed ${instance} from ${address}: ${removableText(found)}\n${VERSIONS_LEFT}\n`;
      const text = options.json === true ? jsonLine({ address, ...found }) : lines;
      const done = `${instance} is removed, but what was done`;
      await writeOutcome(environment, { text, done });
    });
}

const VERSIONS_LEFT =
  'Earlier versions of its tables stay readable until "content-warehouse lake vacuum" finds them too old; "content-warehouse lake vacuum --all-versions" removes them now.';

function removableText({ tables, files, rows, bytes }: Awaited<ReturnType<typeof measureInstance>>): string {
  const ofFiles = `${pluralize(files, "file")}${rows === null ? "" : `, ${pluralize(rows, "row")}`}`;
  return `${pluralize(tables, "table")} (${ofFiles}, ${fileSize(bytes)})`;
}

function chosenLake(environment: CliEnvironment, options: TargetFlags) {
  return chooseTarget(environment, options, "lake", isLake);
}
