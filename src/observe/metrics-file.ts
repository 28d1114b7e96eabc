/** A file in Prometheus' text format, version 0.0.4, for the textfile collector of its node exporter. */
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { withoutSamples } from "../audit/mapping/value-counts.ts";
import { codeOf } from "../common/errors.ts";
import { VERSION } from "../common/version.ts";
import { type EndedRun, type Observer, ONLY_END, type StartedRun } from "./observer.ts";
import type { RunPublished } from "./outcome.ts";

const PREFIX = "content_warehouse";
/** Metrics of the last run that was published: a run that fails leaves them as they are. */
const OF_PUBLISHED = new RegExp(`^(?:# (?:HELP|TYPE) )?${PREFIX}_published_`);

/** `startedMs`: milliseconds since 1970. */
type MeasuredRun = Pick<StartedRun, "warehouse" | "startedMs">;

/** Writes the file when the run ends, under another name first, so that nobody reads half of it. */
export function metricsFileObserver(file: string, run: MeasuredRun): Observer {
  /** Attempts by HTTP status: there is always a 429 to look at. */
  const byStatus = new Map([["429", 0]]);
  let bytes = 0;
  return {
    ...ONLY_END,
    name: "`metricsFile`",
    onEvent: (event) => {
      if (event.event !== "request ends") return;
      const status = String(event.status ?? "none");
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      bytes += event.bytes;
    },
    onEnd: async (ended) => {
      const { outcome, content, endedMs } = ended;
      const published = content === null ? await publishedBefore(file) : publishedMetrics(outcome, endedMs);
      await replaceFile(file, [...runMetrics(run, ended, { byStatus, bytes }), ...published].join(""));
    },
    check: async () => {
      await besideFile(file, async () => {
        if (!(await stat(file).catch(() => undefined))?.isDirectory()) return;
        throw Object.assign(new Error("a folder is in the way"), { code: "EISDIR" });
      });
    },
  };
}

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

/** Lines of a metric; none without samples. All are gauges: a file tells of one run, and nothing adds up. */
function gaugesOf(warehouse: string) {
  return (name: string, help: string, value: number | readonly Sample[]): string => {
    const samples: readonly Sample[] = typeof value === "number" ? [[{}, value]] : value;
    if (samples.length === 0) return "";
    const full = `${PREFIX}_${name}`;
    const lines = samples.map(([labels, each]) => `${full}${labelText({ warehouse, ...labels })} ${each}\n`);
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

function runMetrics(
  { warehouse, startedMs }: MeasuredRun,
  { outcome, endedMs }: EndedRun,
  { byStatus, bytes }: { readonly byStatus: ReadonlyMap<string, number>; readonly bytes: number },
): string[] {
  const gauge = gaugesOf(warehouse);
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

function publishedMetrics(
  { warehouse, run, pipeline, verdict, accounting, tables, bytesPublished, mappedValues }: RunPublished,
  endedMs: number,
): string[] {
  const gauge = gaugesOf(warehouse);
  const { listed, loaded, rejected, vanished, unread } = accounting;
  const items = Object.entries({ listed, loaded, rejected, vanished, unread });
  return [
    gauge("published_info", "The last run that was published.", [[{ run, pipeline, version: VERSION }, 1]]),
    gauge("published_timestamp_seconds", "When a run was last published.", endedMs / 1000),
    gauge(
      "published_verdict",
      "Verdict of the last published run: 1 for the one that it has.",
      ["complete", "unsettled"].map((each) => [{ verdict: each }, each === verdict ? 1 : 0]),
    ),
    gauge(
      "published_items",
      "Items of the last published run; listed is the sum of the others.",
      items.map(([state, value]) => [{ state }, value]),
    ),
    gauge(
      "published_rejects",
      "Rows of run_rejects of the last published run.",
      tables.find(({ name }) => name === "run_rejects")?.rows ?? 0,
    ),
    gauge(
      "published_values_without_external_value",
      "Values without an external value in the last published run, by status and by what becomes of values at their destination.",
      mappedValues === null
        ? []
        : withoutSamples(mappedValues).map(({ value, ...labels }): Sample => [labels, value]),
    ),
    gauge("published_bytes", "Bytes of the files of the last published run.", bytesPublished),
  ];
}

/** What the file says of the last published run. */
async function publishedBefore(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch((thrown: unknown) => {
    if (codeOf(thrown) === "ENOENT") return "";
    throw thrown;
  });
  const lines = text.split("\n").filter((line) => OF_PUBLISHED.test(line));
  return lines.map((line) => `${line}\n`);
}

async function replaceFile(file: string, text: string): Promise<void> {
  await besideFile(file, async (written) => {
    await writeFile(written, text);
    await rename(written, file);
  });
}

/**
 * Makes a file beside, which does not end with `.prom`: the collector reads those that do. It must be able to read what
 * becomes of it. Whatever is left of it is gone afterwards.
 */
async function besideFile(file: string, use: (written: string) => Promise<void>): Promise<void> {
  const written = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(written, "", { mode: 0o644 });
    await use(written);
  } catch (thrown) {
    throw new Error(`${file} cannot be written (${codeOf(thrown) ?? String(thrown)})`, { cause: thrown });
  } finally {
    // A failure to tidy up does not hide why the file could not be written.
    await rm(written, { force: true }).catch(() => {});
  }
}
