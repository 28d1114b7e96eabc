/** Processes for questions, one for each. One may wait for the next question: loading takes longer than most answers. */
import { type ChildProcess, fork } from "node:child_process";
import { dirname, extname } from "node:path";
import { fileURLToPath } from "node:url";

const MODULE = fileURLToPath(new URL(`./process${extname(import.meta.url)}`, import.meta.url));

/** Where an answer goes: to this process's own standard output, or to this process. */
export type AnswerTo = "inherit" | "pipe";

let waiting: { readonly child: ChildProcess; readonly to: AnswerTo } | undefined;

/** Starts a process for the next question, unless one waits already. It keeps this one from nothing, and ends with it. */
export function startSpare(to: AnswerTo): void {
  if (waiting?.to === to && isAlive(waiting.child)) return;
  const child = start(to);
  // Who takes it sees that it never began.
  child.once("error", () => {});
  for (const each of [child, child.channel, child.stdout]) unref(each);
  waiting = { child, to };
}

/** A process that has not been asked anything. */
export function takeProcess(to: AnswerTo): ChildProcess {
  const spare = waiting;
  if (spare?.to !== to) return start(to);
  waiting = undefined;
  if (!isAlive(spare.child)) return start(to);
  for (const each of [spare.child, spare.child.channel, spare.child.stdout]) ref(each);
  return spare.child;
}

function start(to: AnswerTo): ChildProcess {
  // The working directory may have been removed; who asks says why that is a fault.
  return fork(MODULE, { stdio: ["ignore", to, "inherit", "ipc"], execArgv: [], cwd: dirname(MODULE) });
}

function isAlive({ connected, exitCode, signalCode }: ChildProcess): boolean {
  return connected && exitCode === null && signalCode === null;
}

function ref(handle: object | null | undefined): void {
  if (handle && "ref" in handle && typeof handle.ref === "function") handle.ref();
}

function unref(handle: object | null | undefined): void {
  if (handle && "unref" in handle && typeof handle.unref === "function") handle.unref();
}
