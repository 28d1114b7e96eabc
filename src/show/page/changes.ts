/** What changed since the run before: the same answers as of `diff`, and of `diff --content`. */
import type { DuckDBConnection } from "@duckdb/node-api";
import type { Fullness } from "../../audit/checks/mass-change.ts";
import { contentForPage } from "../../audit/diff/content-diff-answer.ts";
import { diffForPage, type PageDiff } from "../../audit/diff/diff-page.ts";
import type { RunPair } from "../../audit/diff/diff-runs.ts";
import type { RunAccount } from "../../audit/questions/account.ts";
import { comparison, type EarlierRuns } from "../../audit/questions/earlier-runs.ts";
import { readKnownRuns } from "../../audit/questions/run-history.ts";
import type { Section } from "../../common/answer.ts";
import { count } from "../../common/figures.ts";
import { runNamed, sameRun } from "../../warehouse/identity.ts";
import { type PagePart, partOf } from "./page.ts";
import { ROWS_LIMIT } from "./table.ts";

/** What a page says of changes; `compared`: with which run, and what the comparison came to, where there is one. */
export interface RunChanges {
  readonly part: PagePart;
  readonly compared: (PageDiff["totals"] & { readonly before: RunPair["before"] }) | undefined;
}

interface Comparable {
  readonly hasHistory: boolean;
  readonly manifest: Fullness;
  readonly earlier: EarlierRuns;
}

/**
 * Of mapped values by the run's own history alone: what only the run before has may show somebody who was erased since.
 * So of the content, which no history has, it tells which columns changed and no value. The connection has the tables of the comparisons then.
 */
export async function changesOf(
  connection: DuckDBConnection,
  account: RunAccount,
  { hasHistory, manifest, earlier }: Comparable,
): Promise<RunChanges> {
  const content = await contentSections(connection, account, { manifest, earlier });
  const mapped = hasHistory ? await mappedChanges(connection, account) : { lead: WITHOUT_HISTORY };
  const before = mapped.compared?.before ?? earlier.before;
  const command = before === undefined ? "diff" : `diff ${before.sequence} ${account.sequence}`;
  const part = partOf("changes", "Changes", command, [...(mapped.sections ?? []), ...content].map(cut));
  return { part: { ...part, lead: mapped.lead }, compared: mapped.compared };
}

interface MappedChanges extends Partial<RunChanges> {
  readonly lead: string;
  readonly sections?: readonly Section[];
}

async function mappedChanges(connection: DuckDBConnection, account: RunAccount): Promise<MappedChanges> {
  const known = await readKnownRuns(connection);
  const after = known.find((each) => sameRun(each, account));
  // A history has one run of a name.
  const before = runNamed(after?.previousRun ?? "", known, []);
  if (after === undefined || before === undefined) return { lead: BEGINS };
  const pair = { before: comparedRun(before), after: comparedRun(after), basis: account.run };
  const { lead, sections, totals } = await diffForPage(connection, pair);
  return { lead, sections, compared: { ...totals, before: pair.before } };
}

/** None where there never was a run before; a sentence where it cannot be compared. */
async function contentSections(
  connection: DuckDBConnection,
  { run, sequence, verdict, personalData: policy }: RunAccount,
  { manifest, earlier }: Pick<Comparable, "manifest" | "earlier">,
): Promise<Section[]> {
  if (earlier.before === undefined) {
    const isFirst = earlier.previous === null;
    return isFirst
      ? []
      : [{ key: "content", title: "Changes of content", none: comparison(earlier), columns: {}, rows: [] }];
  }
  const { before } = earlier;
  const pair = {
    before: { run: before.run, sequence: before.sequence, verdict: before.manifest.verdict },
    after: { run, sequence, verdict },
    basis: run,
  };
  const after = { rows: manifest.rows, personalData: { policy } };
  return await contentForPage(connection, { pair, before: before.manifest, after }, ROWS_LIMIT);
}

/** Longest text of a cell, in characters. */
const TEXT_LIMIT = 300;

/** Texts of fields may be of any length. */
function cut(section: Section): Section {
  const rows = section.rows.slice(0, ROWS_LIMIT).map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, cell]) => {
        if (Array.isArray(cell)) return [name, fitting(cell)];
        const isLong = typeof cell === "string" && cell.length > TEXT_LIMIT;
        return [name, isLong ? `${[...cell].slice(0, TEXT_LIMIT).join("")}…` : cell];
      }),
    ),
  );
  return { ...section, rows, total: section.total ?? section.rows.length };
}

/** As many elements of a list as there is room for. */
function fitting(list: readonly string[]): readonly string[] {
  let length = 0;
  const kept = list.filter((element) => {
    length += element.length;
    return length <= TEXT_LIMIT;
  });
  return kept.length === list.length ? list : [...kept, `${count(list.length - kept.length)} more`];
}

const WITHOUT_HISTORY =
  'The pipeline of this run leaves the history out, so this page cannot say what changed of the mapped values; "content-warehouse diff" compares two runs that are kept.';
const BEGINS =
  "The history begins with this run: from the next one on, what changed stands here, with its cause.";

function comparedRun({ run, sequence, verdict }: RunPair["before"]): RunPair["before"] {
  return { run, sequence, verdict };
}
