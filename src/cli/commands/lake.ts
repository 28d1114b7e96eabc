import { Command } from "commander";
import { WarehouseError } from "../../common/errors.ts";
import { counted } from "../../common/figures.ts";
import { isLake, type LakeTarget } from "../../targets/lake/lake.ts";
import { type Damage, lakeStatus } from "../../targets/lake/status.ts";
import { vacuumLake } from "../../targets/lake/vacuum.ts";
import { verifyLake } from "../../targets/lake/verify.ts";
import { parseRunName } from "../../warehouse/layout.ts";
import { runCalled } from "../../warehouse/retention.ts";
import { type CliEnvironment, CONFIG_OPTION, processEnvironment, StopSignals } from "../options.ts";
import { lakeStatusText, lakeVerificationText, vacuumedText } from "../render/lake-text.ts";
import { printableText, writeAll } from "../render/terminal.ts";
import { chosenTarget } from "../targets.ts";

interface Options {
  readonly config?: string;
  readonly target?: string;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse lake status
  $ content-warehouse lake verify
  $ content-warehouse lake vacuum --all-versions
`;

/** `content-warehouse lake`: what the lake of the configuration has. */
export function lakeCommand(environment: CliEnvironment = processEnvironment()): Command {
  const command = new Command("lake")
    .description("show, verify and clean up the lake that runs are delivered to")
    .addHelpText("after", EXAMPLES);
  command.addCommand(statusCommand(environment), { isDefault: true });
  command.addCommand(verifyCommand(environment));
  command.addCommand(vacuumCommand(environment));
  return command;
}

function subcommand(name: string, description: string, help: string): Command {
  return new Command(name)
    .description(description)
    .option("--target <name>", "name of the lake, where there are several")
    .addOption(CONFIG_OPTION)
    .option("--json", "print one JSON object instead of the text")
    .addHelpText("after", help);
}

const STATUS_HELP = `
Example:
  $ content-warehouse lake status --json

Exit code 0: everything can be read. 26: a table or an instance is damaged; it is named, and all others are listed.
`;

function statusCommand(environment: CliEnvironment): Command {
  return subcommand(
    "status",
    "list the tables of the lake and the last run of each instance",
    STATUS_HELP,
  ).action(async (options: Options) => {
    const lake = await chosenLake(environment, options);
    using stop = new StopSignals("nothing was changed");
    const status = await lake.open(stop.signal, ({ store }) => lakeStatus(store));
    const { out } = environment;
    await answer(out, options.json === true ? status : lakeStatusText(status, out.columns));
    assertUndamaged(status.damaged);
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
that run_snapshots names, each file, and the copy of the published run. Exit code 0: all is as it was delivered. 31: it
is not.
`;

function verifyCommand(environment: CliEnvironment): Command {
  return subcommand("verify", "read a run back from the lake and compare it with its manifest", VERIFY_HELP)
    .argument("[run]", "name or number of a run")
    .action(async (run: string | undefined, options: Options) => {
      const lake = await chosenLake(environment, options);
      using stop = new StopSignals("nothing was changed");
      const sequence = run === undefined ? undefined : sequenceOf(run);
      const found = await lake.open(stop.signal, (place) => verifyLake(place, sequence));
      if (run !== undefined && runCalled(run, [found]) === undefined)
        throw new WarehouseError(
          "config.not_found",
          `The run ${sequence} of ${found.instance} is ${found.run}.`,
        );
      const ok = found.findings.length === 0;
      await answer(environment.out, options.json === true ? { ok, ...found } : lakeVerificationText(found));
      if (ok) return;
      throw new WarehouseError(
        "verify.failed",
        `${counted(found.findings.length, "finding")}: a new run replaces damaged files; of a damaged log, the finding says what helps.`,
      );
    });
}

function sequenceOf(run: string): number {
  const sequence = /^\d+$/.test(run) ? Number(run) : parseRunName(run)?.sequence;
  if (sequence !== undefined) return sequence;
  throw new WarehouseError("config.not_found", `"${run}" is neither the name nor the number of a run.`);
}

const VACUUM_HELP = `
Examples:
  $ content-warehouse lake vacuum
  $ content-warehouse lake vacuum --all-versions

Earlier versions stay readable for as long as the lake's logRetentionDays says, 30 days by default. With --all-versions
only the newest can be read afterwards, so that nothing of an erased person stays. All instances of the lake are cleaned
up; runs may be delivered meanwhile.

Exit code 0: all was looked at. 26: a table or an instance is damaged; it is named, nothing of it was removed, and all
others are cleaned up.
`;

function vacuumCommand(environment: CliEnvironment): Command {
  return subcommand("vacuum", "remove files that no version in the retention names", VACUUM_HELP)
    .option("--all-versions", "keep the newest version alone")
    .action(async (options: Options & { readonly allVersions?: true }) => {
      const lake = await chosenLake(environment, options);
      using stop = new StopSignals("what was removed so far stays removed");
      const choice = { allVersions: options.allVersions === true, nowMs: Date.now() };
      const removed = await lake.open(stop.signal, (place) => vacuumLake(place, choice));
      await answer(environment.out, options.json === true ? removed : vacuumedText(removed));
      assertUndamaged(removed.damaged);
    });
}

async function answer(out: CliEnvironment["out"], content: string | object): Promise<void> {
  const text = typeof content === "string" ? printableText(content) : `${JSON.stringify(content)}\n`;
  await writeAll({ out, columns: undefined }, [text]);
}

function chosenLake({ cwd }: CliEnvironment, options: Options): Promise<LakeTarget> {
  return chosenTarget(cwd, options, "lake", isLake);
}
