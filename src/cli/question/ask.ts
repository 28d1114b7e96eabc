/** Has a question answered by a process of its own, which is ended at its time and at its memory. */
import type { ChildProcess } from "node:child_process";
import { addAbortListener, once } from "node:events";
import { pipeline } from "node:stream/promises";
import { WarehouseError } from "../../common/errors.ts";
import { duration } from "../../common/figures.ts";
import { MemoryLimit } from "./memory-limit.ts";
import { takeProcess } from "./spare.ts";
import { type Ask, type QuestionLimits, type Task, taskEnd } from "./work.ts";

const MEASURE_EVERY_MS = 50;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * An answer for this process's own standard output is written there by the other one. Throws what the answer failed with,
 * and `config.sql` where the process was ended at a limit.
 */
export const askProcess: Ask = async (work, { limits, out, temporaryDirectory, signal }) => {
  signal.throwIfAborted();
  const child = takeProcess(out === process.stdout ? "inherit" : "pipe");
  const closed = once(child, "close");
  const answered = new Promise<unknown>((resolve) => {
    child.once("message", resolve).once("close", () => resolve(undefined));
  });
  using memory = new MemoryLimit(child, { limitMb: limits.maxMemoryMb, everyMs: MEASURE_EVERY_MS });
  let isOver = false;
  const end = () => {
    isOver = true;
    child.kill("SIGKILL");
  };
  using _time = setTimeout(end, Math.min(limits.maxSeconds * 1000, LONGEST_TIMER_MS));
  using _stopping = addAbortListener(signal, () => child.kill("SIGKILL"));
  try {
    // One that is gone takes no message: its end says so.
    child.send({ work, temporaryDirectory } satisfies Task, () => {});
    const relayed = child.stdout === null ? undefined : pipeline(child.stdout, out, { end: false });
    await Promise.all([closed, relayed]);
  } finally {
    child.kill("SIGKILL");
  }
  signal.throwIfAborted();
  assertWithin(limits, { tookMb: memory.tookMb, isOver });
  assertAnswered(await answered, child);
};

function assertWithin(
  { maxSeconds, maxMemoryMb }: QuestionLimits,
  { tookMb, isOver }: { readonly tookMb: number | null; readonly isOver: boolean },
): void {
  if (tookMb !== null) {
    throw ended(
      `took ${Math.round(tookMb)} MB of memory, more than the ${maxMemoryMb} MB that it may,`,
      "memory",
    );
  }
  if (isOver) throw ended(`took longer than ${duration(maxSeconds)}`, "seconds");
}

function ended(why: string, what: "memory" | "seconds"): WarehouseError {
  return new WarehouseError(
    "config.sql",
    `The question ${why} and was ended; ask for less. --max-${what} sets the limit.`,
  );
}

function assertAnswered(message: unknown, { signalCode, exitCode }: ChildProcess): void {
  if (message === undefined) {
    const how = signalCode ?? `exit code ${exitCode}`;
    throw new WarehouseError(
      "internal",
      `The process that answered the question ended (${how}); if the machine has no memory left, ask for less.`,
    );
  }
  const end = taskEnd.parse(message);
  if (end.failed) throw new WarehouseError(end.code, end.message, { cause: end.details });
}
