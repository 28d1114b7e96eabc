/** `runs show`: what a run published, its drift and rejects, or which run each target has. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { findReadableRun } from "../../audit/open-run.ts";
import { driftQuestion } from "../../audit/questions/drift.ts";
import { readRejectsSection } from "../../audit/questions/run-sections.ts";
import { RUN_SECTIONS, runAnswer } from "../../audit/questions/runs.ts";
import { invalidConfig, WarehouseError } from "../../common/errors.ts";
import { pluralize } from "../../common/figures.ts";
import { readCurrentRun } from "../../targets/published-run.ts";
import { readTargetStatuses, targetsAnswer } from "../../targets/target-states.ts";
import { outputFolder } from "../../warehouse/layout.ts";
import { type AnswerFlags, showAnswer } from "../answer-form.ts";
import {
  CliCommand,
  type CliEnvironment,
  openWarehouseFolder,
  processEnvironment,
  StopSignals,
} from "../command.ts";
import { chooseTargets } from "../targets.ts";
import { withAnswer, withRuns } from "../with-run.ts";

interface RunsShowFlags extends AnswerFlags {
  readonly warehouse: string;
  readonly config?: string;
}

/** Sections shown only with `--section`. */
const ON_REQUEST = ["drift", "rejects", "targets"] as const;

const HELP = `
Examples:
  $ content-warehouse runs show 42
  $ content-warehouse runs show --section drift
  $ content-warehouse runs show 42 --section rejects --format csv > rejects.csv

drift: API fields that are new, gone or changed since the run before.
rejects: what could not be loaded, and why. The next run requests it again.
targets: the last run of each target, asked over the network. Exit code 26: one
could not be asked.
`;

export function showCommand(environment: CliEnvironment = processEnvironment()): CliCommand {
  return new CliCommand("show")
    .description("show what a run published")
    .argument("[run]", "name or number of a run", "current")
    .warehouse()
    .answerForm([...RUN_SECTIONS, ...ON_REQUEST])
    .addHelpText("after", HELP)
    .action((run: string, options: RunsShowFlags) => {
      if (options.section === "drift") return showDrift(environment, run, options);
      if (options.section === "rejects") return showRejects(environment, run, options);
      if (options.section === "targets") return showTargets(environment, run, options);
      return showRun(environment, run, options);
    });
}

async function showRun(
  { out }: CliEnvironment,
  run: string,
  { warehouse, ...form }: RunsShowFlags,
): Promise<void> {
  const found = await findReadableRun(openWarehouseFolder(warehouse), run);
  const answer = (connection?: DuckDBConnection) => runAnswer(found, connection);
  const hasChecks = found.manifest.rows.run_checks !== undefined;
  const shown = hasChecks
    ? await withRuns(
        warehouse,
        async () => ({ wanted: found.run, anyPipeline: true }),
        ({ connection }) => answer(connection),
      )
    : await answer();
  await showAnswer(out, shown, form);
}

function showDrift(
  { out }: CliEnvironment,
  run: string,
  { warehouse, ...form }: RunsShowFlags,
): Promise<void> {
  const { section: _, ...whole } = form;
  return withAnswer(warehouse, driftQuestion(run), (answer) => {
    const [first, ...rest] = answer.sections;
    if (form.format !== "csv" || first === undefined) return showAnswer(out, answer, whole);
    // CSV has one table; the column `kind` says which section a row is from.
    const rows = [first, ...rest].flatMap((part) => part.rows);
    return showAnswer(out, { ...answer, sections: [{ ...first, rows }] }, whole);
  });
}

function showRejects(
  { out }: CliEnvironment,
  run: string,
  { warehouse, ...form }: RunsShowFlags,
): Promise<void> {
  return withRuns(
    warehouse,
    async () => ({ wanted: run, anyPipeline: true }),
    async (opened) => {
      const rejects = await readRejectsSection(opened.connection, Number.MAX_SAFE_INTEGER);
      const total = rejects.rows.length;
      const lead = `${total === 0 ? "No rejects" : pluralize(total, "reject")} in the run ${opened.run}.`;
      await showAnswer(out, { lead, facts: { run: opened.run }, sections: [{ ...rejects, none: "" }] }, form);
    },
  );
}

async function showTargets(environment: CliEnvironment, run: string, options: RunsShowFlags): Promise<void> {
  if (run !== "current")
    throw invalidConfig("--section targets compares targets with the current run; leave the run out.");
  const targets = await chooseTargets(environment, options);
  const current = await readCurrentRun(outputFolder(options.warehouse));
  using stop = new StopSignals("the targets were not listed");
  const states = await readTargetStatuses(targets, current, stop.signal);
  await showAnswer(environment.out, targetsAnswer(states, current), options);
  const failed = states.filter(({ state }) => state === "failed");
  if (failed.length > 0)
    throw new WarehouseError(
      "target.unavailable",
      `${pluralize(failed.length, "target")} could not be asked: ${failed[0]?.problem}`,
    );
}
