import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { packagePath } from "../../src/common/package-root.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";
import { CANARY } from "../run/canary.ts";

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Setting {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Arguments for Node itself. */
  readonly node?: readonly string[];
  /** What a shell does before it becomes the program. */
  readonly shell?: string;
  readonly stdio?: StdioOptions;
  /** Told of the process when it begins. */
  readonly begun?: (child: ChildProcess) => void;
  /** Takes standard output, which is not kept then. */
  readonly onStdout?: (text: string) => void;
}

export interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has written so far. */
  readonly said: Readonly<Record<"stdout" | "stderr", string>>;
  /** Resolves once nobody has its outputs any more. */
  readonly ended: Promise<Outcome & { readonly signal: NodeJS.Signals | null }>;
}

/** The program in a process of its own, with none of its variables set but those that are given. */
export async function program(args: readonly string[], setting: Setting = {}): Promise<Outcome> {
  const { code, stdout, stderr } = await start(args, setting).ended;
  return { code, stdout, stderr };
}

/** The same, as it begins. */
export function start(args: readonly string[], setting: Setting = {}): Started {
  const { env = {}, cwd = tmpdir(), node = [], shell = "" } = setting;
  const command = [process.execPath, ...node, packagePath("src/cli/main.ts"), ...args];
  const [first = "", ...rest] = shell === "" ? command : ["sh", "-c", `${shell} exec "$@"`, "sh", ...command];
  const child = spawn(first, rest, {
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
    cwd,
    stdio: setting.stdio ?? ["ignore", "pipe", "pipe"],
  });
  setting.begun?.(child);
  const said = { stdout: "", stderr: "" };
  const keep = (text: string) => {
    said.stdout += text;
  };
  child.stdout?.setEncoding("utf8").on("data", setting.onStdout ?? keep);
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    said.stderr += text;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, ...said }));
  return { child, pid: child.pid ?? 0, said, ended };
}

interface RunSetting extends Omit<Setting, "env"> {
  /** Path of its file. */
  readonly pipeline?: string;
  readonly flags?: readonly string[];
}

/** `run`, of `small` unless told otherwise, against a service. */
export function startRun(
  { url }: { readonly url: string },
  out: string,
  { pipeline = packagePath("test/run/small-pipeline.ts"), flags = [], ...setting }: RunSetting = {},
): Started {
  const env = { CONTENT_API_URL: url, CONTENT_API_TOKEN: CANARY };
  return start(["run", pipeline, "--warehouse", out, ...flags], { ...setting, env });
}
