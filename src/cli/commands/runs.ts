/** `runs`: lists, shows, rolls back and removes published runs. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { findReadableRun } from "../../audit/open-run.ts";
import { driftQuestion, PERSONAL_SECTION } from "../../audit/questions/drift.ts";
import { readRejectsSection, runAnswer } from "../../audit/questions/run-sections.ts";
import { runsAnswer } from "../../audit/questions/runs.ts";
import { invalidConfig, WarehouseError } from "../../common/errors.ts";
import { pluralize } from "../../common/figures.ts";
import { inTemporaryFolder } from "../../common/temporary-folder.ts";
import { loadSettings } from "../../config/config.ts";
import { type AnswerFlags, showAnswer } from "../../show/answer.ts";
import { writeResult } from "../../show/terminal.ts";
import { deliveryError, failedDeliveries } from "../../targets/deliver.ts";
import { readCurrentRun } from "../../targets/published-run.ts";
import { compareTargets } from "../../targets/target-states.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import { prune, RUNS_KEPT, rollback } from "../../warehouse/retention.ts";
import { commandAdvice } from "../advice.ts";
import {
  CliCommand,
  type CliEnvironment,
  openWarehouseFolder,
  positive,
  processEnvironment,
  StopSignals,
} from "../command.ts";
import { chooseTargets, deliverRun, deliveryText, type TargetFlags } from "../targets.ts";
import { withAnswer, withRuns } from "../with-run.ts";

const EXAMPLES = `
Examples:
  $ content-warehouse runs
  $ content-warehouse runs show 42
  $ content-warehouse runs rollback 41 --deliver
  $ content-warehouse runs prune --keep 14
`;

export function runsCommand(environment = processEnvironment()): CliCommand {
  return new CliCommand("runs")
    .addHelpText("after", EXAMPLES)
    .addCommand(listCommand(environment), { isDefault: true })
    .addCommand(showCommand(environment))
    .addCommand(rollbackCommand(environment))
    .addCommand(pruneCommand(environment));
}

function subcommand(name: string, description: string, example: string): CliCommand {
  return new CliCommand(name)
    .description(description)
    .warehouse()
    .addHelpText("after", `\nExample:\n  $ content-warehouse runs ${example}\n`);
}

function listCommand(environment: CliEnvironment): CliCommand {
  return subcommand("list", "list the published runs, newest first", "list --warehouse /srv/warehouse")
    .answerForm()
    .action(async ({ warehouse, ...form }: AnswerFlags & { readonly warehouse: string }) => {
      await showAnswer(environment, await runsAnswer(openWarehouseFolder(warehouse)), form);
    });
}

interface ShowFlags extends AnswerFlags {
  readonly warehouse: string;
  readonly config?: string;
}

const SECTIONS = ["about", "checks", "failing_rows", "passes", "requests", "tables"];
/** Sections shown only with `--section`, each with the function that shows it. */
const ON_REQUEST = {
  drift: showDrift,
  [PERSONAL_SECTION]: showDrift,
  rejects: showRejects,
  targets: showTargets,
} as const;

const SHOW_HELP = `show 42
  $ content-warehouse runs show --section drift
  $ content-warehouse runs show 42 --section rejects --format csv > rejects.csv

drift: where the service departs from the contract; new since the run before, or
known.
personal-data: what the personal-data policy removed or hashed.
rejects: what could not be loaded, and why. The next run requests it again.
targets: the last run of each target, asked over the network. Exit code 26: one
could not be asked.`;

function showCommand(environment: CliEnvironment): CliCommand {
  return subcommand("show", "show what a run published", SHOW_HELP)
    .argument("[run]", "name or number of a run", "current")
    .answerForm([...SECTIONS, ...Object.keys(ON_REQUEST)])
    .action((run: string, options: ShowFlags) => {
      const show =
        Object.entries(ON_REQUEST).find(([section]) => section === options.section)?.[1] ?? showRun;
      return show(environment, run, options);
    });
}

async function showRun(environment: CliEnvironment, run: string, { warehouse, ...form }: ShowFlags) {
  const found = await findReadableRun(openWarehouseFolder(warehouse, "answer.nothing"), run);
  const answer = (connection?: DuckDBConnection) => runAnswer(found, connection);
  const shown =
    found.manifest.rows.run_checks === undefined
      ? await answer()
      : await withRuns(
          warehouse,
          async () => ({ wanted: found.run, anyPipeline: true }),
          ({ connection }) => answer(connection),
        );
  await showAnswer(environment, shown, form);
}

