/** Faults in system calls, by strace: one at a time, at the places that are named. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { packagePath } from "../../src/common/package-root.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";

/** Why faults cannot be put into system calls here; false where they can. */
export const NO_STRACE: string | false = whyNot();

function whyNot(): string | false {
  const { status, error } = spawnSync("strace", ["-f", "-qq", "--seccomp-bpf", "-e", "trace=fsync", "true"]);
  if (error !== undefined) return "strace is not installed (apt-get install strace)";
  return status === 0 ? false : "strace may not trace processes here";
}

export type Fault = "EIO" | "ENOSPC" | "KILL";

export interface Injection {
  readonly call: string;
  readonly fault: Fault;
  /** The fault comes at this call of its kind, from 1, of each thread; file work is done by one. */
  readonly at: number;
}

export type Traced = Awaited<ReturnType<typeof traced>>;

/**
 * Runs a program below the package under strace. Only `calls` that have to do with one of the `paths` are traced, into the
 * file `log`; the result has their lines, and `met` whether the fault came.
 */
export async function traced(
  tracing: {
    readonly program: readonly [string, ...string[]];
    readonly calls: readonly string[];
    readonly paths: readonly string[];
    readonly log: string;
  },
  injection?: Injection,
) {
  const [file, ...args] = tracing.program;
  const child = spawn(
    "strace",
    [
      ...["-f", "-y", "-qq", "-s", "300", "-o", tracing.log],
      // Makes calls that are not traced cheap; strace 6.1 loses signals with it.
      ...(injection?.fault === "KILL" ? [] : ["--seccomp-bpf"]),
      ...["-e", `trace=${tracing.calls.join(",")}`],
      ...(injection === undefined ? [] : ["-e", injected(injection)]),
      ...tracing.paths.flatMap((path) => ["-P", path]),
      ...[process.execPath, packagePath(file), ...args],
    ],
    // One thread does the work on files, so that its calls can be counted.
    {
      env: { PATH: process.env.PATH, ...COMPILE_CACHE, UV_THREADPOOL_SIZE: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const [code, signal] = await once(child, "close");
  const calls = (await readFile(tracing.log, "utf8")).split("\n").filter((line) => line !== "");
  const killed = signal === "SIGKILL";
  const met = killed || calls.some((line) => line.includes("(INJECTED)"));
  return { code, killed, stdout, stderr, calls, met };
}

function injected({ call, fault, at }: Injection): string {
  const what = fault === "KILL" ? "signal=KILL" : `error=${fault}`;
  return `inject=${call}:${what}:when=${at}`;
}

/** What a trace did and to which path: `fsync /out/runs`, in the order of the calls; failed ones left out. */
export function deeds(calls: readonly string[]): string[] {
  return calls.flatMap((line) => {
    const [, call, rest = ""] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? [];
    if (call === undefined || / = -1 /.test(rest)) return [];
    const named = [...rest.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, path = ""]) => path);
    const opened = /^\d+<([^>]*)>/.exec(rest)?.[1];
    return [`${call} ${(opened === undefined ? named : [opened]).join(" -> ")}`];
  });
}
