/** Spans and metrics of a run, as an SDK that this process has registered gets them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { metrics, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BatchSpanProcessor,
  InMemorySpanExporter,
  type ReadableSpan,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { failsWith } from "../failing.ts";
import { CANARY, exportFrom, temporaryFolder } from "../run/running.ts";
import { itemsOf, Scripted } from "../run/scripted.ts";

const spans = new InMemorySpanExporter();
const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
// A batch that is sent seldom: what comes of a run has been flushed.
const batch = new BatchSpanProcessor({ exporter: spans, scheduledDelayMillis: 600_000 });
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [batch] }));
const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 600_000 });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));

const milliseconds = ([seconds, nanos]: readonly [number, number]) => seconds * 1000 + nanos / 1e6;

/** Names of the spans below another, in the order in which they began. */
function below(all: readonly ReadableSpan[], parent: ReadableSpan): ReadableSpan[] {
  return all
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent.spanContext().spanId)
    .toSorted((a, b) => milliseconds(a.startTime) - milliseconds(b.startTime));
}

test("a run is a span, its stages are below it and the requests below these, and the metrics count them", async (t) => {
  spans.reset();
  const service = await Scripted.start(t, itemsOf(12));
  const out = join(await temporaryFolder(t), "warehouse");
  const { run, requests } = await exportFrom({ url: service.url, out });
  const all = spans.getFinishedSpans();
  const [root] = all.filter(({ parentSpanContext }) => parentSpanContext === undefined);
  assert.ok(root !== undefined);
  assert.equal(root.name, "content-warehouse run small");
  const stages = below(all, root);
  assert.deepEqual(
    stages.map(({ name, attributes }) => [name, attributes["content_warehouse.pass"]]),
    [
      ["lookups", undefined],
      ["dynamic", 1],
      ["items", 1],
      ["full", 2],
      ["lookups", undefined],
      ["transform", undefined],
      ["load", undefined],
      ["audit", undefined],
      ["load", undefined],
      // The checks, once the tests of the pipeline were asked of all other tables.
      ["load", undefined],
      ["report", undefined],
      ["publish", undefined],
    ],
  );
  const asked = stages.flatMap((stage) => below(all, stage));
  assert.equal(asked.length, requests);
  assert.equal(all.length, 1 + stages.length + asked.length);
  for (const span of all) assert.equal(span.attributes["content_warehouse.run"], run, span.name);
  for (const { kind, attributes } of asked) {
    assert.equal(kind, SpanKind.CLIENT);
    assert.equal(attributes["http.response.status_code"], 200);
    assert.ok(String(attributes["url.full"]).startsWith(service.url));
  }
  const pages = below(all, stages[1] ?? root).map(({ attributes }) => attributes["content_warehouse.page"]);
  assert.deepEqual(pages.toSorted(), [1, 2, 3]);
  assert.ok(!JSON.stringify(all.map(({ attributes, name }) => [name, attributes])).includes(CANARY));
  assert.equal(firstValueOf("content_warehouse.items"), 12);
  const durations = firstValueOf("http.client.request.duration");
  assert.ok(typeof durations === "object" && "count" in durations && durations.count === requests);
});

/** Of the first data point of a metric. */
function firstValueOf(name: string) {
  const scopes = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
  const found = scopes.flatMap((scope) => scope.metrics).find(({ descriptor }) => descriptor.name === name);
  return found?.dataPoints[0]?.value;
}

test("a run that fails is a span with its code, and so are the stage and the request that it failed in", async (t) => {
  spans.reset();
  const service = await Scripted.start(t, itemsOf(3));
  service.script = ({ mode }) => (mode === "full" ? { status: 401 } : undefined);
  const out = join(await temporaryFolder(t), "warehouse");
  const error = await failsWith("source.credentials", exportFrom({ url: service.url, out }));
  const failed = spans.getFinishedSpans().filter(({ status }) => status.code === SpanStatusCode.ERROR);
  assert.deepEqual(
    failed.map(({ name, attributes }) => [name, attributes["error.type"]]),
    [
      ["GET", "401"],
      ["full", undefined],
      ["content-warehouse run small", "source.credentials"],
    ],
  );
  assert.equal(failed.at(-1)?.status.message, error.message);
});