/** CSV has one table; its column `kind` says which section a row is from. */
function showDrift(environment: CliEnvironment, run: string, { warehouse, section, ...form }: ShowFlags) {
  const asked = section === PERSONAL_SECTION ? PERSONAL_SECTION : "drift";
  return withAnswer(warehouse, driftQuestion(run, asked), (answer) => {
    const [first, ...rest] = answer.sections;
    if (form.format !== "csv" || first === undefined) return showAnswer(environment, answer, form);
    const rows = [first, ...rest].flatMap((part) => part.rows);
    return showAnswer(environment, { ...answer, sections: [{ ...first, rows }] }, form);
  });
}

function showRejects(environment: CliEnvironment, run: string, { warehouse, ...form }: ShowFlags) {
  return withRuns(
    warehouse,
    async () => ({ wanted: run, anyPipeline: true }),
    async (opened) => {
      const rejects = await readRejectsSection(opened.connection, Number.MAX_SAFE_INTEGER);
      const total = rejects.rows.length;
      const lead = `${total === 0 ? "No rejects" : pluralize(total, "reject")} in the run ${opened.run}.`;
      await showAnswer(
        environment,
        { lead, facts: { run: opened.run }, sections: [{ ...rejects, none: "" }] },
        form,
      );
    },
  );
}

async function showTargets(environment: CliEnvironment, run: string, options: ShowFlags): Promise<void> {
  if (run !== "current")
    throw invalidConfig("--section targets compares targets with the current run; leave the run out.");
  const targets = await chooseTargets(environment, options);
  const current = await readCurrentRun(outputFolder(options.warehouse));
  using stop = new StopSignals("the targets were not listed");
  const { answer, failed } = await compareTargets(targets, current, stop.signal);
  await showAnswer(environment, answer, options);
  if (failed.length > 0)
    throw new WarehouseError(
      "target.unavailable",
      `${pluralize(failed.length, "target")} could not be asked: ${failed[0]?.problem}`,
    );
}

const ROLLBACK_HELP = `rollback 41 --deliver

Exit code 0: the run is current. 26: it is current, but not at every target; the
same command continues where it stopped. 31: it is damaged; nothing was changed.`;

function rollbackCommand(environment: CliEnvironment): CliCommand {
  return subcommand("rollback", "make an earlier run current", ROLLBACK_HELP)
    .argument("<run>", "name or number of a run")
    .option("--deliver", "bring the configured targets back to it as well")
    .action(async (wanted: string, options: TargetFlags & { readonly deliver?: true }) => {
      const { out } = environment;
      const folder = openWarehouseFolder(options.warehouse);
      const targets = options.deliver === true ? await chooseTargets(environment, options) : null;
      using stop = new StopSignals("`current` may be moved already");
      await using _lock = await acquireLock(folder);
      const published = await rollback(folder, wanted);
      const { run, sequence } = published;
      const advice = await commandAdvice(environment, options);
      const command = advice(`runs rollback ${sequence} --deliver`);
      await writeResult(out, `current is now ${run}\n`);
      if (targets === null)
        return await writeResult(
          out,
          `if targets are configured, they keep the run that they have; "${command}" brings them to it\n`,
        );
      const { signal } = stop;
      const { deliveries } = await inTemporaryFolder("rollback", (temporaryDirectory) =>
        deliverRun(folder, published, { targets, temporaryDirectory, signal, isRollback: true }),
      ).catch((thrown: unknown) => ({ deliveries: failedDeliveries(targets, thrown) }));
      await writeResult(out, deliveryText(run, deliveries));
      const failure = deliveryError(run, deliveries, { command, state: "is current now, but " });
      if (failure === undefined) return;
      // 2 says that nothing was done, also where a package of a target is missing.
      throw failure.exitCode === 2 ? new WarehouseError("target.refused", failure.message) : failure;
    });
}

function pruneCommand(environment: CliEnvironment): CliCommand {
  return subcommand("prune", "remove old runs, but never the current one", "prune --keep 14")
    .option("--keep <n>", `runs to keep (default: keepRuns or ${RUNS_KEPT})`, positive)
    .action(
      async (flags: { readonly warehouse: string; readonly config?: string; readonly keep?: number }) => {
        const folder = openWarehouseFolder(flags.warehouse);
        const keep = flags.keep ?? (await loadSettings({ ...environment, flags })).keepRuns;
        await using _lock = await acquireLock(folder);
        const removed = await prune(folder, keep);
        const text = removed.map(({ run }) => `removed ${run}\n`).join("");
        await writeResult(environment.out, text || "nothing to remove\n");
      },
    );
}
