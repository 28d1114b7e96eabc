/** What the run before says of the one that is to come: what it asked for, and what it can lend. */
import { join } from "node:path";
import { col } from "../common/answer.ts";
import type { HttpClient } from "../extract/http/client.ts";
import { type Probe, probeEvents } from "../extract/probe.ts";
import { type Details, wantedBy } from "../extract/wanted-columns.ts";
import type { Pipeline } from "../pipeline.ts";
import { EXTRACT_FILE, type ExtractRecord, readExtractRecord } from "../raw/extract-record.ts";
import type { PersonalFields } from "../raw/personal/fields.ts";
import { isDue } from "../raw/reusable.ts";
import { readParquet } from "../storage/parquet-sql.ts";
import { rowsBy } from "../storage/rows-by.ts";
import type { Baseline } from "../warehouse/baseline.ts";
import type { Manifest } from "../warehouse/manifest.ts";
import { fromTable, openTables, sourceOf } from "../warehouse/published-tables.ts";
import type { RunOptions } from "./context.ts";
import { documentSettings } from "./document-settings.ts";
import { FORECAST_MODES, growth, type RunBefore } from "./forecast.ts";
import { reuseOf } from "./reuse.ts";

export interface RecordedRun extends RunBefore {
  readonly manifest: Manifest;
  /** Undefined: it keeps no raw documents, or an earlier version wrote them. */
  readonly record: ExtractRecord | undefined;
  /** IDs of the items that have a document of their own, by its fingerprint. */
  readonly singles: ReadonlyMap<string, string>;
}

const SPENT = {
  mode: col.text({ required: true, of: FORECAST_MODES }),
  requests: col.count({ required: true }),
  bytes: col.bytes({ required: true }),
  milliseconds: col.milliseconds({ required: true }),
  tries: col.count({ required: true }),
} as const;

const SINGLE = {
  contentId: col.text({ required: true }),
  fingerprint: col.text({ required: true }),
} as const;

/** Undefined: there is none that could tell. */
export async function readRunBefore(
  baseline: Baseline,
  temporaryDirectory: string,
): Promise<RecordedRun | undefined> {
  if (baseline.kind !== "run") return undefined;
  const { directory, manifest } = baseline;
  const { items, rows, files } = manifest;
  if (items === undefined || rows.run_requests === undefined) return undefined;
  const source = sourceOf(baseline);
  const raw = files.map(({ path }) => path).filter((path) => path.startsWith("raw/"));
  await using database = await openTables(source, { temporaryDirectory, memoryLimitMb: 128, threads: 1 });
  const { connection } = database;
  // A first page that only tried a size has no number.
  const isTry = "pass IS NOT NULL AND page IS NULL AND content_id IS NULL";
  const spent = await rowsBy(
    connection,
    SPENT,
    `SELECT mode, count(*) FILTER (WHERE NOT (${isTry})) AS requests, count(*) FILTER (WHERE ${isTry}) AS tries,
       sum(bytes) FILTER (WHERE NOT (${isTry}))::BIGINT AS bytes, sum(milliseconds) AS milliseconds
     FROM ${fromTable(source, "run_requests")} GROUP BY mode`,
  );
  const record = raw.includes(`raw/${EXTRACT_FILE}`)
    ? await readExtractRecord(join(directory, "raw", EXTRACT_FILE))
    : undefined;
  const ofItems = raw.filter((path) => path.startsWith("raw/item/")).map((path) => join(directory, path));
  const singles =
    record === undefined || ofItems.length === 0
      ? []
      : await rowsBy(connection, SINGLE, `SELECT content_id, fingerprint FROM ${readParquet(ofItems)}`);
  return {
    manifest,
    record,
    singles: new Map(singles.map(({ fingerprint, contentId }) => [fingerprint, contentId])),
    items: items.listed,
    spent: Object.fromEntries(spent.map(({ mode, ...each }) => [mode, each])),
    tries: spent.reduce((all, { tries }) => all + tries, 0),
    publishedBytes: files.reduce((all, { bytes }) => all + bytes, 0),
  };
}

/** What is known of the one that is to come. */
interface Asked {
  readonly options: Pick<RunOptions, "config" | "clock" | "log" | "signal">;
  readonly baseline: Baseline;
  readonly pipeline: Pipeline;
  readonly client: Pick<HttpClient, "readAs">;
  readonly personalFields: PersonalFields;
  readonly answer: Probe;
}

/**
 * Items whose single-item answers the tables need. Where no run before tells, a few pages of two members show how many are
 * events, and how many items a page the service grants at most.
 */
export async function singlesWanted(
  { options, client, answer }: Asked,
  details: Details,
  before: RecordedRun | undefined,
): Promise<{ readonly wanted: number; readonly granted: number }> {
  const { items } = answer;
  const granted = Number.POSITIVE_INFINITY;
  const record = before?.record;
  if (record?.asked.singleItems === details && before !== undefined) {
    const wanted = record.detailsAsked + record.detailsReused.count;
    return { wanted: Math.round(wanted * growth(items, before.items)), granted };
  }
  if (details !== "events") return { wanted: details === "all" ? items : 0, granted };
  const seen = await probeEvents(client, options.config.aliases, options.signal);
  const share = seen.items === 0 ? 0 : seen.events / seen.items;
  return { wanted: Math.round(items * share), granted: seen.perPage };
}

/** Of the items that are wanted singly, those of which the run before has a document that may still be used. */
export async function reusedTonight(asked: Asked, before: RecordedRun, wanted: number): Promise<number> {
  const { options, answer, baseline } = asked;
  const { rereadDays: days } = options.config;
  const settings = documentSettings(asked, wantedBy(asked.pipeline, options.config));
  const { documents } = await reuseOf({ baseline, rereadDays: days, settings });
  const now = (answer.response.date?.getTime() ?? options.clock.now()) * 1000;
  const usable = [...documents].filter(([fingerprint, { observedAt: readAt }]) => {
    const id = before.singles.get(fingerprint);
    return id !== undefined && !isDue(id, { readAt, now, days });
  });
  const { changed = 0 } = before.manifest.changes ?? {};
  const unchanged = 1 - Math.min(1, (changed ?? 0) / Math.max(1, before.items));
  return Math.min(wanted, Math.round(usable.length * unchanged));
}
