/** A file in Prometheus' text format, for the textfile collector of its node exporter. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { codeOf } from "../common/errors.ts";
import type { RequestEnds } from "../common/run-events.ts";
import { VERSION } from "../common/version.ts";
import { type EndedRun, type Observer, ONLY_END, type PublishedContent } from "./observer.ts";
import type { RunPublished } from "./outcome.ts";
import { type Metric, metricsText, type Sample } from "./prometheus.ts";

const PREFIX = "content_warehouse";
/** Metrics of the last run that was published: a run that fails leaves them as they are. */
const PUBLISHED = `${PREFIX}_published`;
const OF_PUBLISHED = new RegExp(`^(?:# (?:HELP|TYPE) )?${PUBLISHED}_`);

export interface MeasuredRun {
  readonly warehouse: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
}

/** Writes the file when the run ends, under another name first, so that nobody reads half of it. */
export function metricsFileObserver(file: string, run: MeasuredRun): Observer {
  const requests = new RequestCount();
  return {
    ...ONLY_END,
    name: "`metricsFile`",
    onEvent: (event) => {
      if (event.event === "request ends") requests.add(event);
    },
    onEnd: async (ended) => {
      const { outcome, content } = ended;
      const published =
        content !== null
          ? metricsText(publishedMetrics(outcome, content, ended.endedMs))
          : await publishedBefore(file);
      await replaceFile(file, metricsText(runMetrics(run, ended, requests)) + published);
    },
  };
}

/** Attempts of this process by status, and what they brought. */
class RequestCount {
  /** There is always a 429 to look at. */
  readonly byStatus = new Map<string, number>([["429", 0]]);
  bytes = 0;

  add({ status, bytes }: RequestEnds): void {
    const key = status === null ? "none" : String(status);
    this.byStatus.set(key, (this.byStatus.get(key) ?? 0) + 1);
    this.bytes += bytes;
  }
}

function runMetrics(
  { warehouse, startedMs }: MeasuredRun,
  { outcome, endedMs }: EndedRun,
  { byStatus, bytes }: RequestCount,
): Metric[] {
  const one = (value: number): Sample[] => [{ labels: { warehouse }, value }];
  const requests = [...byStatus]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, value]) => ({ labels: { warehouse, status }, value }));
  return [
    metric("run_timestamp_seconds", "When the last run ended.", one(endedMs / 1000)),
    metric("run_exit_code", "Exit code of the last run: 0 complete, 10 unsettled.", one(outcome.exitCode)),
    metric("run_duration_seconds", "Time that the last run took.", one((endedMs - startedMs) / 1000)),
    metric("run_requests", "Requests of the last run by HTTP status; none: no answer.", requests),
    metric("run_received_bytes", "Bytes that the last run received.", one(bytes)),
  ];
}

function publishedMetrics(
  { warehouse, run, pipeline, verdict, accounting, tables, bytesPublished }: RunPublished,
  { unmappedValues }: PublishedContent,
  endedMs: number,
): Metric[] {
  const one = (value: number): Sample[] => [{ labels: { warehouse }, value }];
  const { listed, loaded, rejected, vanished, unread } = accounting;
  const items = Object.entries({ listed, loaded, rejected, vanished, unread });
  const verdicts = ["complete", "unsettled"] as const;
  const rejects = tables.find(({ name }) => name === "run_rejects")?.rows ?? 0;
  return [
    metric("published_info", "The last run that was published.", [
      { labels: { warehouse, run, pipeline, version: VERSION }, value: 1 },
    ]),
    metric("published_timestamp_seconds", "When a run was last published.", one(endedMs / 1000)),
    metric(
      "published_verdict",
      "Verdict of the last published run: 1 for the one that it has.",
      verdicts.map((each) => ({ labels: { warehouse, verdict: each }, value: each === verdict ? 1 : 0 })),
    ),
    metric(
      "published_items",
      "Items of the last published run; listed is the sum of the others.",
      items.map(([state, value]) => ({ labels: { warehouse, state }, value })),
    ),
    metric("published_rejects", "Rows of run_rejects of the last published run.", one(rejects)),
    metric(
      "published_unmapped_values",
      "Values without an external value in the last published run.",
      unmappedValues === null ? [] : one(unmappedValues),
    ),
    metric("published_bytes", "Bytes of the files of the last published run.", one(bytesPublished)),
  ];
}

function metric(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name: `${PREFIX}_${name}`, help, samples };
}

/** What the file says of the last published run. */
async function publishedBefore(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((thrown: unknown) => {
    if (codeOf(thrown) === "ENOENT") return "";
    throw thrown;
  });
  const lines = text.split("\n").filter((line) => OF_PUBLISHED.test(line));
  return lines.map((line) => `${line}\n`).join("");
}

/** The collector reads names that end with `.prom`, so the other one does not. It must be able to read the file. */
async function replaceFile(file: string, text: string): Promise<void> {
  const written = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(written, text, { mode: 0o644 });
    await rename(written, file);
  } catch (thrown) {
    // A failure to tidy up does not hide why the file could not be written.
    await rm(written, { force: true }).catch(() => {});
    throw new Error(`${file} cannot be written (${codeOf(thrown) ?? String(thrown)})`, { cause: thrown });
  }
}
