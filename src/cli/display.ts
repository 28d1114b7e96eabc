/** A run's progress: lines that change in place on a terminal, a line every few seconds elsewhere. */
import type { OnProgress, Progress, StageName } from "../run/progress.ts";

export interface DisplayOptions {
  readonly write: (text: string) => void;
  /** Whether the output is a terminal whose cursor can move. */
  readonly terminal: boolean;
  /** Milliseconds since any fixed moment. */
  readonly elapsedMs: () => number;
}

export interface Display {
  readonly onProgress: OnProgress;
  /** Leaves the last state on the screen. */
  end(): void;
}

const LABELS: Record<StageName, string> = {
  lookups: "lookups",
  dynamic: "dynamic listing",
  items: "single items",
  full: "full listing",
  transform: "transform",
  load: "tables",
  publish: "publish",
};

const UNITS: Record<StageName, string> = {
  lookups: "lookups",
  dynamic: "pages",
  items: "items",
  full: "pages",
  transform: "items",
  load: "tables",
  publish: "",
};

const REDRAW_MS = 100;
const LINE_MS = 3000;
const BAR = 24;

interface Timed extends Progress {
  readonly startedMs: number;
  readonly atMs: number;
}

export function createDisplay(options: DisplayOptions): Display {
  return options.terminal ? liveDisplay(options) : lineDisplay(options);
}

function timed(known: Map<StageName, Timed>, progress: Progress, nowMs: number): Timed {
  const startedMs = known.get(progress.stage)?.startedMs ?? nowMs;
  const state = { ...progress, startedMs, atMs: nowMs };
  known.set(progress.stage, state);
  return state;
}

function liveDisplay({ write, elapsedMs }: DisplayOptions): Display {
  const stages = new Map<StageName, Timed>();
  let drawn = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  const draw = () => {
    const lines = [...stages.values()].map(liveLine);
    write(`${drawn === 0 ? "" : `\u001b[${drawn}A`}${lines.map((line) => `\u001b[2K${line}\n`).join("")}`);
    drawn = lines.length;
  };
  return {
    onProgress: (progress) => {
      const nowMs = elapsedMs();
      const fresh = !stages.has(progress.stage);
      timed(stages, progress, nowMs);
      if (!fresh && nowMs - lastMs < REDRAW_MS) return;
      lastMs = nowMs;
      draw();
    },
    end: () => {
      if (stages.size > 0) draw();
    },
  };
}

function lineDisplay({ write, elapsedMs }: DisplayOptions): Display {
  const stages = new Map<StageName, Timed>();
  let lastMs = elapsedMs();
  return {
    onProgress: (progress) => {
      const nowMs = elapsedMs();
      const state = timed(stages, progress, nowMs);
      if (nowMs - lastMs < LINE_MS) return;
      lastMs = nowMs;
      write(`${line(state)}\n`);
    },
    end: () => {},
  };
}

function liveLine(state: Timed): string {
  const { total, done } = state;
  const share = total === undefined || total === 0 ? 0 : Math.min(1, done / total);
  const filled = Math.round(share * BAR);
  return `${LABELS[state.stage].padEnd(16)} ${"█".repeat(filled)}${"░".repeat(BAR - filled)} ${details(state)}`;
}

function line(state: Timed): string {
  return `${LABELS[state.stage]}: ${details(state)}`;
}

function details(state: Timed): string {
  const { stage, done, total, items, bytes, startedMs, atMs } = state;
  const seconds = (atMs - startedMs) / 1000;
  const parts = [
    `${count(done)}${total === undefined ? "" : ` of ${count(total)}`} ${UNITS[stage]}`.trimEnd(),
  ];
  if (stage === "dynamic" || stage === "full") {
    parts.push(`${count(items)} items`);
    if (seconds >= 1)
      parts.push(`${count(Math.round(items / seconds))} items/s`, `${megabytes(bytes / seconds)}/s`);
  }
  if (total !== undefined && done > 0 && done < total && seconds >= 1) {
    parts.push(`${duration(((total - done) * seconds) / done)} left`);
  }
  return parts.join(", ");
}

/** `1,234`. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** `12.3 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** `42 s`, `3 min 20 s`, `1 h 5 min`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${seconds < 10 ? seconds.toFixed(1) : whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
