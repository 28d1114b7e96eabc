/** The programs of the bench, each in a process of its own that prints one line of JSON. */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Program {
  readonly script: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node. */
  readonly options?: readonly string[];
}

/** Runs a program to its end. */
export async function run<Result>(program: Program): Promise<Result> {
  const child = start(program);
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const line = await firstLine(child);
  const code = await ended;
  if (code !== 0) throw new Error(`${program.script} ended with exit code ${code}`);
  return JSON.parse(line);
}

/** Runs a service for as long as it is used. */
export async function serving<Address, Result>(
  program: Program,
  use: (address: Address) => Promise<Result>,
): Promise<Result> {
  const child = start(program);
  try {
    return await use(JSON.parse(await firstLine(child)));
  } finally {
    child.kill("SIGKILL");
  }
}

function start({ script, args, env = {}, options = [] }: Program): ChildProcess {
  const path = fileURLToPath(new URL(script, import.meta.url));
  return spawn(process.execPath, [...options, path, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new TypeError("the process has no output");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error(`the process ended without a result (exit code ${child.exitCode})`);
}
