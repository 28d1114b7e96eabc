/**
 * Many calls of the command line in one process, each through `main` as the program's entry makes it: 90 processes would
 * take a minute. As a program, reads the calls as JSON from standard input and answers with how each ended.
 */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { main } from "../../src/cli/program.ts";
import { COMPILE_CACHE } from "../compile-cache.ts";

const outcome = z.object({ code: z.int(), stdout: z.string(), stderr: z.string() });
export type CallOutcome = z.output<typeof outcome>;

export type Call = readonly string[];

/** Makes the calls in a process of their own, one after the other, with no variables but those that are given. */
export async function callAll(
  calls: readonly Call[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<CallOutcome[]> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    cwd,
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(calls));
  return z.array(outcome).parse(JSON.parse(await text(child.stdout)));
}

/** Runs `use`, and answers with what was written to a stream meanwhile. */
async function written(stream: NodeJS.WriteStream, use: () => Promise<void>): Promise<string> {
  const original = stream.write;
  let all = "";
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    all += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    const done = rest.at(-1);
    if (typeof done === "function") process.nextTick(() => done());
    return true;
  };
  try {
    await use();
  } finally {
    stream.write = original;
  }
  return all;
}

async function call(args: Call): Promise<CallOutcome> {
  let code = -1;
  let stderr = "";
  const stdout = await written(process.stdout, async () => {
    stderr = await written(process.stderr, async () => {
      code = await main(["node", "content-warehouse", ...args]);
    });
  });
  process.exitCode = 0;
  return { code, stdout, stderr };
}

if (import.meta.main) {
  // Each call adds a listener to them.
  process.stdout.setMaxListeners(0);
  process.stderr.setMaxListeners(0);
  const calls = z.array(z.array(z.string())).parse(JSON.parse(await text(process.stdin)));
  const outcomes: CallOutcome[] = [];
  for (const args of calls) outcomes.push(await call(args));
  process.stdout.write(JSON.stringify(outcomes));
}
