/** `run`: runs a pipeline, shows its progress, and prints its summary. */
import { Option } from "commander";
import { count, duration, megabytes } from "../../common/figures.ts";
import type { Log, LogFormat } from "../../common/log.ts";
import type { Progress, StageName } from "../../common/progress.ts";
import { loadConfig } from "../../config/config.ts";
import { exitCodeOf } from "../../observe/outcome.ts";
import { thisMachine } from "../../run/inputs.ts";
import { leftoverText, runExport } from "../../run/run.ts";
import { summaryAnswer, thingsToLookAt } from "../../run/summary-answer.ts";
import { answerText } from "../../show/answer.ts";
import { jsonLine, printableLine, takesColours, wrapText, writeOutcome } from "../../show/terminal.ts";
import { deliveryError } from "../../targets/deliver.ts";
import { commandAdvice } from "../advice.ts";
import {
  CliCommand,
  type CliEnvironment,
  logTo,
  positive,
  processEnvironment,
  StopSignals,
} from "../command.ts";
import { addRunOptions, PIPELINE, type RunInputFlags, runInputs } from "../run-inputs.ts";

interface RunFlags extends RunInputFlags {
  readonly limit?: number;
  readonly quiet?: true;
  readonly logFormat?: LogFormat;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ content-warehouse run nightly --sample
  $ content-warehouse run nightly --limit 20
  $ content-warehouse run ./my-pipeline.mts --warehouse /srv/warehouse

The token comes from CONTENT_API_TOKEN or the setting \`tokenFile\`.

Exit codes: 0: complete. 10: published, but the content changed while it was
read. 26: published here, not delivered; use "deliver". All others: nothing
published. 24: far less than in the run before. 25: a test of the pipeline
failed. If that is right, run once with --accept-shrink or --accept-lost.
A run with --limit is neither certified nor delivered, and ends with 0.
`;

export function runCommand(environment = processEnvironment()): CliCommand {
  const command = new CliCommand("run").argument("<pipeline>", PIPELINE);
  return addRunOptions(command, "read the sample content from an embedded service")
    .addOption(
      new Option("--limit <items>", "read only the first items, into ./first-look")
        .argParser(positive)
        .conflicts(["reread", "acceptShrink", "acceptLost", "acceptNewAddress", "acceptPipeline"]),
    )
    .option("--quiet", "print only failures, new warnings, and why a run is unsettled")
    .logFormat()
    .option("--json", "print the summary as one JSON object")
    .addHelpText("after", EXAMPLES)
    .action((pipeline: string, flags: RunFlags) => run(pipeline, flags, environment));
}

async function run(pipeline: string, flags: RunFlags, environment: CliEnvironment): Promise<void> {
  const { url, inputs } = runInputs(pipeline, flags, environment);
  const config = await loadConfig(inputs);
  const secrets = config.source.kind === "service" ? config.source.secrets : [];
  const { quiet, logFormat: format = "text" } = flags;
  const { err, env } = environment;
  // Only a terminal that can move its cursor shows progress in one line.
  const isLive = quiet !== true && format !== "json" && err.isTTY === true && env.TERM !== "dumb";
  const progress = logTo(err, { format, secrets, level: "info" });
  const display = createDisplay({
    write: (text) => err.write(text),
    report: (line) => (quiet === true ? undefined : progress.info(line)),
    columns: isLive ? () => err.columns || COLUMNS : undefined,
    elapsedMs: () => performance.now(),
  });
  const log = logTo({ write: display.log }, { format, secrets, level: "warn" });
  using stop = new StopSignals(leftoverText(config));
  const { summary, failure } = await runExport({
    config,
    pipeline: url,
    log,
    signal: stop.signal,
    onProgress: display.onProgress,
    ...thisMachine(),
  }).finally(() => display.end());
  await endRun({ summary, failure }, flags, environment, log);
}

/** Width of a terminal that reports none, in characters. */
const COLUMNS = 80;

/** Prints the summary of a published run, with `quiet` only what to look at, then what failed; sets the exit code. */
export async function endRun(
  { summary, failure }: Awaited<ReturnType<typeof runExport>>,
  flags: Pick<RunFlags, "quiet" | "json">,
  environment: CliEnvironment,
  log: Log,
): Promise<void> {
  const { quiet, json } = flags;
  const { out, endWith } = environment;
  if (quiet === true) for (const thing of thingsToLookAt(summary)) log.warn(thing);
  if (quiet !== true || json === true) {
    const screen = { width: out.columns, isColoured: takesColours(environment) };
    const advice =
      out.isTTY === true ? await commandAdvice(environment, { warehouse: summary.warehouse }) : null;
    const text = json === true ? jsonLine(summary) : answerText(summaryAnswer(summary, advice), screen);
    await writeOutcome(environment, { text, done: "The run is published, but its summary" });
  }
  for (const error of [failure, deliveryError(summary.run, summary.deliveries)])
    if (error != null) log.error(error.message, { code: error.code });
  const exitCode = exitCodeOf(summary);
  if (exitCode !== 0) endWith(exitCode);
}

const STAGES: Record<StageName, readonly [label: string, unit: string]> = {
  lookups: ["lookups", "lookups"],
  dynamic: ["dynamic listing", "pages"],
  items: ["single items", "items"],
  full: ["full listing", "pages"],
  basic: ["basic listing", "pages"],
  transform: ["transform", "items"],
  load: ["tables", "tables"],
  publish: ["publish", ""],
  deliver: ["delivery", ""],
};

/** Time between two texts, on a terminal and elsewhere. */
const REDRAW_MS = 100;
const LINE_MS = 3000;

/**
 * Shows the progress of a run: one changing line on a terminal, elsewhere a line every few seconds. `report` takes a line of
 * progress where there is no terminal. `columns`: current width of the terminal; `undefined` if the output is none whose
 * cursor can move. `elapsedMs`: milliseconds since any fixed moment.
 */
export function createDisplay({
  write,
  report,
  columns,
  elapsedMs,
}: {
  readonly write: (text: string) => void;
  readonly report: (line: string) => void;
  readonly columns: (() => number) | undefined;
  readonly elapsedMs: () => number;
}) {
  const stages = new Map<StageName, StageProgress>();
  let shown = "";
  let lastMs = elapsedMs();
  const draw = (above: string) => write(columns === undefined ? above : `\r\u001b[K${above}${shown}`);
  return {
    onProgress(progress: Progress): void {
      const nowMs = elapsedMs();
      const state = advance(stages, progress, nowMs);
      if (nowMs - lastMs < (columns === undefined ? LINE_MS : REDRAW_MS)) return;
      lastMs = nowMs;
      const text = `${STAGES[state.stage][0]}: ${progressText(state)}`;
      if (columns === undefined) report(text);
      else {
        shown = wrapText(printableLine(text), columns() - 1, 1).join();
        draw("");
      }
    },
    /** Writes lines of the log; on a terminal above the line of progress. */
    log: draw,
    /** Removes the line of progress. */
    end(): void {
      shown = "";
      draw("");
    },
  };
}

interface StageProgress extends Progress {
  /** Units done before the stage began anew. */
  readonly earlier: number;
  readonly startedMs: number;
  readonly atMs: number;
}

/** A stage that begins anew, such as a further pass, counts time from its new beginning. */
function advance(stages: Map<StageName, StageProgress>, progress: Progress, nowMs: number): StageProgress {
  const before = stages.get(progress.stage);
  const isAnew = before !== undefined && progress.done <= before.done && before.done === before.total;
  const startedMs = before === undefined || progress.done < before.done ? nowMs : before.startedMs;
  const earlier = (before?.earlier ?? 0) + (isAnew && progress.stage === "items" ? before.done : 0);
  const state = { ...progress, earlier, startedMs, atMs: nowMs };
  stages.set(progress.stage, state);
  return state;
}

function progressText(state: StageProgress): string {
  const { stage, done, total, earlier, items, bytes, startedMs, atMs, perSecond } = state;
  if (stage === "publish") return done === total ? "done" : "verifying the files";
  // Each target has its own units.
  if (stage === "deliver") return `${total ? Math.floor((100 * done) / total) : 0} %`;
  const seconds = (atMs - startedMs) / 1000;
  const all = total === undefined ? "" : ` of ${count(earlier + total)}`;
  const parts = [`${count(earlier + done)}${all} ${STAGES[stage][1]}`];
  // The time left comes first, so that a narrow terminal shows it. Pages and items are one request each.
  if (total !== undefined && done > 0 && done < total && seconds >= 1)
    parts.push(`${duration((total - done) / (perSecond ?? done / seconds))} left`);
  if (stage === "dynamic" || stage === "full" || stage === "basic") {
    parts.push(`${count(items)} items`);
    if (seconds >= 1)
      parts.push(`${count(Math.round(items / seconds))} items/s`, `${megabytes(bytes / seconds)}/s`);
  }
  if (perSecond != null) parts.push(`held to ${perSecond.toPrecision(2)} requests/s by the service`);
  return parts.join(", ");
}
