/** Everybody who observes a run. Whatever goes wrong with one is a warning, and the run goes on. */
import type { Clock } from "../common/clock.ts";
import type { WarehouseError } from "../common/errors.ts";
import type { Log } from "../common/log.ts";
import { printable } from "../common/printable.ts";
import type { RunEvent } from "../common/run-events.ts";
import type { RunSummary } from "../run/summary.ts";
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
import { exitCodeOf, type OnFinish } from "./outcome.ts";
import type { ObserveSettings } from "./settings.ts";

/** How long each observer may take to be told of the start, and of the end. */
const TELL_MS = 10_000;

export interface Observed {
  readonly settings: ObserveSettings;
  readonly warehouse: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Opens those that the settings name, and OpenTelemetry where the process has it. Never throws. */
export async function openObservers(observed: Observed, tellMs: number = TELL_MS): Promise<Observers> {
  const { settings, warehouse, clock, log } = observed;
  const { onFinish, metricsFile, openLineage } = settings;
  const startedMs = clock.now();
  const observers = [
    await openTelemetryObserver(startedMs, log),
    openLineage && openLineageObserver(openLineage),
    metricsFile === null ? null : metricsFileObserver(metricsFile, { warehouse, startedMs }),
    onFinish && onFinishObserver(onFinish),
  ].filter((each) => each !== null);
  return new Observers(observers, observed, tellMs);
}

/** Calls the function of the configuration with how the run ended. */
function onFinishObserver(onFinish: OnFinish): Observer {
  const onEnd: Observer["onEnd"] = async ({ outcome }, signal) => {
    await onFinish(outcome, signal);
  };
  return { ...ONLY_END, name: "`onFinish`", onEnd };
}

export class Observers {
  readonly #observers: readonly Observer[];
  readonly #observed: Observed;
  readonly #tellMs: number;
  readonly #warned = new Set<Observer>();
  readonly #starting: Promise<unknown>[] = [];
  #pipeline: string | null = null;
  #run: string | null = null;

  constructor(observers: readonly Observer[], observed: Observed, tellMs: number) {
    this.#observers = observers;
    this.#observed = observed;
    this.#tellMs = tellMs;
  }

  /** Whether there are any: what only they want to know need not be found out. */
  get any(): boolean {
    return this.#observers.length > 0;
  }

  readonly onEvent = (event: RunEvent): void => {
    for (const observer of this.#observers) {
      try {
        observer.onEvent(event);
      } catch (thrown) {
        this.#warn(observer, thrown);
      }
    }
  };

  /** The pipeline is loaded. */
  loaded(pipeline: string): void {
    this.#pipeline = pipeline;
  }

  /** Tells of the start, beside the run. */
  started(run: StartedRun): void {
    this.#run = run.run;
    this.#starting.push(this.#tell((observer, signal) => observer.onStart(run, signal)));
  }

  async published(summary: RunSummary, content: PublishedContent): Promise<void> {
    const outcome = { ok: true, exitCode: exitCodeOf(summary), ...summary } as const;
    await this.#ended({ outcome, content, endedMs: this.#observed.clock.now() });
  }

  async failed({ code, message, exitCode }: WarehouseError): Promise<void> {
    const { warehouse, clock } = this.#observed;
    const known = { warehouse, run: this.#run, pipeline: this.#pipeline };
    const outcome = { ok: false, code, message, exitCode, ...known } as const;
    await this.#ended({ outcome, content: null, endedMs: clock.now() });
  }

  async #ended(ended: EndedRun): Promise<void> {
    await Promise.all(this.#starting);
    await this.#tell((observer, signal) => observer.onEnd(ended, signal));
  }

  async #tell(tell: (observer: Observer, signal: AbortSignal) => Promise<void>): Promise<void> {
    await Promise.all(
      this.#observers.map(async (observer) => {
        try {
          await within(this.#tellMs, (signal) => tell(observer, signal));
        } catch (thrown) {
          this.#warn(observer, thrown);
        }
      }),
    );
  }

  /** Once for each. */
  #warn(observer: Observer, thrown: unknown): void {
    if (this.#warned.has(observer)) return;
    this.#warned.add(observer);
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const reason = printable(why, 300).replace(/\.$/, "");
    this.#observed.log.warn(`${observer.name} failed: ${reason}; the run does not depend on it.`);
  }
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
