/** Writes the metrics of a run for the textfile collector of Prometheus' node exporter, in the text format 0.0.4. */
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import type { MappedCounts } from "../audit/mapping/value-counts.ts";
import { codeOf } from "../common/errors.ts";
import { FULL_VERDICTS } from "../common/verdict.ts";
import { VERSION } from "../common/version.ts";
import { RECEPTIONS } from "../warehouse/manifest.ts";
import type { Observer, RunEnd, RunPublished } from "./outcome.ts";

const PREFIX = "content_warehouse";

/** Lines about the metrics whose names begin like this. */
function linesAbout(lines: readonly string[], prefix: string): string[] {
  const about = new RegExp(`^(?:# (?:HELP|TYPE) )?${PREFIX}_${prefix}`);
  return lines.filter((line) => about.test(line));
}

/** `startedMs`: milliseconds since 1970. */
type MeasuredRun = { readonly warehouse: string; readonly startedMs: number };

/** Replaces the file when the run begins and when it ends. What a run does not know stays as it was. */
export function metricsFileObserver(file: string, run: MeasuredRun): Observer {
  /** Attempts by HTTP status; 429 is always there. */
  const byStatus = new Map([["429", 0]]);
  let bytes = 0;
  return {
    name: "`metricsFile`",
    onStart: async () => {
      const lines = await linesOf(file);
      const attempt = new Set(linesAbout(lines, "attempt_"));
      const others = lines.filter((line) => !attempt.has(line));
      await replaceFile(file, [attemptMetric(run), ...others].join(""));
    },
    onAttempt: (httpStatus, bodyBytes) => {
      const status = String(httpStatus ?? "none");
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      bytes += bodyBytes;
    },
    onEnd: async (end) => {
      const { outcome, current, endedMs } = end;
      const lines = await linesOf(file);
      const published = outcome.ok ? publishedMetrics(outcome, endedMs) : linesAbout(lines, "published_");
      const seen =
        // If the manifest of the current run cannot be read, the known instant stays.
        current?.publishedAt == null
          ? linesAbout(lines, "current_")
          : [currentMetric(run, current.publishedAt)];
      const all = [attemptMetric(run), ...runMetrics(run, end, { byStatus, bytes }), ...published, ...seen];
      await replaceFile(file, all.join(""));
    },
    check: async () => {
      const probing = withTemporaryFile(file, async () => {
        if (!(await stat(file).catch(() => undefined))?.isDirectory()) return;
        throw Object.assign(new Error("a folder is in the way"), { code: "EISDIR" });
      });
      await orUnwritable(file, probing);
    },
  };
}

function attemptMetric({ warehouse, startedMs }: MeasuredRun): string {
  return gauges({ warehouse })("attempt_timestamp_seconds", "When the last run began.", startedMs / 1000);
}

function currentMetric({ warehouse }: MeasuredRun, publishedAt: string): string {
  const help = "When the run that readers see was published.";
  return gauges({ warehouse })("current_timestamp_seconds", help, Date.parse(publishedAt) / 1000);
}

function runMetrics(
  { warehouse, startedMs }: MeasuredRun,
  { outcome, endedMs }: RunEnd,
  { byStatus, bytes }: { readonly byStatus: ReadonlyMap<string, number>; readonly bytes: number },
): string[] {
  const gauge = gauges({ warehouse });
  const requests = [...byStatus]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([status, value]): Sample => [{ status }, value]);
  return [
    gauge("run_timestamp_seconds", "When the last run ended.", endedMs / 1000),
    gauge("run_exit_code", "Exit code of the last run: 0 complete, 10 unsettled.", outcome.exitCode),
    gauge("run_duration_seconds", "Time that the last run took.", (endedMs - startedMs) / 1000),
    gauge("run_requests", "Requests of the last run by HTTP status; none: no answer.", requests),
    gauge("run_received_bytes", "Bytes that the last run received.", bytes),
  ];
}

