/** A run's progress: one line that changes in place on a terminal, a line every few seconds elsewhere. */
import { count, duration, megabytes } from "../common/figures.ts";
import type { OnProgress, Progress, StageName } from "../common/progress.ts";
import { printableLine, truncate } from "./terminal.ts";

export interface DisplayOptions {
  readonly write: (text: string) => void;
  /** Takes a line of progress, without its end, where the output is no terminal. */
  readonly report: (line: string) => void;
  /** Width of the terminal, asked for at each drawing; undefined where the output is none whose cursor can move. */
  readonly columns: (() => number) | undefined;
  /** Milliseconds since any fixed moment. */
  readonly elapsedMs: () => number;
}

export interface Display {
  readonly onProgress: OnProgress;
  /** Writes lines of a log, above the progress where that changes in place. */
  log(lines: string): void;
  /** Takes the progress from the screen. */
  end(): void;
}

/** What a stage is called, and what it counts. */
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

/** Time between two texts: on a terminal, in one line that changes in place; elsewhere, in lines of their own. */
const REDRAW_MS = 100;
const LINE_MS = 3000;

interface Timed extends Progress {
  /** Of the times before that the stage began. */
  readonly earlier: number;
  readonly startedMs: number;
  readonly atMs: number;
}

export function createDisplay({ write, report, columns, elapsedMs }: DisplayOptions): Display {
  const stages = new Map<StageName, Timed>();
  const line = createStatusLine({ write, columns });
  const everyMs = columns === undefined ? LINE_MS : REDRAW_MS;
  let lastMs = elapsedMs();
  return {
    onProgress: (progress) => {
      const nowMs = elapsedMs();
      const state = timed(stages, progress, nowMs);
      if (nowMs - lastMs < everyMs) return;
      lastMs = nowMs;
      const text = `${STAGES[state.stage][0]}: ${details(state)}`;
      if (columns === undefined) report(text);
      else line.tell(text);
    },
    log: line.log,
    end: line.clear,
  };
}

/** Shows no progress, and the log all the same. */
export function quietDisplay(write: DisplayOptions["write"]): Display {
  return { onProgress: () => {}, log: write, end: () => {} };
}

/**
 * One line of a terminal that says what a command is at; it goes when the command has its answer. `log` writes lines above
 * it. Tells nothing where the output is none whose cursor can move.
 */
export function createStatusLine({ write, columns }: Pick<DisplayOptions, "write" | "columns">) {
  if (columns === undefined) return { tell: (_: string) => {}, log: write, clear: () => {} };
  let told = "";
  const draw = (above: string) => write(`\r\u001b[K${above}${told}`);
  const tell = (text: string) => {
    told = truncate(printableLine(text), columns() - 1);
    draw("");
  };
  return { tell, log: draw, clear: () => tell("") };
}

function timed(known: Map<StageName, Timed>, progress: Progress, nowMs: number): Timed {
  const before = known.get(progress.stage);
  // A stage that begins anew, such as a further pass, counts from its own beginning.
  const isAnew = before !== undefined && progress.done <= before.done && before.done === before.total;
  const startedMs = before === undefined || progress.done < before.done ? nowMs : before.startedMs;
  const earlier = (before?.earlier ?? 0) + (isAnew && progress.stage === "items" ? before.done : 0);
  const state = { ...progress, earlier, startedMs, atMs: nowMs };
  known.set(progress.stage, state);
  return state;
}

function details(state: Timed): string {
  const { stage, done, total, earlier, items, bytes, startedMs, atMs, perSecond } = state;
  if (stage === "publish") return done === total ? "done" : "verifying the files";
  // Each target counts in units of its own.
  if (stage === "deliver") return `${total ? Math.floor((100 * done) / total) : 0} %`;
  const seconds = (atMs - startedMs) / 1000;
  const parts = [
    `${count(earlier + done)}${total === undefined ? "" : ` of ${count(earlier + total)}`} ${STAGES[stage][1]}`.trimEnd(),
  ];
  // Near the beginning, so that a narrow terminal shows it.
  if (total !== undefined && done > 0 && done < total && seconds >= 1) {
    // Pages and items are a request each.
    parts.push(`${duration((total - done) / (perSecond ?? done / seconds))} left`);
  }
  if (stage === "dynamic" || stage === "full" || stage === "basic") {
    parts.push(`${count(items)} items`);
    if (seconds >= 1)
      parts.push(`${count(Math.round(items / seconds))} items/s`, `${megabytes(bytes / seconds)}/s`);
  }
  if (perSecond != null) parts.push(`held to ${perSecond.toPrecision(2)} requests/s by the service`);
  return parts.join(", ");
}
