/** Shows the progress of a run: one changing line on a terminal, elsewhere a line every few seconds. */
import { count, duration, megabytes } from "../common/figures.ts";
import type { OnProgress, Progress, StageName } from "../common/progress.ts";
import { printableLine, truncate } from "./terminal.ts";

export interface Display {
  readonly onProgress: OnProgress;
  /** Writes lines of the log; on a terminal above the line of progress. */
  log(lines: string): void;
  /** Removes the line of progress. */
  end(): void;
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

/** The output of a display. */
interface DisplayOutput {
  readonly write: (text: string) => void;
  /** Current width of the terminal; undefined if the output is none whose cursor can move. */
  readonly columns: (() => number) | undefined;
}

/** `report`: takes a line of progress where there is no terminal. `elapsedMs`: milliseconds since any fixed moment. */
export function createDisplay({
  report,
  elapsedMs,
  ...output
}: DisplayOutput & {
  readonly report: (line: string) => void;
  readonly elapsedMs: () => number;
}): Display {
  const stages = new Map<StageName, StageProgress>();
  const line = createStatusLine(output);
  const everyMs = output.columns === undefined ? LINE_MS : REDRAW_MS;
  let lastMs = elapsedMs();
  return {
    onProgress: (progress) => {
      const nowMs = elapsedMs();
      const state = advance(stages, progress, nowMs);
      if (nowMs - lastMs < everyMs) return;
      lastMs = nowMs;
      const text = `${STAGES[state.stage][0]}: ${progressText(state)}`;
      if (output.columns === undefined) report(text);
      else line.show(text);
    },
    log: line.log,
    end: line.clear,
  };
}

/** Shows the log only. */
export function quietDisplay(write: DisplayOutput["write"]): Display {
  return { onProgress: () => {}, log: write, end: () => {} };
}

/** A line of the terminal that can be replaced and cleared; `log` writes above it. Without a terminal only logs show. */
export function createStatusLine({ write, columns }: DisplayOutput) {
  if (columns === undefined) return { show: (_: string) => {}, log: write, clear: () => {} };
  let shown = "";
  const draw = (above: string) => write(`\r\u001b[K${above}${shown}`);
  const show = (text: string) => {
    shown = truncate(printableLine(text), columns() - 1);
    draw("");
  };
  return { show, log: draw, clear: () => show("") };
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