function publishedMetrics(outcome: RunPublished, endedMs: number): string[] {
  const { warehouse, run, pipeline, verdict, rows, bytesPublished, mappedValues, mappedChanges } = outcome;
  const gauge = gauges({ warehouse });
  const { listed, loaded, rejected, vanished, unread } = outcome.items;
  const items = Object.entries({ listed, loaded, rejected, vanished, unread });
  return [
    gauge("published_info", "The last run that was published.", [[{ run, pipeline, version: VERSION }, 1]]),
    gauge("published_timestamp_seconds", "When a run was last published.", endedMs / 1000),
    gauge(
      "published_verdict",
      "Verdict of the last published run: 1 for the verdict that it has, else 0.",
      FULL_VERDICTS.map((each) => [{ verdict: each }, each === verdict ? 1 : 0]),
    ),
    gauge(
      "published_items",
      "Items of the last published run; listed is the sum of the others.",
      items.map(([state, value]) => [{ state }, value]),
    ),
    gauge("published_rejects", "Rows of run_rejects of the last published run.", rows.run_rejects ?? 0),
    gauge(
      "published_values_without_external_value",
      "Missing values in the last published run, by status and by whether their destination receives values.",
      mappedValues === null ? [] : withoutSamples(mappedValues),
    ),
    gauge(
      "published_values_lost",
      "Values of the last published run that lost their external value since the run before.",
      mappedChanges?.lost ?? [],
    ),
    gauge(
      "published_values_gained",
      "Values of the last published run that gained an external value since the run before.",
      mappedChanges?.gained ?? [],
    ),
    gauge("published_bytes", "Bytes of the files of the last published run.", bytesPublished),
  ];
}

/** Missing values by status and reception. */
function withoutSamples({ destinations }: MappedCounts): Sample[] {
  const found = RECEPTIONS.filter(
    (each) => each === "receiving" || destinations.some(({ reception }) => reception === each),
  );
  return found.flatMap((reception) =>
    (["unmapped", "unknown", "empty"] as const).map((kind): Sample => {
      const some = destinations.filter((each) => each.reception === reception);
      const labels = { status: kind === "unknown" ? "unknown_value" : kind, reception };
      return [labels, some.reduce((total, each) => total + each[kind], 0)];
    }),
  );
}

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

/** Makes the lines of a gauge, whose samples all have the labels `common`; no lines if it has no samples. */
function gauges(common: Labels) {
  return (name: string, help: string, value: number | readonly Sample[]): string => {
    const samples: readonly Sample[] = typeof value === "number" ? [[{}, value]] : value;
    if (samples.length === 0) return "";
    const full = `${PREFIX}_${name}`;
    const lines = samples.map(([labels, each]) => `${full}${labelText({ ...common, ...labels })} ${each}\n`);
    return `# HELP ${full} ${help}\n# TYPE ${full} gauge\n${lines.join("")}`;
  };
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    const escaped = value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
    return `${name}="${escaped}"`;
  });
  return `{${pairs.join(",")}}`;
}

/** Lines with their ends; none if there is no file. */
async function linesOf(file: string): Promise<string[]> {
  const reading = readFile(file, "utf8").catch((thrown: unknown) => {
    if (codeOf(thrown) === "ENOENT") return "";
    throw thrown;
  });
  const text = await orUnwritable(file, reading);
  return text.split("\n").flatMap((line) => (line === "" ? [] : [`${line}\n`]));
}

/** A reader has the old text or the new one. */
async function replaceFile(file: string, text: string): Promise<void> {
  const replacing = withTemporaryFile(file, async (temporary) => {
    await writeFile(temporary, text);
    await rename(temporary, file);
  });
  await orUnwritable(file, replacing);
}

/** Makes a file that the collector can read, but does not, because its name does not end in `.prom`; then removes it. */
async function withTemporaryFile(file: string, use: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, "", { mode: 0o644 });
    await use(temporary);
  } finally {
    // A failure to remove it must not hide why the file could not be written.
    await rm(temporary, { force: true }).catch(() => {});
  }
}

async function orUnwritable<Result>(file: string, working: Promise<Result>): Promise<Result> {
  try {
    return await working;
  } catch (cause) {
    throw new Error(`${file} cannot be written (${codeOf(cause) ?? String(cause)})`, { cause });
  }
}
