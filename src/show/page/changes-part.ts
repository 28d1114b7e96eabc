/** The section "Changes" of the report: what `diff` and `diff --content` answer about the run before. */

import type { DuckDBConnection } from "@duckdb/node-api";
import { contentDiffForReport } from "../../audit/diff/content-diff-answer.ts";
import type { RunPair } from "../../audit/diff/run-pair.ts";
import { diffForReport } from "../../audit/diff/value-diff-answer.ts";
import {
  comparisonText,
  type EarlierRuns,
  isHistoryIn,
  type RunRow,
  readRunHistory,
} from "../../audit/questions/run-history.ts";
import type { Section } from "../../common/answer.ts";
import { pluralize } from "../../common/figures.ts";
import { sameRun } from "../../warehouse/identity.ts";
import { nameOf } from "../../warehouse/layout.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { shortName } from "./markup.ts";
import type { OverviewEntry, PagePart } from "./page.ts";

const WITHOUT_HISTORY =
  'The pipeline of this run has no history, so this page cannot show changes of mapped values; "content-warehouse diff" compares two kept runs.';
const FIRST_IN_HISTORY =
  "The history begins with this run; from the next run on, this section shows what changed and why.";

export type ChangeTotals = Awaited<ReturnType<typeof readChangesPart>>["totals"];

/**
 * The section, and its totals with the largest changes; `totals` is undefined if nothing can be compared. Values of the
 * run before come from the history of this run only: the run before may show a person who was erased since.
 */
export async function readChangesPart(
  connection: DuckDBConnection,
  run: RunRow,
  {
    manifest,
    earlier,
  }: { readonly manifest: Pick<Manifest, "rows" | "emptyColumns">; readonly earlier: EarlierRuns },
) {
  const content = await contentSections(connection, run, manifest.rows, earlier);
  const hasHistory = isHistoryIn(manifest);
  const pair = hasHistory ? await historyPair(connection, run) : undefined;
  const diff = pair && (await diffForReport(connection, pair, run.run));
  const before = pair?.before ?? earlier.before;
  const part: PagePart = {
    id: "changes",
    name: "Changes",
    command: before === undefined ? "diff" : `diff ${before.sequence} ${run.sequence}`,
    lead: diff?.lead ?? (hasHistory ? FIRST_IN_HISTORY : WITHOUT_HISTORY),
    sections: [...(diff?.sections ?? []), ...content],
  };
  return { part, totals: diff && { ...diff.totals, largest: largestChanges(diff.sections) } };
}

/** The run and the one before it in the run's history; undefined if the history begins with the run. */
async function historyPair(connection: DuckDBConnection, run: RunRow): Promise<RunPair | undefined> {
  const known = await readRunHistory(connection);
  const after = known.find((each) => sameRun(each, run));
  const before = known.find(({ run }) => nameOf(run) === after?.previousRun);
  if (after === undefined || before === undefined) return undefined;
  const named = ({ run, sequence, verdict }: RunPair["before"]) => ({ run, sequence, verdict });
  return { before: named(before), after: named(after) };
}

/** Which columns of the content changed, without values. Empty in the first run. */
async function contentSections(
  connection: DuckDBConnection,
  { run, sequence, verdict, personalData: policy }: RunRow,
  rows: Manifest["rows"],
  earlier: EarlierRuns,
): Promise<Section[]> {
  const { before, previous } = earlier;
  if (before === undefined) {
    const none = comparisonText(earlier);
    return previous === null
      ? []
      : [{ key: "content", title: "Changes of content", none, columns: {}, rows: [] }];
  }
  const pair = {
    before: { run: before.run, sequence: before.sequence, verdict: before.manifest.verdict },
    after: { run, sequence, verdict },
  };
  const after = { rows, personalData: { policy } };
  return await contentDiffForReport(connection, { pair, before: before.manifest, after });
}

/** The first five changes: `Web CMS, region "UK & Ireland": "en-gb" → "en-uk-ie"`, and `70 items, mapping edited`. */
function largestChanges(sections: readonly Section[]): OverviewEntry[] {
  const rows = sections.find(({ key }) => key === "lines")?.rows ?? [];
  const received = rows.filter(({ reception }) => reception === "receiving");
  return received.slice(0, 5).map((row) => {
    const text = (name: string) => String(row[name] ?? "");
    const withoutStatus = (name: string) => shortName(text(name).replace(/ \[[^\]"]*\]$/, "")) || "nothing";
    const destination = shortName(text("destination") || text("destination_id"));
    const name = shortName(text("custom_field") || text("custom_field_id"));
    const field = `${name} ${shortName(text("value"))}`.trimEnd();
    const cause = text("causes").replaceAll(" ", ", ").replaceAll("_changed", " edited").replaceAll("_", " ");
    return {
      id: "changes-lines",
      what: `${destination}, ${field}: ${withoutStatus("before")} → ${withoutStatus("after")}`,
      more: `${pluralize(Number(row.items), "item")}, ${cause}`,
    };
  });
}
