/** Everybody who observes a run. Whatever goes wrong with one is a warning, and the run goes on. */
import { FailedTests } from "../audit/checks/test-results.ts";
import type { Clock } from "../common/clock.ts";
import { isOutage, type WarehouseError } from "../common/errors.ts";
import type { Log } from "../common/log.ts";
import { clauseOf } from "../common/printable.ts";
import type { RunEvent } from "../common/run-events.ts";
import { metricsFileObserver } from "./metrics-file.ts";
import {
  type EndedRun,
  type Observer,
  ONLY_END,
  type PublishedContent,
  type StartedRun,
} from "./observer.ts";
import { openLineageObserver } from "./open-lineage.ts";
import { openTelemetryObserver } from "./open-telemetry.ts";
import type { RunSummary } from "./run-summary.ts";
import type { ObserveSettings } from "./settings.ts";

/** How long each observer may take to be told of the start, and of the end. */
const TELL_MS = 10_000;

export interface Observed {
  readonly settings: ObserveSettings;
  readonly warehouse: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Since when runs before this one found that the service answers nobody, ISO 8601; null: it is not known to be so. */
  readonly outSince: string | null;
}

/** Opens those that the settings name, and OpenTelemetry where the process has it. Never throws. */
export async function openObservers(observed: Observed): Promise<Observers> {
  const { clock, log } = observed;
  const startedMs = clock.now();
  const tracing = await openTelemetryObserver(startedMs, log);
  const configured = configuredObservers(observed, startedMs);
  return observersOf(tracing === null ? configured : [tracing, ...configured], observed, TELL_MS);
}

/** Those that the settings name. `startedMs`: milliseconds since 1970. */
export function configuredObservers(
  { settings, warehouse }: Pick<Observed, "settings" | "warehouse">,
  startedMs: number,
): readonly Observer[] {
  const { onFinish, metricsFile, openLineage } = settings;
  return [
    openLineage && openLineageObserver(openLineage),
    metricsFile === null ? null : metricsFileObserver(metricsFile, { warehouse, startedMs }),
    onFinish && {
      ...ONLY_END,
      name: "`onFinish`",
      onEnd: async ({ outcome }: EndedRun, signal: AbortSignal) => void (await onFinish(outcome, signal)),
    },
  ].filter((each) => each !== null);
}

/** What a run would warn of, without telling the observer anything; null: nothing is known against it. */
export async function problemOf(observer: Observer, signal: AbortSignal): Promise<string | null> {
  try {
    await within(TELL_MS, async (late) => observer.check?.(AbortSignal.any([signal, late])));
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
  { warehouse, clock, outSince }: Omit<Observed, "settings" | "log">,
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

  async function ended(how: EndedRun): Promise<void> {
    await starting;
    await tell((observer, signal) => observer.onEnd(how, signal));
  }

  return {
    onEvent(event: RunEvent): void {
      for (const observer of observers) {
        try {
          observer.onEvent(event);
        } catch (thrown) {
          warn(observer, thrown);
        }
      }
    },

    /** The pipeline is loaded. */
    loaded(name: string): void {
      pipeline = name;
    },

    /** Tells of the start, beside the run. */
    started(started: StartedRun): void {
      run = started.run;
      starting = tell((observer, signal) => observer.onStart(started, signal));
    },

    /** Gives what went wrong with observers, a sentence each. */
    async published(
      summary: RunSummary,
      content: PublishedContent,
      exitCode: number,
    ): Promise<readonly string[]> {
      const outcome = { ok: true, exitCode, ...summary } as const;
      await ended({ outcome, content, current: summary.current, endedMs: clock.now() });
      return told;
    },

    /** Likewise. What was refused since another run is under way is no end of a run: the other one tells of its own. */
    async failed(error: WarehouseError, current: RunSummary["current"] | null): Promise<readonly string[]> {
      const { code, message, exitCode } = error;
      if (code === "run.locked") return [];
      const checks = error instanceof FailedTests ? error.checks : [];
      const outageSince = isOutage(error) ? outSince : null;
      const failure = { code, message, exitCode, outageSince };
      const outcome = { ok: false, ...failure, warehouse, run, pipeline } as const;
      await ended({ outcome, content: null, checks, current, endedMs: clock.now() });
      return told;
    },
  };
}

/** Waits for the work, and no longer than so many milliseconds: then its signal is aborted, and it is left alone. */
async function within(milliseconds: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`it took longer than ${milliseconds / 1000} s`);
    controller.abort(error);
    late.reject(error);
  }, milliseconds);
  try {
    await Promise.race([work(controller.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
