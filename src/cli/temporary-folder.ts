/** Temporary folders of commands, and interruption of the statements that run in them. */
import { addAbortListener } from "node:events";
import { withGrace } from "../common/clock.ts";
import { asWarehouseError, WarehouseError } from "../common/errors.ts";
import { inTemporaryFolder } from "../common/temporary-folder.ts";
import { interruptStatements } from "../storage/database.ts";
import { StopSignals } from "./command.ts";

/** Time for interrupted statements to end and release their files. */
const GRACE_MS = 2000;
/** Interval of interrupts, because work may go on with another statement. */
const INTERRUPT_INTERVAL_MS = 50;

/**
 * Runs `use` with a temporary folder. SIGINT, SIGTERM and `limit` interrupt its statements; then this throws the signal's
 * reason, or `process.killed` if the work goes on, after which the process must kill itself. Also throws the errors of
 * {@link inTemporaryFolder}.
 */
export async function withTemporaryFolder<T>(
  purpose: string,
  use: (directory: string, signal: AbortSignal) => Promise<T>,
  limit?: AbortSignal,
): Promise<T> {
  // Before the folder is made, so that no signal comes in between.
  using stop = new StopSignals("the question was not answered");
  const signal = limit === undefined ? stop.signal : AbortSignal.any([stop.signal, limit]);
  const interrupting = interruptStatementsOn(signal);
  return await inTemporaryFolder(purpose, async (directory) => {
    // Interrupts go on when nobody waits any more, because a process cannot end before its statements.
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

/** Interrupts running and following statements once the signal is aborted. */
export function interruptStatementsOn(signal: AbortSignal): Disposable {
  let every: NodeJS.Timeout | undefined;
  const ending = addAbortListener(signal, () => {
    interruptStatements();
    every = setInterval(interruptStatements, INTERRUPT_INTERVAL_MS);
  });
  return {
    [Symbol.dispose]: () => {
      ending[Symbol.dispose]();
      clearInterval(every);
    },
  };
}
