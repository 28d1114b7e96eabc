import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { packagePath } from "../../src/common/package-root.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";

/** A process of the package's own, under way. */
export interface Started {
  readonly child: ChildProcess;
  /** It has written something. */
  readonly ready: Promise<void>;
  /** All that it has written so far. */
  readonly output: () => string;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** `file`: relative to the package. */
export function start(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Started {
  const child = spawn(process.execPath, [packagePath(file), ...args], {
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  let begun = () => {};
  const ready = new Promise<void>((resolve) => {
    begun = resolve;
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
      begun();
    });
  }
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal }));
  return { child, ready, output: () => output, ended };
}
