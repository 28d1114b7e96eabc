/**
 * A configuration that sends a span to an OpenTelemetry collector when a run has ended, as OTLP over HTTP with JSON. Its
 * times come from the manifest of the run; a run that failed is a span without duration, with the message.
 *
 *     $ OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 content-warehouse run nightly --config ./open-telemetry.mts
 */
import { randomBytes } from "node:crypto";
import { defineConfig, type RunOutcome } from "content-warehouse";

const STATUS_ERROR = 2;

function attributesOf(values: Record<string, string | number>) {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
  }));
}

function nanoseconds(instant: string): string {
  return `${Date.parse(instant)}000000`;
}

async function spanOf(outcome: RunOutcome) {
  const [traceId, spanId] = [16, 8].map((bytes) => randomBytes(bytes).toString("hex"));
  const span = { traceId, spanId, name: `content-warehouse run ${outcome.pipeline}` };
  if (!outcome.ok) {
    const now = nanoseconds(new Date().toISOString());
    const status = { code: STATUS_ERROR, message: outcome.message };
    const attributes = attributesOf({ "error.type": outcome.code });
    return { ...span, startTimeUnixNano: now, endTimeUnixNano: now, status, attributes };
  }
  const { run, verdict, found, items, endedAt } = outcome;
  const attributes = attributesOf({ run, verdict, requests: found.requests.count, items: items.loaded });
  return {
    ...span,
    startTimeUnixNano: nanoseconds(found.startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes,
  };
}

export default defineConfig({
  onFinish: async (outcome, signal) => {
    const resource = { attributes: attributesOf({ "service.name": "content-warehouse" }) };
    const scopeSpans = [{ spans: [await spanOf(outcome)] }];
    const response = await fetch(`${process.env.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
      signal,
    });
    if (!response.ok) throw new Error(`The collector answered with ${response.status}`);
  },
});
