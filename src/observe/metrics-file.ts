/** What a run says of itself in a file of metrics. */
import { readFile, stat } from "node:fs/promises";
import { withoutMetrics } from "../audit/mapping/value-counts.ts";
import { codeOf } from "../common/errors.ts";
import { FULL_VERDICTS } from "../common/verdict.ts";
import { VERSION } from "../common/version.ts";
import type { EndedRun, Observer } from "./observer.ts";
import type { RunPublished } from "./outcome.ts";
import { besideFile, gaugesOf, labelText, PREFIX, replaceMetrics, type Sample } from "./prometheus-text.ts";

/** Metrics of the last run that was published: a run that fails leaves them as they are. */
const OF_PUBLISHED = linesAbout("published_");
/** Of the run that readers see. */
const OF_CURRENT = linesAbout("current_");
/** What is known before a run ends. */
const OF_ATTEMPT = linesAbout("attempt_");

function linesAbout(name: string): RegExp {
  return new RegExp(`^(?:# (?:HELP|TYPE) )?${PREFIX}_${name}`);
}

interface MeasuredRun {
  readonly warehouse: string;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
}

/**
 * Writes the file when the run begins and when it ends, under another name first, so that nobody reads half of it. Where
 * the file has what another warehouse published, a run that publishes nothing leaves it as it is: an alert on that
 * warehouse would have nothing to go by.
 */
export function metricsFileObserver(file: string, run: MeasuredRun): Observer {
  /** Attempts by HTTP status: there is always a 429 to look at. */
  const byStatus = new Map([["429", 0]]);
  let bytes = 0;
  return {
    name: "`metricsFile`",
    onStart: async () => {
      const lines = await linesOf(file);
      if (isOfAnother(lines, run)) return;
      const others = lines.filter((line) => !OF_ATTEMPT.test(line));
      await orUnwritable(file, replaceMetrics(file, [attempt(run), ...others].join("")));
    },
    onAttempt: (httpStatus, bodyBytes) => {
      const status = String(httpStatus ?? "none");
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
      bytes += bodyBytes;
    },
    onEnd: async (ended) => {
      const { outcome, current, endedMs } = ended;
      const lines = await linesOf(file);
      if (!outcome.ok && isOfAnother(lines, run)) return;
      const published = outcome.ok
        ? publishedMetrics(outcome, endedMs)
        : lines.filter((line) => OF_PUBLISHED.test(line));
      const seen =
        // A run whose manifest cannot be read keeps the instant that was known.
        current?.publishedAt == null
          ? lines.filter((line) => OF_CURRENT.test(line))
          : currentMetrics(run, current);
      const all = [attempt(run), ...runMetrics(run, ended, { byStatus, bytes }), ...published, ...seen];
      const text = all.join("");
      await orUnwritable(file, replaceMetrics(file, text));
    },
    check: async () => {
      const probing = besideFile(file, async () => {
        if (!(await stat(file).catch(() => undefined))?.isDirectory()) return;
        throw Object.assign(new Error("a folder is in the way"), { code: "EISDIR" });
      });
      await orUnwritable(file, probing);
    },
  };
}

const LAST_PUBLISHED = `${PREFIX}_published_timestamp_seconds`;

/** Whether the file has what another warehouse published. */
function isOfAnother(lines: readonly string[], { warehouse }: Pick<MeasuredRun, "warehouse">): boolean {
  const own = `${LAST_PUBLISHED}${labelText({ warehouse })} `;
  const last = lines.filter((line) => line.startsWith(`${LAST_PUBLISHED}{`));
  return last.length > 0 && !last.some((line) => line.startsWith(own));
}

function attempt({ warehouse, startedMs }: MeasuredRun): string {
  return gaugesOf({ warehouse })("attempt_timestamp_seconds", "When the last run began.", startedMs / 1000);
}

function runMetrics(
  { warehouse, startedMs }: MeasuredRun,
  { outcome, endedMs }: EndedRun,
  { byStatus, bytes }: { readonly byStatus: ReadonlyMap<string, number>; readonly bytes: number },
): string[] {
  const gauge = gaugesOf({ warehouse });
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
  const { warehouse, run, pipeline, verdict, accounting, tables, bytesPublished, mappedValues } = outcome;
  const gauge = gaugesOf({ warehouse });
  const { listed, loaded, rejected, vanished, unread } = accounting;
  const items = Object.entries({ listed, loaded, rejected, vanished, unread });
  return [
    gauge("published_info", "The last run that was published.", [[{ run, pipeline, version: VERSION }, 1]]),
    gauge("published_timestamp_seconds", "When a run was last published.", endedMs / 1000),
    gauge(
      "published_verdict",
      "Verdict of the last published run: 1 for the one that it has.",
      FULL_VERDICTS.map((each) => [{ verdict: each }, each === verdict ? 1 : 0]),
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
        : withoutMetrics(mappedValues).map(({ value, ...labels }): Sample => [labels, value]),
    ),
    gauge("published_bytes", "Bytes of the files of the last published run.", bytesPublished),
  ];
}

function currentMetrics(
  { warehouse }: MeasuredRun,
  { publishedAt }: NonNullable<EndedRun["current"]>,
): string[] {
  const gauge = gaugesOf({ warehouse });
  const instant = (text: string | null): Sample[] => (text === null ? [] : [[{}, Date.parse(text) / 1000]]);
  return [
    gauge("current_timestamp_seconds", "When the run that readers see was published.", instant(publishedAt)),
  ];
}

/** Of a file that is not there, none. */
async function linesOf(file: string): Promise<string[]> {
  const reading = readFile(file, "utf8").catch((thrown: unknown) => {
    if (codeOf(thrown) === "ENOENT") return "";
    throw thrown;
  });
  const text = await orUnwritable(file, reading);
  return text.split("\n").flatMap((line) => (line === "" ? [] : [`${line}\n`]));
}

async function orUnwritable<Result>(file: string, working: Promise<Result>): Promise<Result> {
  try {
    return await working;
  } catch (cause) {
    throw new Error(`${file} cannot be written (${codeOf(cause) ?? String(cause)})`, { cause });
  }
}
