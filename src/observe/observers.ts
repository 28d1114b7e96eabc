/** Tells all observers of a run what happens. If one fails, the run logs a warning and goes on. */
import { type Clock, withGrace } from "../common/clock.ts";
import type { WarehouseError } from "../common/errors.ts";
import { clauseOf } from "../common/printable.ts";
import { metricsFileObserver } from "./metrics-file.ts";
import type { Observer, ObserveSettings, RunEnd, RunOutcome } from "./outcome.ts";
import type { RunSummary } from "./run-summary.ts";

/** Longest time that an observer may take for the start, and for the end. */
const OBSERVER_MS = 10_000;

export type RunObservers = ReturnType<typeof observeWith>;

interface ObservedRun {
  readonly warehouse: string;
  readonly clock: Clock;
}

/** The observers that the settings name. */
export function createObservers(
  { onFinish, metricsFile }: ObserveSettings,
  { warehouse, clock }: ObservedRun,
): readonly Observer[] {
  return [
    metricsFile === null ? null : metricsFileObserver(metricsFile, { warehouse, startedMs: clock.now() }),
    onFinish && {
      name: "`onFinish`",
      onEnd: async ({ outcome }: RunEnd, signal: AbortSignal) => void (await onFinish(outcome, signal)),
    },
  ].filter((each) => each !== null);
}

/** `published` and `failed` return the warnings, one for each observer. */
export function observeWith(
  observers: readonly Observer[],
  { warehouse, clock }: ObservedRun,
  limitMs = OBSERVER_MS,
) {
  const warnings = new Map<Observer, string>();
  let starting: Promise<void> | undefined;
  let pipeline: string | null = null;
  let run: string | null = null;

  async function tellAll(
    work: (observer: Observer, signal: AbortSignal) => Promise<void> | undefined,
  ): Promise<void> {
    const telling = observers.map((observer) =>
      withTimeLimit(limitMs, async (signal) => work(observer, signal)).catch((thrown: unknown) => {
        const sentence = `${observer.name} failed: ${clauseOf(thrown)}; the run does not depend on it.`;
        if (!warnings.has(observer)) warnings.set(observer, sentence);
      }),
    );
    await Promise.all(telling);
  }

  async function ended(outcome: RunOutcome, current: RunEnd["current"]): Promise<readonly string[]> {
    await starting;
    const end = { outcome, current, endedMs: clock.now() };
    await tellAll((observer, signal) => observer.onEnd(end, signal));
    return [...warnings.values()];
  }

  return {
    onAttempt(status: number | null, bytes: number): void {
      for (const observer of observers) observer.onAttempt?.(status, bytes);
    },

    loaded(name: string): void {
      pipeline = name;
    },

    /** The run does not wait for observers to take its start. */
    started(name: string): void {
      run = name;
      starting = tellAll((observer) => observer.onStart?.());
    },

    /** What a run would warn of, by observer, found without telling the observers anything. */
    async problems(): Promise<readonly (readonly [observer: string, problem: string | null])[]> {
      await tellAll((observer) => observer.check?.());
      return observers.map((observer) => [observer.name, warnings.get(observer) ?? null]);
    },

    async published(summary: RunSummary, exitCode: number): Promise<readonly string[]> {
      return ended({ ok: true, exitCode, ...summary }, summary.current);
    },

    /** A run that is refused because another one is under way is not an end: the other one reports its own. */
    async failed(error: WarehouseError, current: RunSummary["current"] | null): Promise<readonly string[]> {
      const { code, message, exitCode } = error;
      if (code === "run.locked") return [];
      return ended({ ok: false, code, message, exitCode, warehouse, run, pipeline }, current);
    },
  };
}

/** Waits for the work at most so long; then its signal is aborted and it is left alone. */
async function withTimeLimit(limitMs: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const late = new AbortController();
  const error = new Error(`it took longer than ${limitMs / 1000} s`);
  const timer = setTimeout(() => late.abort(error), limitMs);
  try {
    await withGrace(work(late.signal), late.signal, 0);
  } finally {
    clearTimeout(timer);
  }
}
