import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { packagePath } from "../../src/common/package-root.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";

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
  /** Told of the process when it begins. */
  readonly begun?: (child: ChildProcess) => void;
}

/** The program in a process of its own, with none of its variables set but those that are given. */
export async function program(args: readonly string[], setting: Setting = {}): Promise<Outcome> {
  const { env = {}, cwd = tmpdir(), node = [], begun } = setting;
  const child = spawn(process.execPath, [...node, packagePath("src/cli/main.ts"), ...args], {
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  begun?.(child);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}
