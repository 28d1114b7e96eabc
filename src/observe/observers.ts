/** Everybody who observes a run. Whatever goes wrong with one is a warning, and the run goes on. */
import { type Clock, withGrace } from "../common/clock.ts";
import type { WarehouseError } from "../common/errors.ts";
import { clauseOf } from "../common/printable.ts";
import { metricsFileObserver } from "./metrics-file.ts";
import type { EndedRun, Observer } from "./observer.ts";
import type { RunOutcome } from "./outcome.ts";
import type { RunSummary } from "./run-summary.ts";
import type { ObserveSettings } from "./settings.ts";

/** How long each observer may take to be told of the start, and of the end. */
const TELL_MS = 10_000;

export interface Observed {
  readonly settings: ObserveSettings;
  readonly warehouse: string;
  readonly clock: Clock;
}

/** Opens those that the settings name. */
export function openObservers(observed: Observed): Observers {
  return observersOf(configuredObservers(observed, observed.clock.now()), observed, TELL_MS);
}

/** Those that the settings name. `startedMs`: milliseconds since 1970. */
export function configuredObservers(
  { settings, warehouse }: Pick<Observed, "settings" | "warehouse">,
  startedMs: number,
): readonly Observer[] {
  const { onFinish, metricsFile } = settings;
  return [
    metricsFile === null ? null : metricsFileObserver(metricsFile, { warehouse, startedMs }),
    onFinish && {
      name: "`onFinish`",
      onEnd: async ({ outcome }: EndedRun, signal: AbortSignal) => void (await onFinish(outcome, signal)),
    },
  ].filter((each) => each !== null);
}

/** What a run would warn of, without telling the observer anything; null: nothing is known against it. */
export async function problemOf(observer: Observer): Promise<string | null> {
  try {
    await within(TELL_MS, async () => observer.check?.());
    return null;
  } catch (thrown) {
    return sentenceOf(observer, thrown);
  }
}

function sentenceOf({ name }: Observer, thrown: unknown): string {
  return `${name} failed: ${clauseOf(thrown)}; the run does not depend on it.`;
}

export type Observers = ReturnType<typeof observersOf>;

export function observersOf(
  observers: readonly Observer[],
  { warehouse, clock }: Omit<Observed, "settings">,
  tellMs: number,
) {
  const warned = new Set<Observer>();
  const told: string[] = [];
  let starting: Promise<void> | undefined;
  let pipeline: string | null = null;
  let run: string | null = null;

  /** Once for each. */
  function warn(observer: Observer, thrown: unknown): void {
    if (warned.has(observer)) return;
    warned.add(observer);
    told.push(sentenceOf(observer, thrown));
  }

  async function tell(work: (observer: Observer, signal: AbortSignal) => Promise<void>): Promise<void> {
    const telling = observers.map((observer) =>
      within(tellMs, (signal) => work(observer, signal)).catch((thrown: unknown) => warn(observer, thrown)),
    );
    await Promise.all(telling);
  }

  async function ended(outcome: RunOutcome, current: EndedRun["current"]): Promise<readonly string[]> {
    await starting;
    const how = { outcome, current, endedMs: clock.now() };
    await tell((observer, signal) => observer.onEnd(how, signal));
    return told;
  }

  return {
    onAttempt(status: number | null, bytes: number): void {
      for (const observer of observers) observer.onAttempt?.(status, bytes);
    },

    /** The pipeline is loaded. */
    loaded(name: string): void {
      pipeline = name;
    },

    /** Tells of the start, beside the run. */
    started(name: string): void {
      run = name;
      starting = tell(async (observer) => observer.onStart?.());
    },

    /** Gives what went wrong with observers, a sentence each. */
    async published(summary: RunSummary, exitCode: number): Promise<readonly string[]> {
      return ended({ ok: true, exitCode, ...summary }, summary.current);
    },

    /** Likewise. What was refused since another run is under way is no end of a run: the other one tells of its own. */
    async failed(error: WarehouseError, current: RunSummary["current"] | null): Promise<readonly string[]> {
      const { code, message, exitCode } = error;
      if (code === "run.locked") return [];
      return ended({ ok: false, code, message, exitCode, warehouse, run, pipeline }, current);
    },
  };
}

/** Waits for the work, and no longer than so many milliseconds: then its signal is aborted, and it is left alone. */
async function within(milliseconds: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const late = new AbortController();
  const error = new Error(`it took longer than ${milliseconds / 1000} s`);
  const timer = setTimeout(() => late.abort(error), milliseconds);
  try {
    await withGrace(work(late.signal), late.signal, 0);
  } finally {
    clearTimeout(timer);
  }
}
