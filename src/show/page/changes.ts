/** What changed since the run before: the same answers as of `diff`, and of `diff --content`. */

import type { DuckDBConnection } from "@duckdb/node-api";
import { contentDiffForReport } from "../../audit/diff/content-diff-answer.ts";
import type { RunPair } from "../../audit/diff/run-pair.ts";
import { diffForReport, type ReportDiff } from "../../audit/diff/value-diff-answer.ts";
import {
  comparisonText,
  type EarlierRuns,
  isHistoryIn,
  readRunHistory,
} from "../../audit/questions/run-history.ts";
import type { RunRow } from "../../audit/questions/run-row.ts";
import type { Section } from "../../common/answer.ts";
import { pluralize } from "../../common/figures.ts";
import { runNamed, sameRun } from "../../warehouse/identity.ts";
import type { Manifest } from "../../warehouse/manifest.ts";
import { shortName } from "./markup.ts";
import type { PagePart, Point } from "./page.ts";

/** What a page says of changes; `compared`: what the comparison with the run before came to, where there is one. */
export interface RunChanges {
  readonly part: PagePart;
  /** `largest`: the changes of mapped values that touch most items come first. */
  readonly compared: (ReportDiff["totals"] & { readonly largest: readonly Point[] }) | undefined;
}

interface Comparable {
  readonly manifest: Pick<Manifest, "rows" | "emptyColumns">;
  readonly earlier: EarlierRuns;
}

/**
 * Of mapped values by the run's own history alone: what only the run before has may show somebody who was erased since.
 * So of the content, which no history has, it tells which columns changed and no value. The connection has the tables of the comparisons then.
 */
export async function changesOf(
  connection: DuckDBConnection,
  account: RunRow,
  { manifest, earlier }: Comparable,
): Promise<RunChanges> {
  const content = await contentSections(connection, account, { manifest, earlier });
  const hasHistory = isHistoryIn(manifest);
  const pair = hasHistory ? await historyPair(connection, account) : undefined;
  const diff = pair && (await diffForReport(connection, pair));
  const before = pair?.before ?? earlier.before;
  const command = before === undefined ? "diff" : `diff ${before.sequence} ${account.sequence}`;
  const lead = diff?.lead ?? (hasHistory ? BEGINS : WITHOUT_HISTORY);
  const sections = [...(diff?.sections ?? []), ...content];
  return {
    part: { id: "changes", name: "Changes", command, lead, sections },
    compared: diff && { ...diff.totals, largest: largestOf(diff.sections) },
  };
}

/** The run and the one before it, as its history has them; undefined: the history begins with it. */
async function historyPair(connection: DuckDBConnection, account: RunRow): Promise<RunPair | undefined> {
  const known = await readRunHistory(connection);
  const after = known.find((each) => sameRun(each, account));
  // A history has one run of a name.
  const before = runNamed(after?.previousRun ?? "", known, []);
  if (after === undefined || before === undefined) return undefined;
  return { before: comparedRun(before), after: comparedRun(after), basis: account.run };
}

/** None where there never was a run before; a sentence where it cannot be compared. */
async function contentSections(
  connection: DuckDBConnection,
  { run, sequence, verdict, personalData: policy }: RunRow,
  { manifest, earlier }: Comparable,
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
    basis: run,
  };
  const after = { rows: manifest.rows, personalData: { policy } };
  return await contentDiffForReport(connection, { pair, before: before.manifest, after });
}

const WITHOUT_HISTORY =
  'The pipeline of this run leaves the history out, so this page cannot say what changed of the mapped values; "content-warehouse diff" compares two runs that are kept.';
const BEGINS =
  "The history begins with this run: from the next one on, what changed stands here, with its cause.";

function comparedRun({ run, sequence, verdict }: RunPair["before"]): RunPair["before"] {
  return { run, sequence, verdict };
}

/** Changes that the first screen has room for. */
const LARGEST = 5;

/** Rows of what changed as lines: `Web CMS, region "UK & Ireland": "en-gb" → "en-uk-ie"`, and `70 items, mapping edited`. */
function largestOf(sections: readonly Section[]): Point[] {
  const rows = sections.find(({ key }) => key === "lines")?.rows ?? [];
  const received = rows.filter(({ reception }) => reception === "receiving");
  return received.slice(0, LARGEST).map((row) => {
    const text = (name: string) => String(row[name] ?? "");
    // Without the status: the line says what is sent.
    const side = (name: "before" | "after") =>
      shortName(text(name).replace(/ \[[^\]"]*\]$/, "")) || "nothing";
    const destination = shortName(text("destination") || text("destination_id"));
    const name = shortName(text("custom_field") || text("custom_field_id"));
    const field = `${name} ${shortName(text("value"))}`.trimEnd();
    const cause = text("causes").replaceAll(" ", ", ").replaceAll("_changed", " edited").replaceAll("_", " ");
    return {
      id: "changes-lines",
      what: `${destination}, ${field}: ${side("before")} → ${side("after")}`,
      more: `${pluralize(Number(row.items), "item")}, ${cause}`,
    };
  });
}
