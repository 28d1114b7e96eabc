import type { DuckDBConnection } from "@duckdb/node-api";
import { findReadable } from "../../audit/open-run.ts";
import { runAnswer, runsAnswer } from "../../audit/questions/runs.ts";
import { minuteOf } from "../../common/figures.ts";
import { configuredKeepRuns } from "../../config/config.ts";
import { ANSWER_FORMATS, type AnswerForm, show } from "../../show/answer.ts";
import { writeAll } from "../../show/terminal.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { pinnedOf, pinnedText } from "../../warehouse/pin.ts";
import { finishPublication } from "../../warehouse/publish.ts";
import { listRuns, prune, RUNS_KEPT, rollback, unpin } from "../../warehouse/retention.ts";
import { CliCommand, type CliEnvironment, existingFolder, positive, processEnvironment } from "../command.ts";
import { withRuns } from "../with-run.ts";

interface Options {
  readonly warehouse: string;
  readonly keep?: number;
}

interface Shown extends Omit<AnswerForm, "width"> {
  readonly warehouse: string;
}

const EXAMPLES = `
Examples:
  $ content-warehouse runs
  $ content-warehouse runs show 42
  $ content-warehouse runs rollback 000041-20261119T020000Z
  $ content-warehouse runs rollback 41 --pin
  $ content-warehouse runs prune --keep 14

RUN is a run's name, its number, or "current".
`;

export function runsCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("runs")
    .description("list, show, roll back and remove published runs")
    .addHelpText("after", EXAMPLES)
    .addCommand(listCommand(environment), { isDefault: true })
    .addCommand(showCommand(environment))
    .addCommand(rollbackCommand(environment))
    .addCommand(unpinCommand(environment))
    .addCommand(pruneCommand(environment));
}

function subcommand(name: string, description: string, example: string): CliCommand {
  return new CliCommand(name)
    .description(description)
    .warehouse()
    .addHelpText("after", `\nExample:\n  $ content-warehouse runs ${example}\n`);
}

function listCommand({ out }: CliEnvironment): CliCommand {
  return subcommand("list", "list the published runs, the newest first", "list --warehouse /srv/warehouse")
    .format(...ANSWER_FORMATS)
    .spreadsheet()
    .action(async ({ warehouse, ...form }: Shown) => {
      await show(out, await runsAnswer(existingFolder(warehouse)), form);
    });
}

function showCommand({ out }: CliEnvironment): CliCommand {
  return subcommand("show", "show what a run published", "show 42")
    .argument("[run]", "name or number of a run, or current", "current")
    .format("table", "json", "markdown")
    .action(async (run: string, { warehouse, format }: Shown) => {
      const folder = existingFolder(warehouse);
      const found = await findReadable(folder, run);
      const pinned = pinnedOf(await listRuns(folder));
      const answer = (connection?: DuckDBConnection) => runAnswer({ found, pinned }, connection);
      const isTold = found.manifest.rows.run_checks !== undefined;
      const shown = isTold
        ? await withRuns(
            warehouse,
            async () => ({ wanted: found.run, anyPipeline: true }),
            ({ connection }) => answer(connection),
          )
        : await answer();
      await show(out, shown, { format });
    });
}

function rollbackCommand({ out }: CliEnvironment): CliCommand {
  return subcommand("rollback", "make an earlier run the one that readers see", "rollback 41")
    .argument("<run>", "name or number of a run")
    .option("--pin", "keep it current while further runs are published, until `runs unpin`")
    .action(async (wanted: string, { warehouse, pin }: Options & { readonly pin?: true }) => {
      const folder = existingFolder(warehouse);
      await using _lock = await acquireLock(folder);
      const { run, pinnedSince } = await rollback(folder, wanted, pin === true ? new Date() : null);
      const now = pinnedSince === null ? `current is now ${run}` : pinnedText({ run, pinnedSince });
      await writeAll(out, [`${now}\n`]);
    });
}

function unpinCommand({ out }: CliEnvironment): CliCommand {
  return subcommand(
    "unpin",
    "make the latest run current, and each that is published from now on",
    "unpin",
  ).action(async ({ warehouse }: Options) => {
    const folder = existingFolder(warehouse);
    await using _lock = await acquireLock(folder);
    await finishPublication(folder);
    const { run, latest, since } = await unpin(folder);
    const was = `${run} was pinned since ${minuteOf(since)} UTC`;
    await writeAll(out, [
      `current is ${run === latest ? "still" : "now"} ${latest}; ${was}\n`,
      'targets keep what they have until "content-warehouse deliver" or the next run\n',
    ]);
  });
}

function pruneCommand(environment: CliEnvironment): CliCommand {
  return subcommand("prune", "remove old runs; the current one always stays", "prune --keep 14")
    .option(
      "--keep <n>",
      `number of the newest runs to keep (default: the setting keepRuns, else ${RUNS_KEPT})`,
      positive,
    )
    .action(async ({ keep: given, ...flags }: Options) => {
      const { warehouse } = flags;
      const folder = existingFolder(warehouse);
      const keep = given ?? (await configuredKeepRuns({ ...environment, flags }));
      await using _lock = await acquireLock(folder);
      const removed = await prune(folder, keep);
      const lines = removed.map(({ run }) => `removed ${run}\n`);
      await writeAll(environment.out, lines.length === 0 ? ["nothing to remove\n"] : lines);
    });
}
