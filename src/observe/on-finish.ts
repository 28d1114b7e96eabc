import { type Observer, ONLY_END } from "./observer.ts";
import type { OnFinish } from "./outcome.ts";

/** Calls the function of the configuration with how the run ended. */
export function onFinishObserver(onFinish: OnFinish): Observer {
  return {
    ...ONLY_END,
    name: "`onFinish`",
    onEnd: async ({ outcome }, signal) => {
      await onFinish(outcome, signal);
    },
  };
}
