/** The run of one instance in a process of its own, so that whatever it does harms no other. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { parseIfJson } from "../common/json.ts";
import type { Log, LogFields } from "../common/log.ts";
import { isObject } from "../common/objects.ts";
import { MemoryLimit } from "../common/process/memory-limit.ts";
import type { Fleet, FleetInstance } from "./fleet.ts";

export interface RunEnd {
  /** Null: a signal ended the process. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it printed: the summary, or how it failed. */
  readonly output: unknown;
  /** The last line that it wrote beside its log, such as why Node gave up. */
  readonly lastLine: string;
  /** Megabytes that it took when it was ended for that; null: it was not. */
  readonly tookMb: number | null;
}

const WATCH_MS = 1000;

interface RunProcessOptions {
  /** Path of the command line's entry. */
  readonly entry: string;
  readonly fleet: Fleet;
  readonly instance: FleetInstance;
  /** Since when runs before found that its service answers nobody; null: it is not known to be so. */
  readonly outSince: Date | null;
  /** Takes the log of the run, each line with the instance. */
  readonly log: Log;
}

/**
 * Starts a run. Its process has a group of its own, so that a signal from a terminal reaches it through this one alone,
 * and a channel, whose end tells it to end too where this one was killed.
 */
export function startRun({ entry, fleet, instance, outSince, log }: RunProcessOptions) {
  const { name, memoryMb } = instance;
  const run = ["run", "--instance", name, "--fleet", fleet.path, "--json", "--log-format", "json"];
  if (outSince !== null) run.push("--out-since", outSince.toISOString());
  const child = spawn(process.execPath, [`--max-old-space-size=${memoryMb}`, entry, ...run], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true,
  });
  return {
    ended: endOf(child, instance, log),
    /** SIGTERM: the run ends as it does by itself. SIGKILL: at once. */
    stop: (signal: "SIGTERM" | "SIGKILL") => child.kill(signal),
  };
}

async function endOf(child: ChildProcess, { name, memoryMb }: FleetInstance, log: Log): Promise<RunEnd> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new TypeError("both are pipes");
  using memory = new MemoryLimit(child, { limitMb: memoryMb, everyMs: WATCH_MS });
  const ended = once(child, "close");
  const [, printed, lastLine] = await Promise.all([ended, text(stdout), relay(stderr, name, log)]);
  const { exitCode, signalCode: signal } = child;
  // What is no JSON, where the process was ended while it wrote, says nothing.
  return { exitCode, signal, output: parseIfJson(printed), lastLine, tookMb: memory.tookMb };
}

/** Passes the log on, with the instance; gives the last line that is none of it. */
async function relay(stream: Readable, instance: string, log: Log): Promise<string> {
  let last = "";
  for await (const line of createInterface({ input: stream })) {
    const entry = parseIfJson(line);
    if (isObject(entry) && typeof entry.msg === "string") {
      const { level } = entry;
      const write = level === "info" || level === "error" ? log[level] : log.warn;
      write(entry.msg, { ...(entry as LogFields), instance });
    } else if (line.trim() !== "") {
      last = line.trim();
      log.warn(last, { instance });
    }
  }
  return last;
}
