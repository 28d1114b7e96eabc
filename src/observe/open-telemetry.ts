/**
 * Traces and metrics by OpenTelemetry's API: a span for the run, for each of its stages, and for each request. Where they
 * go is decided by the process, which registers an SDK before (`node --import ./otel.mjs`); without one this is nothing.
 */
import type { Meter, Span, Tracer } from "@opentelemetry/api";
import type { Log } from "../common/log.ts";
import { isObject } from "../common/objects.ts";
import type { RequestEnds, RunEvent, StageBegins, StageEnds } from "../common/run-events.ts";
import { VERSION } from "../common/version.ts";
import type { EndedRun, Observer, StartedRun } from "./observer.ts";

/** Under which the API keeps what a process registered, in all its versions 1: without it there is nothing to import. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
const SCOPE = "content-warehouse";

type Api = typeof import("@opentelemetry/api");

export async function openTelemetryObserver(startedMs: number, log: Log): Promise<Observer | null> {
  if (!(REGISTERED in globalThis)) return null;
  try {
    return new OpenTelemetry(await import("@opentelemetry/api"), startedMs);
  } catch {
    log.warn(
      "OpenTelemetry is set up in this process, but @opentelemetry/api cannot be imported, so nothing is traced; install it beside content-warehouse.",
    );
    return null;
  }
}

class OpenTelemetry implements Observer {
  readonly name = "OpenTelemetry";
  readonly #api: Api;
  readonly #startedMs: number;
  readonly #tracer: Tracer;
  readonly #run: Span;
  readonly #instruments: Instruments;
  #stage: Span | undefined;
  /** On every span. */
  #attributes: Readonly<Record<string, string>> = {};

  constructor(api: Api, startedMs: number) {
    this.#api = api;
    this.#startedMs = startedMs;
    this.#tracer = api.trace.getTracer(SCOPE, VERSION);
    this.#run = this.#tracer.startSpan("content-warehouse run", { startTime: startedMs });
    this.#instruments = instrumentsOf(api.metrics.getMeter(SCOPE, VERSION));
  }

  async onStart({ run, pipeline, instance }: StartedRun): Promise<void> {
    this.#attributes = { "content_warehouse.run": run, "content_warehouse.pipeline": pipeline };
    this.#run.updateName(`content-warehouse run ${pipeline}`);
    this.#run.setAttributes({ ...this.#attributes, "content_warehouse.instance": instance });
  }

  onEvent(event: RunEvent): void {
    if (event.event === "stage begins") this.#stageBegins(event);
    else if (event.event === "stage ends") this.#stageEnds(event);
    else this.#requestEnds(event);
  }

  async onEnd({ outcome, content, endedMs }: EndedRun): Promise<void> {
    const verdict = outcome.ok ? outcome.verdict : outcome.code;
    const attributes = {
      "content_warehouse.verdict": verdict,
      "process.exit.code": outcome.exitCode,
      ...(outcome.ok && { "content_warehouse.items": outcome.accounting.loaded }),
    };
    this.#run.setAttributes(attributes);
    if (!outcome.ok) {
      this.#run.setAttribute("error.type", outcome.code);
      this.#run.setStatus({ code: this.#api.SpanStatusCode.ERROR, message: outcome.message });
    }
    this.#run.end(endedMs);
    const { duration, items, rejects, unmapped } = this.#instruments;
    const { "content_warehouse.run": _run, ...about } = this.#attributes;
    duration.record((endedMs - this.#startedMs) / 1000, { ...about, "content_warehouse.verdict": verdict });
    if (content !== null) {
      items.record(outcome.accounting.loaded, about);
      rejects.record(outcome.accounting.rejected, about);
      if (content.unmappedValues !== null) unmapped.record(content.unmappedValues, about);
    }
    await this.#flush();
  }

  #stageBegins({ stage, pass, atMs }: StageBegins): void {
    const attributes = { ...this.#attributes, ...(pass !== null && { "content_warehouse.pass": pass }) };
    this.#stage = this.#tracer.startSpan(stage, { startTime: atMs, attributes }, this.#below(this.#run));
  }

  #stageEnds({ failed, atMs }: StageEnds): void {
    if (failed) this.#stage?.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    this.#stage?.end(atMs);
    this.#stage = undefined;
  }

  #requestEnds(request: RequestEnds): void {
    const { SpanKind, SpanStatusCode } = this.#api;
    const { method, origin, path, mode, page, bytes, atMs, milliseconds } = request;
    const { hostname, port, protocol } = new URL(origin);
    const problem = problemOf(request);
    const common = {
      "http.request.method": method,
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      ...(request.status !== null && { "http.response.status_code": request.status }),
      ...(problem !== undefined && { "error.type": problem }),
    };
    const span = this.#tracer.startSpan(
      method,
      {
        kind: SpanKind.CLIENT,
        startTime: atMs - milliseconds,
        attributes: {
          ...this.#attributes,
          ...common,
          "url.full": origin + path,
          "http.response.body.size": bytes,
          "content_warehouse.mode": mode,
          ...(page !== null && { "content_warehouse.page": page }),
        },
      },
      this.#below(this.#stage ?? this.#run),
    );
    if (problem !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(atMs);
    this.#instruments.requests.record(milliseconds / 1000, common);
    this.#instruments.received.add(bytes, { "content_warehouse.mode": mode });
  }

  #below(parent: Span) {
    return this.#api.trace.setSpan(this.#api.context.active(), parent);
  }

  /** The process ends soon, and what waits in a batch would be lost. */
  async #flush(): Promise<void> {
    const { trace, metrics, ProxyTracerProvider } = this.#api;
    const provider = trace.getTracerProvider();
    const tracing = provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider;
    await Promise.all([tracing, metrics.getMeterProvider()].map(flush));
  }
}

async function flush(provider: unknown): Promise<void> {
  if (isObject(provider) && typeof provider.forceFlush === "function") await provider.forceFlush();
}

/** As the conventions for HTTP have it: the status, or why there was none. */
function problemOf({ status, error }: RequestEnds): string | undefined {
  if (status === null) return error ?? "internal";
  return status >= 400 ? String(status) : undefined;
}

type Instruments = ReturnType<typeof instrumentsOf>;

function instrumentsOf(meter: Meter) {
  const unit = (text: string, description: string) => ({ unit: text, description });
  return {
    requests: meter.createHistogram("http.client.request.duration", unit("s", "Duration of requests.")),
    received: meter.createCounter("content_warehouse.received", unit("By", "Bytes of answers.")),
    duration: meter.createHistogram("content_warehouse.run.duration", unit("s", "Duration of runs.")),
    items: meter.createGauge("content_warehouse.items", unit("{item}", "Items of the published run.")),
    rejects: meter.createGauge("content_warehouse.rejects", unit("{item}", "Rejected items of the run.")),
    unmapped: meter.createGauge(
      "content_warehouse.unmapped_values",
      unit("{value}", "Values without an external value."),
    ),
  };
}
