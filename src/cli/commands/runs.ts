import { type RunCheck, readChecks } from "../../audit/checks/checks.ts";
import { findReadable, type ReadableRun } from "../../audit/open-run.ts";
import { WarehouseError } from "../../common/errors.ts";
import { count, counted, duration, fileSize, minuteOf } from "../../common/figures.ts";
import { configuredKeepRuns } from "../../config/config.ts";
import { isOutside, withPast } from "../../warehouse/identity.ts";
import { type OutputFolder, stagingLeftovers } from "../../warehouse/layout.ts";
import { acquireLock } from "../../warehouse/lock.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { listRuns, type PublishedRun, prune, RUNS_KEPT, rollback } from "../../warehouse/retention.ts";
import { CliCommand, type CliEnvironment, existingFolder, positive, processEnvironment } from "../command.ts";
import { drawInParts, drawTable, left, right, tableOf, whole } from "../render/table.ts";
import { printableText, writeAll } from "../render/terminal.ts";
import { withRuns } from "../with-run.ts";

interface Options {
  readonly warehouse: string;
  readonly keep?: number;
}

const EXAMPLES = `
Examples:
  $ content-warehouse runs
  $ content-warehouse runs show 42
  $ content-warehouse runs rollback 000041-20261119T020000Z
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
    .addCommand(pruneCommand(environment));
}

function subcommand(name: string, description: string, example: string): CliCommand {
  return new CliCommand(name)
    .description(description)
    .warehouse()
    .addHelpText("after", `\nExample:\n  $ content-warehouse runs ${example}\n`);
}

function listCommand({ out }: CliEnvironment): CliCommand {
  return subcommand(
    "list",
    "list the published runs, the newest first",
    "list --warehouse /srv/warehouse",
  ).action(async ({ warehouse }: Options) => {
    const folder = existingFolder(warehouse);
    const unpublished = await unpublishedRun(folder);
    const runs = await listRuns(folder);
    await writeAll(out, [listText(runs, out.columns), ...unpublishedText(runs, unpublished)]);
  });
}

function showCommand({ out }: CliEnvironment): CliCommand {
  return subcommand("show", "show what a run published", "show current")
    .argument("<run>", "name or number of a run, or current")
    .action(async (run: string, { warehouse }: Options) => {
      const found = await findReadable(existingFolder(warehouse), run);
      const checks = await checksOf(warehouse, found);
      await writeAll(out, [showText(found, out.columns), checksText(checks, out.columns)]);
    });
}

async function checksOf(warehouse: string, { run, manifest }: ReadableRun): Promise<RunCheck[]> {
  if (manifest.rows.run_checks === undefined) return [];
  return withRuns(
    warehouse,
    async () => ({ wanted: run, anyPipeline: true }),
    ({ connection }) => readChecks(connection),
  );
}

/** Those that did not pass, each with its figures; the others in one number. */
function checksText(checks: readonly RunCheck[], width: number | undefined): string {
  if (checks.length === 0) return "";
  const poor = checks.filter(({ verdict }) => verdict !== "passed");
  const passed = checks.length - poor.length;
  if (poor.length === 0) return `\nAll ${counted(passed, "check")} passed.\n`;
  const table = tableOf(poor, [
    left("check", ({ checkName }) => checkName),
    whole("verdict", ({ verdict }) => verdict),
    right("counted", ({ figure }) => count(figure)),
    right("expected", ({ expected }) => (expected === null ? "" : count(expected))),
    left("detail", ({ detail }) => detail ?? ""),
  ]);
  const { text } = drawTable(table, width);
  return `\n${counted(passed, "check")} passed; the table run_checks has all of them. Not passed:\n${text}`;
}

function rollbackCommand({ out }: CliEnvironment): CliCommand {
  return subcommand("rollback", "make an earlier run the one that readers see", "rollback 41")
    .argument("<run>", "name or number of a run")
    .action(async (wanted: string, { warehouse }: Options) => {
      const folder = existingFolder(warehouse);
      await using _lock = await acquireLock(folder);
      const { run } = await rollback(folder, wanted);
      await writeAll(out, [`current is now ${run}\n`]);
    });
}

function pruneCommand(environment: CliEnvironment): CliCommand {
  return subcommand("prune", "remove old runs; the current one always stays", "prune --keep 14")
    .option(
      "--keep <n>",
      `number of the newest runs to keep (default: the setting keepRuns, else ${RUNS_KEPT})`,
      positive,
    )
    .action(async ({ warehouse, keep: given }: Options) => {
      const folder = existingFolder(warehouse);
      const keep = given ?? (await configuredKeepRuns(environment));
      await using _lock = await acquireLock(folder);
      const removed = await prune(folder, keep);
      const lines = removed.map(({ run }) => `removed ${run}\n`);
      await writeAll(environment.out, lines.length === 0 ? ["nothing to remove\n"] : lines);
    });
}

/** `current` marks the run that readers see. The name of a run says when it started. */
function listText(runs: readonly PublishedRun[], width: number | undefined): string {
  if (runs.length === 0) return "nothing was published yet\n";
  const past = withPast(
    runs.find((each) => each.current),
    runs,
  );
  const known = runs.map(({ manifest, ...run }) => ({
    ...run,
    outside: isOutside(run, past),
    of: manifest instanceof WarehouseError ? undefined : manifest,
  }));
  const table = tableOf(known, [
    whole("", ({ current, outside }) => (current ? "*" : outside ? "/" : "")),
    whole("run", ({ run }) => run),
    whole("verdict", ({ of }) => of?.verdict ?? "unreadable"),
    right("items", ({ of }) => (of === undefined ? "" : count(of.rows.content ?? 0))),
    whole("change", ({ of }) => (of === undefined ? "" : changeText(of))),
    right("rejected", ({ of }) => (of?.items === undefined ? "" : count(of.items.rejected))),
    right("unmapped", ({ of }) => (of?.mappedValues === undefined ? "" : count(of.mappedValues.unmapped))),
    right("took", ({ of }) => (of === undefined ? "" : took(of))),
    right("size", ({ of }) => (of === undefined ? "" : fileSize(sizeOf(of.files)))),
  ]);
  const problems = runs.flatMap(({ manifest }) =>
    manifest instanceof WarehouseError ? [`${printableText(manifest.message)}\n`] : [],
  );
  const outside = known.some((each) => each.outside) ? [OUTSIDE] : [];
  return [drawInParts(table, 2, width), LEGEND, ...outside, ...problems].join("");
}

const LEGEND = "* current   change: new +, changed ~, removed -, since the run before\n";
const OUTSIDE = "/ not in the history of the current run: put aside, or rolled back\n";

/** Name of the latest run that has staged files. They are their owner's alone: nobody else is told. */
async function unpublishedRun(folder: OutputFolder): Promise<string | undefined> {
  const staged = await stagingLeftovers(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "EACCES" || thrown.code === "EPERM") return [];
    throw thrown;
  });
  return staged[0]?.run;
}

/** A run that is published has staged files for a moment longer. */
function unpublishedText(runs: readonly PublishedRun[], unpublished: string | undefined): string[] {
  if (unpublished === undefined || runs.some(({ run }) => run === unpublished)) return [];
  return [
    `not published: ${unpublished}, which is under way or ended early; the next run goes on with it where it can\n`,
  ];
}

/** `+3 ~12 -1`; nothing of a run that was not compared. */
function changeText({ changes }: Manifest): string {
  if (changes === undefined) return "";
  const changed = changes.changed === null ? "" : ` ~${count(changes.changed)}`;
  return `+${count(changes.new)}${changed} -${count(changes.removed)}`;
}

function showText({ run, manifest, current }: ReadableRun, width: number | undefined): string {
  const { pipeline, instance, verdict, startedAt, versions, personalData, previousRun } = manifest;
  const { items, mappedValues, supersedes, erasedAt } = manifest;
  const change = changeText(manifest);
  const erased = erasedAt?.at(-1);
  const lines: ([string, string] | false)[] = [
    ["Run", current ? `${run} (current)` : run],
    ["Pipeline", pipeline],
    ["Service", instance.id === null ? instance.origin : `${instance.origin}, instance ${instance.id}`],
    ["Started", `${minuteOf(new Date(startedAt))} UTC, took ${took(manifest)}`],
    ["Verdict", verdict],
    items !== undefined && ["Items", itemsText(items)],
    items !== undefined && change !== "" && ["Change", change],
    mappedValues !== undefined && [
      "Values",
      `${count(mappedValues.mapped)} mapped, ${count(mappedValues.unmapped)} unmapped`,
    ],
    ["Before it", previousRun ?? "no run"],
    // It took the place of another when somebody was erased from it.
    supersedes !== undefined &&
      erased !== undefined && ["Supersedes", `${supersedes}, erased ${minuteOf(new Date(erased))} UTC`],
    [
      "Personal data",
      personalData.policy + (personalData.keyId === null ? "" : `, key ${personalData.keyId}`),
    ],
    ["Made by", `content-warehouse ${versions.package}, DuckDB ${versions.duckdb}, Node ${versions.node}`],
    ["Size", `${fileSize(sizeOf(manifest.files))} in ${count(manifest.files.length)} files`],
  ];
  const facts = lines
    .filter((line) => line !== false)
    .map(([name, value]) => `${name.padEnd(14)} ${value}\n`);
  const filesOf = (table: string) =>
    manifest.files.filter(({ path }) => path.startsWith(`parquet/${table}/`));
  const tables = tableOf(Object.entries(manifest.rows), [
    left("table", ([name]) => name),
    right("rows", ([, number]) => count(number)),
    right("Parquet", ([name]) => fileSize(sizeOf(filesOf(name)))),
  ]);
  const { text } = drawTable(tables, width);
  return `${printableText(facts.join(""))}\n${text}`;
}

function itemsText({ listed, loaded, rejected, vanished, unread }: NonNullable<Manifest["items"]>): string {
  const gone = vanished === 0 ? "" : `, ${count(vanished)} vanished`;
  const rest = unread === 0 ? gone : `${gone}, ${count(unread)} unread`;
  return `${count(listed)} listed, ${count(loaded)} loaded, ${count(rejected)} rejected${rest}`;
}

function sizeOf(files: Manifest["files"]): number {
  return files.reduce((sum, file) => sum + file.bytes, 0);
}

function took({ startedAt, endedAt }: Manifest): string {
  return duration((Date.parse(endedAt) - Date.parse(startedAt)) / 1000);
}
