/** What changed since the run before: the same answer as of `diff`. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { diffForPage, type PageDiff } from "../../audit/diff/diff-page.ts";
import type { RunPair } from "../../audit/diff/diff-runs.ts";
import type { RunAccount } from "../../audit/questions/account.ts";
import { readKnownRuns } from "../../audit/questions/run-history.ts";
import type { Section } from "../../common/answer.ts";
import { type PagePart, partOf } from "./page.ts";
import { ROWS_LIMIT } from "./table.ts";

/** What a page says of changes; `compared`: with which run, and what the comparison came to, where there is one. */
export interface RunChanges {
  readonly part: PagePart;
  readonly compared: (PageDiff["totals"] & { readonly before: RunPair["before"] }) | undefined;
}

/**
 * By the run's own history alone, from which a person is erased with this page: what only the run before has may show
 * somebody who is erased from that run later, without this page being made anew. The connection has the tables of the
 * comparison then.
 */
export async function changesOf(
  connection: DuckDBConnection,
  { run }: RunAccount,
  hasHistory: boolean,
): Promise<RunChanges> {
  const part = partOf("changes", "Changes", "diff", []);
  if (!hasHistory) return { part: { ...part, lead: WITHOUT_HISTORY }, compared: undefined };
  const known = await readKnownRuns(connection);
  const after = known.find((each) => each.run === run);
  const before = known.find((each) => each.run === after?.previousRun);
  if (after === undefined || before === undefined)
    return { part: { ...part, lead: BEGINS }, compared: undefined };
  const pair = { before: comparedRun(before), after: comparedRun(after), basis: run };
  const { lead, sections, totals } = await diffForPage(connection, pair, ROWS_LIMIT);
  const command = `diff ${before.sequence} ${after.sequence}`;
  const charts = { causes: { values: "length" } } as const;
  return {
    part: { ...part, lead, sections: sections.map(cut), command, charts },
    compared: { ...totals, before: pair.before },
  };
}

/** Longest text of a cell, in characters. */
const TEXT_LIMIT = 300;

/** Texts of fields may be of any length. */
function cut(section: Section): Section {
  const rows = section.rows.slice(0, ROWS_LIMIT).map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, cell]) => {
        const isLong = typeof cell === "string" && cell.length > TEXT_LIMIT;
        return [name, isLong ? `${[...cell].slice(0, TEXT_LIMIT).join("")}…` : cell];
      }),
    ),
  );
  return { ...section, rows, total: section.total ?? section.rows.length };
}

const WITHOUT_HISTORY =
  'The pipeline of this run leaves the history out, so this page cannot say what changed; "content-warehouse diff" compares two runs that are kept.';
const BEGINS =
  "The history begins with this run: from the next one on, what changed stands here, with its cause.";

function comparedRun({ run, sequence, verdict }: RunPair["before"]): RunPair["before"] {
  return { run, sequence, verdict };
}
