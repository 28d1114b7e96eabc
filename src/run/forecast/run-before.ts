/** What the run before says of the one that is to come: what it asked for, and what it can lend. */
import { join } from "node:path";
import { col } from "../../common/answer.ts";
import type { HttpClient } from "../../extract/http/client.ts";
import { type Probe, probeEvents } from "../../extract/probe.ts";
import { type Details, wantedBy } from "../../extract/wanted-columns.ts";
import type { Pipeline } from "../../pipeline.ts";
import { EXTRACT_FILE, type ExtractRecord, readExtractRecord } from "../../raw/extract-record.ts";
import type { PersonalFields } from "../../raw/personal/fields.ts";
import { idsIn } from "../../raw/raw-file.ts";
import { isDue, type Reusable } from "../../raw/reusable.ts";
import { rowsBy } from "../../storage/rows-by.ts";
import type { Baseline } from "../../warehouse/baseline.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { fromTable, openTables, sourceOf } from "../../warehouse/published-tables.ts";
import { damageIn } from "../../warehouse/raw-documents.ts";
import type { RunOptions } from "../context.ts";
import { documentSettings, reuseOf } from "../reuse.ts";
import { FORECAST_MODES, growth, type RunBefore, type Singles } from "./forecast.ts";

export interface RecordedRun extends RunBefore {
  readonly manifest: Manifest;
  /** Undefined: it keeps no raw documents, an earlier version wrote them, or it is damaged. */
  readonly record: ExtractRecord | undefined;
}

const SPENT = {
  mode: col.text({ required: true, of: FORECAST_MODES }),
  requests: col.count({ required: true }),
  bytes: col.bytes({ required: true }),
  milliseconds: col.milliseconds({ required: true }),
  tries: col.count({ required: true }),
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
  await using database = await openTables(source, { temporaryDirectory, memoryLimitMb: 128, threads: 1 });
  const { connection } = database;
  // A first page that only tried a size has no number.
  const isTry = "pass IS NOT NULL AND page IS NULL AND content_id IS NULL";
  const spent = await rowsBy(
    connection,
    SPENT,
    `SELECT mode, count(*) FILTER (WHERE NOT (${isTry})) AS requests, count(*) FILTER (WHERE ${isTry}) AS tries,
       sum(bytes) FILTER (WHERE NOT (${isTry}))::BIGINT AS bytes,
       sum(milliseconds) FILTER (WHERE NOT (${isTry})) AS milliseconds
     FROM ${fromTable(source, "run_requests")} GROUP BY mode`,
  );
  const facts = files.filter(({ path }) => path === `raw/${EXTRACT_FILE}`);
  const isKept = facts.length > 0 && (await damageIn(directory, facts)) === undefined;
  const record = isKept ? await readExtractRecord(join(directory, "raw", EXTRACT_FILE)) : undefined;
  return {
    manifest,
    record,
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
  const record = before?.record;
  const granted = grantedIn(record);
  if (record?.asked.singleItems === details && before !== undefined) {
    const wanted = record.detailsAsked + record.detailsReused.count;
    return { wanted: Math.round(wanted * growth(items, before.items)), granted };
  }
  if (details !== "events") return { wanted: details === "all" ? items : 0, granted };
  const seen = await probeEvents(client, options.config.aliases, options.signal);
  const share = seen.items === 0 ? 0 : seen.events / seen.items;
  return { wanted: Math.round(items * share), granted: seen.perPage };
}

/** The most items a page that the service granted; infinite where it granted all that were asked for. */
function grantedIn(record: ExtractRecord | undefined): number {
  const { asked, passes = [] } = record ?? {};
  const { perPage: wanted = "auto" } = asked ?? {};
  const smaller = passes.filter(({ perPage }) => wanted !== "auto" && perPage < wanted);
  return Math.min(Number.POSITIVE_INFINITY, ...smaller.map(({ perPage }) => perPage));
}

/** Of the items that are wanted singly, those that stand in from the run before; where none does, why. */
export async function reusedTonight(
  asked: Asked,
  before: RecordedRun,
  wanted: number,
): Promise<Pick<Singles, "reused" | "whyNone">> {
  const { options, answer, baseline } = asked;
  const { rereadDays: days } = options.config;
  const settings = documentSettings(asked, wantedBy(asked.pipeline, options.config));
  const { documents, whyNone } = await reuseOf({ baseline, rereadDays: days, settings });
  if (documents.size === 0) return { reused: 0, whyNone };
  const now = (answer.response.date?.getTime() ?? options.clock.now()) * 1000;
  const usable = notDue([...documents.values()], { now, days });
  if (usable === 0) return { reused: 0, whyNone: { kind: "due" } };
  const { changed = 0 } = before.manifest.changes ?? {};
  const unchanged = 1 - Math.min(1, (changed ?? 0) / Math.max(1, before.items));
  const reused = Math.min(wanted, Math.round(usable * unchanged));
  return { reused, whyNone: reused === 0 ? { kind: "changed" } : null };
}

function notDue(
  documents: readonly Reusable[],
  { now, days }: { readonly now: number; readonly days: number },
): number {
  let number = 0;
  for (const [file, ofFile] of Map.groupBy(documents, (each) => each.file)) {
    const ids = idsIn(file);
    number += ofFile.filter(
      ({ row, observedAt: readAt }) => !isDue(ids[row] ?? "", { readAt, now, days }),
    ).length;
  }
  return number;
}
