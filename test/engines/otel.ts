/** For `node --import`: an SDK that keeps spans in memory, and writes them to the file that SPANS_FILE names at the end. */
import { writeFileSync } from "node:fs";
import { trace } from "@opentelemetry/api";
import { BatchSpanProcessor, InMemorySpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";

const exporter = new InMemorySpanExporter();
// A batch that is sent seldom: what is there at the end has been flushed.
const batch = new BatchSpanProcessor({ exporter, scheduledDelayMillis: 600_000 });
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [batch] }));

process.on("exit", () => {
  const spans = exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    attributes: span.attributes,
    id: span.spanContext().spanId,
    parent: span.parentSpanContext?.spanId ?? null,
  }));
  writeFileSync(process.env.SPANS_FILE ?? "", JSON.stringify(spans));
});
