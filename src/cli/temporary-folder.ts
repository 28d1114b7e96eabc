import { addAbortListener } from "node:events";
import { rm } from "node:fs/promises";
import { withGrace } from "../common/clock.ts";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { makeTemporaryFolder } from "../common/temporary-folder.ts";
import { interruptStatements } from "../storage/duckdb.ts";
import { StopSignals } from "./command.ts";

/** Ended statements release what they hold; what has not ended then is given up. */
const GRACE_MS = 2000;
/** Statements that follow the ended ones end, too. */
const INTERRUPT_EVERY_MS = 50;

/**
 * Makes a folder for a question, and removes it afterwards. SIGINT, SIGTERM and `limit` interrupt the statements under
 * way, and then it throws their reason, whatever came of the work; as `process.killed`, if the work goes on: then the
 * process has to be killed. Throws what {@link inTemporaryFolder} does, too.
 */
export async function withTemporaryFolder<T>(
  purpose: string,
  use: (directory: string, signal: AbortSignal) => Promise<T>,
  limit?: AbortSignal,
): Promise<T> {
  // Before there is a folder: else a signal could come between the two.
  using stop = new StopSignals("the question was not answered");
  const signal = limit === undefined ? stop.signal : AbortSignal.any([stop.signal, limit]);
  const interrupting = interruptStatementsOn(signal);
  return await inTemporaryFolder(purpose, async (directory) => {
    // Also while nobody waits for it any more: a process does not end before its statements.
    let isUnderWay = true;
    const work = use(directory, signal).finally(() => {
      isUnderWay = false;
      interrupting[Symbol.dispose]();
    });
    const [ended] = await Promise.allSettled([withGrace(work, signal, GRACE_MS)]);
    if (signal.aborted && isUnderWay)
      throw new WarehouseError("process.killed", asWarehouseError(signal.reason).message);
    signal.throwIfAborted();
    if (ended.status === "rejected") throw ended.reason;
    return ended.value;
  });
}

/**
 * Makes a folder for what a command needs while it works, and removes it afterwards. Throws `config.output` where none
 * can be made, and `disk.io` where the disk refuses one.
 */
export async function inTemporaryFolder<T>(
  purpose: string,
  use: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await makeTemporaryFolder(purpose);
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Ends the statements under way once the signal is aborted, and those that follow them. */
export function interruptStatementsOn(signal: AbortSignal): Disposable {
  let every: NodeJS.Timeout | undefined;
  const ending = addAbortListener(signal, () => {
    interruptStatements();
    every = setInterval(interruptStatements, INTERRUPT_EVERY_MS);
  });
  return {
    [Symbol.dispose]: () => {
      ending[Symbol.dispose]();
      clearInterval(every);
    },
  };
}
