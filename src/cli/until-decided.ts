/** Runs that are replaced: a signal ends the work until it is decided; from then on it is carried out. */
import type { OnReplaceStep } from "../warehouse/replacement/replace.ts";
import { interruptStatementsOn } from "./temporary-folder.ts";

/** Throws the signal's reason, and what the work throws. */
export async function untilDecided<Result>(
  signal: AbortSignal,
  work: (onStep: OnReplaceStep) => Promise<Result>,
): Promise<Result> {
  using _interrupting = interruptStatementsOn(signal);
  let decided = false;
  const onStep: OnReplaceStep = ({ kind }) => {
    if (!decided) signal.throwIfAborted();
    decided ||= kind === "commit";
  };
  try {
    return await work(onStep);
  } catch (thrown) {
    if (!decided) signal.throwIfAborted();
    throw thrown;
  }
}
