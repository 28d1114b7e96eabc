/**
 * Traces and metrics by OpenTelemetry's API: a span for the run, for each of its stages, and for each request. Where they
 * go is decided by the process, which registers an SDK before (`node --import ./otel.mjs`); without one this is nothing.
 */
import type { Meter, Span } from "@opentelemetry/api";
import { withoutSamples } from "../audit/mapping/value-counts.ts";
import type { Log } from "../common/log.ts";
import { isObject } from "../common/objects.ts";
import type { RequestEnds, StageBegins, StageEnds } from "../common/run-events.ts";
import { VERSION } from "../common/version.ts";
import type { Observer } from "./observer.ts";

/** Under which the API keeps what a process registered, in all its versions 1: without it there is nothing to import. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
const SCOPE = "content-warehouse";

type Api = typeof import("@opentelemetry/api");

export async function openTelemetryObserver(startedMs: number, log: Log): Promise<Observer | null> {
  if (!(REGISTERED in globalThis)) return null;
  try {
    return tracing(await import("@opentelemetry/api"), startedMs);
  } catch {
    log.warn(
      "OpenTelemetry is set up in this process, but @opentelemetry/api cannot be imported, so nothing is traced; install it beside content-warehouse.",
    );
    return null;
  }
}

function tracing(api: Api, startedMs: number): Observer {
  const { ERROR } = api.SpanStatusCode;
  const tracer = api.trace.getTracer(SCOPE, VERSION);
  const runSpan = tracer.startSpan("content-warehouse run", { startTime: startedMs });
  const instruments = instrumentsOf(api.metrics.getMeter(SCOPE, VERSION));
  let stageSpan: Span | undefined;
  /** On every span. */
  let named: Readonly<Record<string, string>> = {};
  const below = (parent: Span) => api.trace.setSpan(api.context.active(), parent);

  function stageBegins({ stage, pass, atMs }: StageBegins): void {
    const attributes = { ...named, ...(pass !== null && { "content_warehouse.pass": pass }) };
    stageSpan = tracer.startSpan(stage, { startTime: atMs, attributes }, below(runSpan));
  }

  function stageEnds({ failed, atMs }: StageEnds): void {
    if (failed) stageSpan?.setStatus({ code: ERROR });
    stageSpan?.end(atMs);
    stageSpan = undefined;
  }

  function requestEnds(request: RequestEnds): void {
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
    const attributes = {
      ...named,
      ...common,
      "url.full": origin + path,
      "http.response.body.size": bytes,
      "content_warehouse.mode": mode,
      ...(page !== null && { "content_warehouse.page": page }),
    };
    const options = { kind: api.SpanKind.CLIENT, startTime: atMs - milliseconds, attributes };
    const span = tracer.startSpan(method, options, below(stageSpan ?? runSpan));
    if (problem !== undefined) span.setStatus({ code: ERROR });
    span.end(atMs);
    instruments.requests.record(milliseconds / 1000, common);
    instruments.received.add(bytes, { "content_warehouse.mode": mode });
  }

  return {
    name: "OpenTelemetry",
    onEvent: (event) => {
      if (event.event === "stage begins") stageBegins(event);
      else if (event.event === "stage ends") stageEnds(event);
      else requestEnds(event);
    },
    onStart: async ({ run, pipeline, instance }) => {
      named = { "content_warehouse.run": run, "content_warehouse.pipeline": pipeline };
      runSpan.updateName(`content-warehouse run ${pipeline}`);
      runSpan.setAttributes({ ...named, "content_warehouse.instance": instance });
    },
    onEnd: async ({ outcome, content, endedMs }) => {
      const verdict = { "content_warehouse.verdict": outcome.ok ? outcome.verdict : outcome.code };
      runSpan.setAttributes({ ...verdict, "process.exit.code": outcome.exitCode });
      if (outcome.ok) {
        runSpan.setAttribute("content_warehouse.items", outcome.accounting.loaded);
      } else {
        runSpan.setAttribute("error.type", outcome.code);
        runSpan.setStatus({ code: ERROR, message: outcome.message });
      }
      runSpan.end(endedMs);
      const { duration, items, rejects, withoutValue } = instruments;
      const { "content_warehouse.run": _run, ...about } = named;
      duration.record((endedMs - startedMs) / 1000, { ...about, ...verdict });
      if (content !== null) {
        items.record(outcome.accounting.loaded, about);
        rejects.record(outcome.accounting.rejected, about);
        const counts = outcome.mappedValues === null ? [] : withoutSamples(outcome.mappedValues);
        for (const { value, status, reception } of counts) {
          const of = { "content_warehouse.status": status, "content_warehouse.reception": reception };
          withoutValue.record(value, { ...about, ...of });
        }
      }
      await flushAll(api);
    },
  };
}

/** The process ends soon, and what waits in a batch would be lost. */
async function flushAll({ trace, metrics, ProxyTracerProvider }: Api): Promise<void> {
  const provider = trace.getTracerProvider();
  const traces = provider instanceof ProxyTracerProvider ? provider.getDelegate() : provider;
  await Promise.all([traces, metrics.getMeterProvider()].map(flush));
}

async function flush(provider: unknown): Promise<void> {
  if (isObject(provider) && typeof provider.forceFlush === "function") await provider.forceFlush();
}

/** As the conventions for HTTP have it: the status, or why there was none. */
function problemOf({ status, error }: RequestEnds): string | undefined {
  if (status === null) return error ?? "internal";
  return status >= 400 ? String(status) : undefined;
}

function instrumentsOf(meter: Meter) {
  const unit = (text: string, description: string) => ({ unit: text, description });
  return {
    requests: meter.createHistogram("http.client.request.duration", unit("s", "Duration of requests.")),
    received: meter.createCounter("content_warehouse.received", unit("By", "Bytes of answers.")),
    duration: meter.createHistogram("content_warehouse.run.duration", unit("s", "Duration of runs.")),
    items: meter.createGauge("content_warehouse.items", unit("{item}", "Items of the published run.")),
    rejects: meter.createGauge("content_warehouse.rejects", unit("{item}", "Rejected items of the run.")),
    withoutValue: meter.createGauge(
      "content_warehouse.values_without_external_value",
      unit("{value}", "Values without an external value."),
    ),
  };
}
